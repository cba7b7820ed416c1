package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// rpmArchitectures are the names of architectures at Go and at rpm.
var rpmArchitectures = map[string]string{"amd64": "x86_64", "arm64": "aarch64"}

// rpm makes a package of RPM by rpmbuild and returns its name.
func (b builder) rpm(ctx context.Context, p packaged, out, architecture, version string) (string, error) {
	root, err := os.MkdirTemp("", "bursar-rpm-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(root)
	list, err := p.files(b.folder, out, architecture)
	if err != nil {
		return "", err
	}
	laid := filepath.Join(root, "laid")
	if err := b.lay(laid, list); err != nil {
		return "", err
	}
	spec, err := p.spec(list, laid, version)
	if err != nil {
		return "", err
	}
	path := filepath.Join(root, p.name+".spec")
	if err := os.WriteFile(path, []byte(spec), 0o600); err != nil {
		return "", err
	}
	machine := rpmArchitectures[architecture]
	// Nothing of the machine: neither its name, its time nor its folders; and the program is what was built, unstripped.
	if _, err := b.tool(ctx, "rpmbuild", "-bb", "--quiet", "--target", machine+"-linux",
		"--define", "_topdir "+filepath.Join(root, "top"), "--define", "_rpmdir "+root, "--define", "_buildhost release",
		"--define", "_rpmfilename %{name}.rpm", "--define", "use_source_date_epoch_as_buildtime 1",
		"--define", "clamp_mtime_to_source_date_epoch 1", "--define", "_build_id_links none",
		"--define", "_binary_payload w6.gzdio", "--define", "__os_install_post %{nil}",
		"--define", "debug_package %{nil}", path); err != nil {
		return "", err
	}
	name := fmt.Sprintf("%s-%s-1.%s.rpm", p.name, version, machine)
	to := filepath.Join(out, name)
	content, err := os.ReadFile(filepath.Join(root, p.name+".rpm"))
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(to, content, 0o644); err != nil {
		return "", err
	}
	return name, os.Chtimes(to, b.at, b.at)
}

// spec says to rpmbuild what the package is.
func (p packaged) spec(list []file, laid, version string) (string, error) {
	var s strings.Builder
	fmt.Fprintf(&s, "Name: %s\nVersion: %s\nRelease: 1\nSummary: %s\nLicense: Apache-2.0\nAutoReqProv: no\n", p.name,
		version,
		p.summary)
	if p.service {
		s.WriteString("Requires: systemd\n")
	}
	fmt.Fprintf(&s, "%%description\n%s\n%%install\ncp -a %s/. %%{buildroot}/\n", p.about, laid)
	for _, step := range []struct{ section, script, when string }{
		{"%post", "after-install", "-ge 1"}, {"%preun", "before-remove", "-eq 0"}, {"%postun", "after-purge", "-eq 0"}} {
		script, err := p.script(step.script)
		if err != nil {
			return "", err
		}
		if script != "" {
			fmt.Fprintf(&s, "%s\nset -e\n[ \"$1\" %s ] || exit 0\n%s", step.section, step.when, script)
		}
	}
	s.WriteString("%files\n")
	for _, f := range list {
		kind := ""
		if f.isSettings {
			kind = "%config(noreplace) "
		}
		fmt.Fprintf(&s, "%s%%attr(%04o, root, root) %s\n", kind, f.mode, f.path)
	}
	return s.String(), nil
}
