package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// deb makes a package of Debian by dpkg-deb and returns its name.
func (b builder) deb(ctx context.Context, p packaged, out, architecture, version string) (string, error) {
	root, err := os.MkdirTemp("", "bursar-deb-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(root)
	list, err := p.files(b.folder, out, architecture)
	if err != nil {
		return "", err
	}
	if list, err = p.debian(list, version, b.at); err != nil {
		return "", err
	}
	control, err := p.control(list, architecture, version)
	if err != nil {
		return "", err
	}
	if err := b.lay(root, append(list, control...)); err != nil {
		return "", err
	}
	name := fmt.Sprintf("%s_%s_%s.deb", p.name, version, architecture)
	to := filepath.Join(out, name)
	_, err = b.tool(ctx, "dpkg-deb", "--root-owner-group", "-Zgzip", "-z6", "--build", root, to)
	if err != nil {
		return "", err
	}
	return name, os.Chtimes(to, b.at, b.at)
}

// control returns the files by which dpkg knows the package (deb-control(5)).
func (p packaged) control(list []file, architecture, version string) ([]file, error) {
	depends := ""
	if p.service {
		depends = "Depends: systemd\n"
	}
	size := 0
	var settings strings.Builder
	for _, f := range list {
		size += len(f.content)
		if f.isSettings {
			settings.WriteString(f.path + "\n")
		}
	}
	text := fmt.Sprintf("Package: %s\nVersion: %s\nArchitecture: %s\nMaintainer: %s\n%s"+
		"Installed-Size: %d\nSection: net\nPriority: optional\nDescription: %s\n%s\n",
		p.name, version, architecture, maintainer, depends, (size+1023)/1024, p.summary, folded(p.about))
	control := []file{{path: "/DEBIAN/control", mode: 0o644, content: []byte(text)},
		{path: "/DEBIAN/md5sums", mode: 0o644, content: digests(list)}}
	if settings.Len() > 0 {
		control = append(control, file{path: "/DEBIAN/conffiles", mode: 0o644, content: []byte(settings.String())})
	}
	for _, step := range []struct{ file, script, when string }{
		{"postinst", "after-install", "configure"}, {"prerm", "before-remove", "remove"},
		{"postrm", "after-purge", "purge"}} {
		script, err := p.script(step.script)
		if err != nil {
			return nil, err
		}
		if script == "" {
			continue
		}
		text := "#!/bin/sh\nset -e\n[ \"$1\" = " + step.when + " ] || exit 0\n" + script
		control = append(control, file{path: "/DEBIAN/" + step.file, mode: 0o755, content: []byte(text)})
	}
	return control, nil
}
