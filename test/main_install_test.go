package main

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar/test/pins"
)

// put writes a file of a package that npm would install.
func put(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

// left returns the content of the directory of the nodes.
func (f *fake) left(t *testing.T) []string {
	t.Helper()
	folder, err := f.nodes()
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

func TestAnvilIsInstalledWholeOrNotAtAll(t *testing.T) {
	t.Chdir("..")
	f := newFake(t)
	s := anvil{f.machine}
	if err := s.Install(t.Context()); err == nil || !strings.Contains(err.Error(), "BURSAR_ANVIL") {
		t.Errorf("a package without the program: %v", err)
	}
	f.failing = "npm ci"
	if err := s.Install(t.Context()); err == nil || !strings.Contains(err.Error(), "exit status 100") {
		t.Errorf("npm fails: %v, want an error and %q in it", err, "exit status 100")
	}
	if names := f.left(t); len(names) > 0 || !s.Needed(t.Context()) {
		t.Errorf("a failed installation leaves %v", names)
	}
	f.failing = ""
	f.effect = func(c command) {
		put(t, filepath.Join(c.folder, "node_modules/@foundry-rs/anvil-"+runtime.GOOS+"-"+runtime.GOARCH+"/bin/anvil"))
	}
	if err := s.Install(t.Context()); err != nil || s.Needed(t.Context()) {
		t.Errorf("it is installed and needed %v: %v", s.Needed(t.Context()), err)
	}
	if names := f.left(t); !slices.Equal(names, []string{"anvil-" + pins.Anvil}) {
		t.Errorf("it leaves %v, want %+v", names, []string{"anvil-" + pins.Anvil})
	}
}

// TestLiteSVMIsAskedForByName checks that the library is requested by name: as one of several, an npm whose Node.js
// is older than the library names would leave it out.
func TestLiteSVMIsAskedForByName(t *testing.T) {
	t.Chdir("..")
	f := newFake(t)
	f.has("node")
	s := litesvm{f.machine}
	f.effect = func(c command) {
		put(t, filepath.Join(c.folder, "node_modules", s.library(), "package.json"))
		text, err := os.ReadFile(filepath.Join(c.folder, "package.json"))
		if err == nil && !strings.Contains(string(text), `"dependencies":{"`+s.library()+`"`) {
			t.Errorf("the package is %s, want one that depends on %s alone", text, s.library())
		}
	}
	if err := s.Install(t.Context()); err != nil || s.Needed(t.Context()) {
		t.Errorf("it is installed and needed %v: %v, want it to load", s.Needed(t.Context()), err)
	}
	f.failing = "LiteSvm"
	if err := s.Install(t.Context()); err == nil || !strings.Contains(err.Error(), "with this Node.js") {
		t.Errorf("a library that does not load: %v, want an error that says so", err)
	}
}

func TestTheClientLibrariesFollowTheirVersions(t *testing.T) {
	t.Chdir("..")
	f := newFake(t)
	s := clients{f.machine}
	if err := s.Install(t.Context()); err != nil || s.Needed(t.Context()) {
		t.Fatalf("they are installed: %v", err)
	}
	f.env["BURSAR_CLIENTS"] = t.TempDir()
	if !s.Needed(t.Context()) {
		t.Error("an empty directory counts as holding the libraries")
	}
	if err := os.WriteFile(filepath.Join(f.env["BURSAR_CLIENTS"], "package-lock.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if !s.Needed(t.Context()) {
		t.Error("other versions count as the wanted ones")
	}
}

func TestBitcoindIsUnpackedWithItsLibraries(t *testing.T) {
	f := newFake(t)
	f.has("apt-get", "dpkg-deb")
	sources := filepath.Join(t.TempDir(), "debian.sources")
	if err := os.WriteFile(sources, []byte("Types: deb\n# URIs: http://other/debian\nURIs: http://mirror/debian\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	f.files["/etc/apt/sources.list.d/*.sources"] = []string{sources}
	s := bitcoind{f.machine}
	if err := s.Install(t.Context()); err == nil || !strings.Contains(err.Error(), "no apt-cache") {
		t.Errorf("without apt-cache: %v", err)
	}
	f.programs["apt-cache"] = "libc6\nbitcoin-knots\nlibc6\n  Depends: adduser"
	f.effect = func(c command) {
		if strings.Contains(c.String(), "download") {
			put(t, filepath.Join(c.folder, "bitcoin-knots.deb"))
		}
	}
	if err := s.Install(t.Context()); err != nil || s.Needed(t.Context()) {
		t.Errorf("it is installed: %v", err)
	}
	if !holds(f.ran, "download bitcoin-knots libc6") || !holds(f.ran, "dpkg-deb -x", "bitcoin-knots.deb") ||
		holds(f.ran, "adduser") {
		t.Errorf("it runs %q", f.ran)
	}
	if names := f.left(t); !slices.Equal(names, []string{"bitcoind-" + pins.Bitcoind}) {
		t.Errorf("it leaves %v, want %+v", names, []string{"bitcoind-" + pins.Bitcoind})
	}
}

// TestEtcdIsUnpackedAndNoServiceOfTheMachine checks that the package is unpacked and never installed, because Debian
// would start etcd as a service of the machine.
func TestEtcdIsUnpackedAndNoServiceOfTheMachine(t *testing.T) {
	f := newFake(t)
	s := etcd{&apt{machine: f.machine}}
	if err := s.Install(t.Context()); err == nil || !strings.Contains(err.Error(), "no apt-get") {
		t.Errorf("without apt: %v", err)
	}
	f.has("apt-get")
	if err := s.Install(t.Context()); err == nil || !s.Needed(t.Context()) {
		t.Errorf("a package without the program: %v", err)
	}
	f.effect = func(c command) {
		switch text := c.String(); {
		case strings.Contains(text, "download"):
			put(t, filepath.Join(c.folder, "etcd-server_3.4_amd64.deb"))
		case strings.Contains(text, "dpkg-deb -x"):
			put(t, filepath.Join(c.args[len(c.args)-1], "usr/bin/etcd"))
		}
	}
	if err := s.Install(t.Context()); err != nil || s.Needed(t.Context()) {
		t.Errorf("it is installed: %v", err)
	}
	if holds(f.ran, "apt-get", " install ") || !holds(f.ran, "dpkg-deb -x", "etcd-server_3.4_amd64.deb") {
		t.Errorf("it runs %q", f.ran)
	}
	if names := f.left(t); !slices.Equal(names, []string{"etcd"}) {
		t.Errorf("it leaves %v, want %+v", names, []string{"etcd"})
	}
}

func TestAProgramIsBuiltAtItsVersion(t *testing.T) {
	f := newFake(t)
	s := linter(f.machine)
	f.effect = func(c command) {
		if !slices.Contains(c.env, "GOBIN="+c.folder) || !slices.Contains(c.env, "GOWORK=off") {
			t.Errorf("it is built with %q in %s, want GOBIN and no workspace", c.env, c.folder)
		}
		put(t, filepath.Join(c.folder, "golangci-lint"))
	}
	if err := s.Install(t.Context()); err != nil || s.Needed(t.Context()) {
		t.Errorf("it is installed and needed %v: %v, want that it works", s.Needed(t.Context()), err)
	}
	if !holds(f.ran, "cmd/golangci-lint@v"+s.version) {
		t.Errorf("it runs %q, want version %s", f.ran, s.version)
	}
}

func TestTheArchiveIsFoundInBothFormsOfSources(t *testing.T) {
	for sources, want := range map[string]string{
		"URIs: http://mirror/debian-security\nURIs: http://mirror/debian/\n":           "http://mirror/debian/",
		"deb [arch=amd64 signed-by=/x] http://mirror/debian bookworm main\n":           "http://mirror/debian",
		"# deb http://mirror/debian bookworm main\n":                                   "",
		"deb-src http://mirror/debian bookworm main\ndeb http://apt.example/ stable\n": "",
	} {
		if got := archive(sources); got != want {
			t.Errorf("%q names %q, not %q", sources, got, want)
		}
	}
}
