package main

import (
	"slices"
	"strings"
	"testing"
)

func TestPackagesAreInstalledAsRootOrWithSudo(t *testing.T) {
	for _, root := range []bool{true, false} {
		f := newFake(t)
		f.has("apt-get", "sudo")
		f.root = root
		a := &apt{machine: f.machine}
		for _, name := range []string{"one", "two"} {
			if err := a.install(t.Context(), name); err != nil {
				t.Fatal(err)
			}
		}
		if len(f.ran) != 3 || !strings.HasSuffix(f.ran[0], " update") ||
			!strings.HasSuffix(f.ran[2], " install --no-install-recommends two") {
			t.Errorf("root %v: it runs %q, want 3 of them and %q last and %q last", root, f.ran, " update",
				" install --no-install-recommends two")
		}
		for i, ran := range f.ran {
			if strings.HasPrefix(ran, "sudo ") == root ||
				!strings.Contains(ran, "env DEBIAN_FRONTEND=noninteractive apt-get -y ") {
				t.Errorf("root %v: it runs %q", root, ran)
			}
			if f.said[i] != "   "+ran {
				t.Errorf("it runs %q and prints %q, want %v", ran, f.said[i], "   "+ran)
			}
		}
		if said := postgresql(f.machine, a).Says(); strings.Contains(said, "sudo") == root {
			t.Errorf("root %v: %q", root, said)
		}
	}
}

// TestEveryMissingPackageIsInstalledAtOnce guards that apt and dpkg start once, whichever step comes first, and that a
// second apt never runs beside the first.
func TestEveryMissingPackageIsInstalledAtOnce(t *testing.T) {
	f := newFake(t)
	f.has("apt-get")
	a := &apt{machine: f.machine}
	list := []step{curl(f.machine, a), age(f.machine, a), openssh(f.machine, a), pgbackrest(f.machine, a)}
	f.has("ssh-keygen", "ssh-agent")
	f.effect = func(c command) {
		if strings.Contains(c.String(), " install ") {
			f.has("curl", "age", "pgbackrest")
		}
	}
	if err := work(t.Context(), installation(t.Context(), f.machine, list)); err != nil {
		t.Fatal(err)
	}
	if len(f.ran) != 2 || !strings.HasSuffix(f.ran[1], " install --no-install-recommends age curl pgbackrest") {
		t.Errorf("it runs %q, want apt-get update and one apt-get install of what is missing", f.ran)
	}
	if err := a.install(t.Context(), "zbar-tools"); err != nil || len(f.ran) != 3 ||
		!strings.HasSuffix(f.ran[2], " zbar-tools") {
		t.Errorf("another package is installed by %q: %v, want it alone", f.ran[2:], err)
	}
}

func TestWhereNothingCanBeInstalledItIsSaidWhatToDo(t *testing.T) {
	f := newFake(t)
	curl := curl(f.machine, &apt{machine: f.machine})
	if err := curl.Install(t.Context()); err == nil || !strings.Contains(err.Error(), "there is no apt-get here") {
		t.Errorf("without apt: %v", err)
	}
	f.has("apt-get")
	f.root = false
	curl = debianPackages{apt: &apt{machine: f.machine}, name: "curl", packages: []string{"curl"}}
	if err := curl.Install(t.Context()); err == nil || !strings.Contains(err.Error(), "run apt-get install curl as root") {
		t.Errorf("without root and sudo: %v", err)
	}
	f.has("sudo")
	f.failing = "update"
	curl = debianPackages{apt: &apt{machine: f.machine}, name: "curl", packages: []string{"curl"}}
	err := curl.Install(t.Context())
	if err == nil || !strings.Contains(err.Error(), "update: exit status 100") ||
		slices.ContainsFunc(f.ran, func(c string) bool {
			return strings.Contains(c, "install")
		}) {
		t.Errorf("without lists: %v, and it runs %q", err, f.ran)
	}
}

func TestWhatIsThereAlreadyIsFound(t *testing.T) {
	for name, put := range map[string]func(*fake){
		"postgresql": func(f *fake) {
			f.files["/usr/lib/postgresql/*/bin/postgres"] = []string{"/usr/lib/postgresql/15/bin/postgres"}
		},
		"curl":      func(f *fake) { f.has("curl") },
		"openssh":   func(f *fake) { f.has("ssh-keygen", "ssh-agent") },
		"nodejs":    func(f *fake) { f.programs["node"] = "v18.20.4\n"; f.has("npm") },
		"litecoind": func(f *fake) { f.has("litecoind") },
		"anvil":     func(f *fake) { f.has("anvil") },

		"age":     func(f *fake) { f.has("age") },
		"swtpm":   func(f *fake) { f.has("swtpm") },
		"softhsm": func(f *fake) { f.has("softhsm2-util", "pkcs11-tool") },
		"packaging": func(f *fake) {
			f.has("rpmbuild", "skopeo", "systemd-sysusers", "minisign", "docker-compose", "lintian")
		},
		"shells":        func(f *fake) { f.has("zsh", "fish") },
		"accounting":    func(f *fake) { f.has("bean-check", "hledger", "ledger") },
		"proxies":       func(f *fake) { f.has("nginx", "caddy", "haproxy") },
		"php":           func(f *fake) { f.has("php") },
		"pgbackrest":    func(f *fake) { f.has("pgbackrest") },
		"patroni":       func(f *fake) { f.has("patroni", "python3") },
		"etcd":          func(f *fake) { f.has("etcd") },
		"litestream":    func(f *fake) { f.env["BURSAR_LITESTREAM"] = "/opt/litestream"; f.has("litestream") },
		"oapi-codegen":  func(f *fake) { f.env["BURSAR_OAPI_CODEGEN"] = "/opt/oapi-codegen"; f.has("oapi-codegen") },
		"golangci-lint": func(f *fake) { f.env["BURSAR_GOLANGCI_LINT"] = "/opt/golangci-lint"; f.has("golangci-lint") },
	} {
		f := newFake(t)
		s := steps(f.machine)[slices.IndexFunc(steps(f.machine), func(s step) bool { return s.Name() == name })]
		if !s.Needed(t.Context()) {
			t.Errorf("%s is found on an empty machine", name)
		}
		if put(f); s.Needed(t.Context()) {
			t.Errorf("%s is not found", name)
		}
	}
}

func TestANodeThatIsTooOldIsNotEnough(t *testing.T) {
	f := newFake(t)
	f.has("npm")
	node := nodejs(f.machine, &apt{machine: f.machine})
	for version, enough := range map[string]bool{"v12.22.12\n": false, "v18.0.0\n": true, "v20.20.2\n": true,
		"v100.1.0": true, "": false} {
		f.programs["node"] = version
		if node.Needed(t.Context()) == enough {
			t.Errorf("%q is enough: %v", version, !enough)
		}
	}
}
