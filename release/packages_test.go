package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// need fails the test where a program of the system is missing.
func need(t *testing.T, programs ...string) {
	t.Helper()
	if testing.Short() {
		t.Skip("it needs programs of the system")
	}
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Fatalf("%v; `go run ./test -install all` installs it", err)
		}
	}
}

// built returns a builder of this repository, and a folder with stand-ins for its programs.
func built(t *testing.T) (b builder, out string) {
	t.Helper()
	source, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	out = t.TempDir()
	for _, architecture := range architectures {
		for _, p := range programs {
			name := filepath.Join(out, p+"-linux-"+architecture)
			if err := os.WriteFile(name, []byte("#!/bin/sh\necho "+p+" "+architecture+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	return builder{folder: source, at: moment, packed: true}, out
}

// prints runs a program that must succeed, and returns what it prints.
func prints(t *testing.T, args ...string) string {
	t.Helper()
	text, err := exec.CommandContext(t.Context(), args[0], args[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s, want success", strings.Join(args, " "), err, text)
	}
	return string(text)
}

// Packages and images are the same byte for byte, made twice in different folders.
func TestPackagesAreTheSameTwice(t *testing.T) {
	t.Parallel()
	need(t, "dpkg-deb", "rpmbuild", "skopeo")
	var made [2]map[string][]byte
	for i := range made {
		b, out := built(t)
		names, err := b.allPackages(t.Context(), out, "1.2.3")
		if err != nil {
			t.Fatal(err)
		}
		made[i] = map[string][]byte{}
		for _, name := range names {
			if made[i][name], err = os.ReadFile(filepath.Join(out, name)); err != nil {
				t.Fatal(err)
			}
		}
		if i == 0 {
			readByTheirTools(t, out)
		}
	}
	if len(made[0]) != 2*len(architectures)*len(packages)+len(architectures)+2 {
		t.Errorf("made are %d files, want a package of each kind, architecture and program, an archive of each "+
			"architecture, and 2 images", len(made[0]))
	}
	for name, content := range made[0] {
		if !bytes.Equal(content, made[1][name]) {
			t.Errorf("%s differs between two builds of %d and %d bytes, want the same bytes", name, len(content),
				len(made[1][name]))
		}
	}
}

// readByTheirTools reads the packages with dpkg-deb, rpm and skopeo.
func readByTheirTools(t *testing.T, out string) {
	t.Helper()
	deb := prints(t, "dpkg-deb", "--info", filepath.Join(out, "bursar_1.2.3_arm64.deb"))
	for _, want := range []string{"Version: 1.2.3", "Architecture: arm64", "conffiles", "postinst", "Depends: systemd"} {
		if !strings.Contains(deb, want) {
			t.Errorf("dpkg-deb says\n%s\nwant %q in it", deb, want)
		}
	}
	of := prints(t, "rpm", "-qp", "--queryformat", "%{VERSION} %{ARCH} %{BUILDHOST}\n",
		filepath.Join(out, "bursar-1.2.3-1.aarch64.rpm")) +
		prints(t, "rpm", "-qpl", "--scripts", filepath.Join(out, "bursar-1.2.3-1.aarch64.rpm"))
	for _, want := range []string{"1.2.3 aarch64 release", "/usr/bin/bursar\n", "/etc/bursar/bursar.yaml",
		"/lib/systemd/system/bursar.service"} {
		if !strings.Contains(of, want) {
			t.Errorf("rpm says\n%s\nwant %q in it", of, want)
		}
	}
	contents := prints(t, "dpkg-deb", "--contents", filepath.Join(out, "bursar_1.2.3_amd64.deb"))
	for _, want := range []string{"./usr/share/man/man1/bursar.1.gz", "./usr/share/doc/bursar/changelog.gz",
		"./usr/share/bash-completion/completions/bursar",
		"./usr/share/zsh/vendor-completions/_bursar", "./usr/share/fish/vendor_completions.d/bursar.fish"} {
		if !strings.Contains(contents, want) {
			t.Errorf("the package holds\n%s\nwant %q in it", contents, want)
		}
	}
	if os.Geteuid() == 0 { // only root can give files to root
		unpackByRPM(t, filepath.Join(out, "bursar-1.2.3-1.aarch64.rpm"))
	}
	archive := prints(t, "tar", "-tvzf", filepath.Join(out, "bursar-1.2.3-linux-arm64.tar.gz"))
	for _, want := range []string{"-rwxr-xr-x 0/0", " bursar-1.2.3-linux-arm64/bursar-signer\n", "/bursar-approve\n",
		"/LICENSE\n", "/bursar.service\n", "/bursar.1.gz\n", "/bursar-signer.1.gz\n", "/bursar-approve.1.gz\n",
		"/compose.yaml\n", "/completion/bursar.fish\n"} {
		if !strings.Contains(archive, want) {
			t.Errorf("the archive holds\n%s\nwant %q in it", archive, want)
		}
	}
	image := prints(t, "skopeo", "inspect", "--override-arch", "arm64", "--config",
		"oci-archive:"+filepath.Join(out, "bursar-1.2.3.oci.tar"))
	for _, want := range []string{`"architecture": "arm64"`, `"User": "65532"`, `"/usr/bin/bursar"`} {
		if !strings.Contains(image, want) {
			t.Errorf("skopeo says\n%s\nwant %q in it", image, want)
		}
	}
	// Copying it has skopeo compare every digest.
	prints(t, "skopeo", "copy", "--quiet", "--multi-arch", "all", "oci-archive:"+
		filepath.Join(out, "bursar-1.2.3.oci.tar"),
		"dir:"+filepath.Join(t.TempDir(), "copy"))
}

// unpackByRPM installs a package into a root of its own, without its scripts, and has rpm verify every file of it.
func unpackByRPM(t *testing.T, file string) {
	t.Helper()
	root := t.TempDir()
	prints(t, "rpm", "--root", root, "--nodeps", "--noscripts", "--ignorearch", "--ignoreos", "-i", file)
	if wrong := prints(t, "rpm", "--root", root, "--nodeps", "--noscripts", "-V", "bursar"); wrong != "" {
		t.Errorf("rpm -V says\n%s\nwant nothing", wrong)
	}
	program, err := os.ReadFile(filepath.Join(root, "usr/bin/bursar"))
	if err != nil || string(program) != "#!/bin/sh\necho bursar arm64\n" {
		t.Errorf("the program is %q, %v, want what was packaged", program, err)
	}
	listed := prints(t, "rpm", "--root", root, "-qc", "bursar")
	if listed != "/etc/bursar/bursar.yaml\n" {
		t.Errorf("rpm keeps %q, want the configuration alone", listed)
	}
}

func TestVersionsAreOrdered(t *testing.T) {
	t.Parallel()
	need(t, "dpkg", "rpm")
	rising := []string{"0.0.0~20260101.abc", "0.0.0~20260102.0bc", "0.9.0~rc1", "0.9.0", "0.10.0", "1.0.0~rc.1",
		"1.0.0~rc.2", "1.0.0"}
	for i := range rising[1:] {
		prints(t, "dpkg", "--compare-versions", rising[i], "lt", rising[i+1])
		got := prints(t, "rpm", "--eval", `%{lua: print(rpm.vercmp("`+rising[i]+`", "`+rising[i+1]+`"))}`)
		if strings.TrimSpace(got) != "-1" {
			t.Errorf("rpm compares %s with %s as %s, want -1", rising[i], rising[i+1], got)
		}
	}
}
