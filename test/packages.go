package main

import (
	"context"
	"strconv"
	"strings"
)

func postgresql(m machine, a *apt) step {
	return debianPackages{
		apt:      a,
		name:     "postgresql",
		packages: []string{"postgresql"},
		present: func(context.Context) bool {
			return m.path("postgres") != "" ||
				len(m.glob("/usr/lib/postgresql/*/bin/postgres")) > 0 // Debian keeps it off the path
		},
	}
}

func curl(m machine, a *apt) step {
	return debianPackages{
		apt:      a,
		name:     "curl",
		packages: []string{"curl"},
		present:  func(context.Context) bool { return m.path("curl") != "" },
	}
}

// openssh is ssh-keygen and ssh-agent, whose signatures ours are compared with.
func openssh(m machine, a *apt) step {
	return debianPackages{
		apt:      a,
		name:     "openssh",
		packages: []string{"openssh-client"},
		present: func(context.Context) bool {
			return m.path("ssh-keygen") != "" && m.path("ssh-agent") != ""
		},
	}
}

// age is the program whose files ours are compared with.
func age(m machine, a *apt) step {
	return debianPackages{apt: a, name: "age", packages: []string{"age"},
		present: func(context.Context) bool { return m.path("age") != "" }}
}

// swtpm is a TPM 2.0 in a process.
func swtpm(m machine, a *apt) step {
	return debianPackages{apt: a, name: "swtpm", packages: []string{"swtpm"},
		present: func(context.Context) bool { return m.path("swtpm") != "" }}
}

// softhsm is a token of PKCS#11 in files, and the program that uses tokens.
func softhsm(m machine, a *apt) step {
	packages := []string{"softhsm2", "opensc"}
	return debianPackages{apt: a, name: "softhsm", packages: packages, present: func(context.Context) bool {
		return m.path("softhsm2-util") != "" && m.path("pkcs11-tool") != ""
	}}
}

// oldestNode is the first major version of Node.js that the client libraries load in.
const oldestNode = 18

// nodejs also installs npm, and the certificates by which Debian's npm trusts registries.
func nodejs(m machine, a *apt) step {
	packages := []string{"nodejs", "npm", "ca-certificates"}
	return debianPackages{apt: a, name: "nodejs", packages: packages, present: func(ctx context.Context) bool {
		if m.path("node") == "" || m.path("npm") == "" {
			return false
		}
		version, err := m.read(ctx, line("node", "--version")) // v20.20.2
		major, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
		number, bad := strconv.Atoi(major)
		return err == nil && bad == nil && number >= oldestNode
	}}
}

// litecoind is Litecoin Core, which Debian keeps off the path.
func litecoind(m machine, a *apt) step {
	return debianPackages{
		apt:      a,
		name:     "litecoind",
		packages: []string{"litecoind"},
		present: func(ctx context.Context) bool {
			if program := m.getenv("BURSAR_LITECOIND"); program != "" {
				return m.works(ctx, program, "--version")
			}
			for _, program := range []string{"/usr/lib/litecoin/litecoind", m.path("litecoind")} {
				if program != "" && m.works(ctx, program, "--version") {
					return true
				}
			}
			return false
		},
	}
}

// pyzmq is libzmq with a Python module: a third-party implementation of subscriptions to announcements.
func pyzmq(m machine, a *apt) step {
	return debianPackages{
		apt:      a,
		name:     "pyzmq",
		packages: []string{"python3", "python3-zmq"},
		present: func(ctx context.Context) bool {
			for _, python := range []string{"python3", "/usr/bin/python3"} {
				if m.works(ctx, python, "-c", "import zmq") {
					return true
				}
			}
			return false
		},
	}
}

// pgbackrest keeps copies of a PostgreSQL server and of everything that it writes.
func pgbackrest(m machine, a *apt) step {
	return debianPackages{apt: a, name: "pgbackrest", packages: []string{"pgbackrest"}, after: []string{"postgresql"},
		present: func(ctx context.Context) bool { return m.works(ctx, "pgbackrest", "version") }}
}

// patroni turns several PostgreSQL servers into a cluster and decides which of them is the primary. Debian's runs in
// Debian's Python, whichever is first on the path; its service does not start without a configuration.
func patroni(m machine, a *apt) step {
	packages := []string{"patroni", "python3-etcd", "python3-psycopg2"}
	return debianPackages{
		apt:      a,
		name:     "patroni",
		packages: packages,
		after:    []string{"postgresql"},
		present: func(ctx context.Context) bool {
			return m.works(ctx, "patroni", "--version") && m.works(ctx, "/usr/bin/python3", "-c", "import etcd, psycopg2")
		},
	}
}

// electrum signs with us as the holder of a cold wallet's key. It runs in Debian's Python, whichever is first on the
// path.
func electrum(m machine, a *apt) step {
	return debianPackages{
		apt:      a,
		name:     "electrum",
		packages: []string{"electrum"},
		present: func(ctx context.Context) bool {
			return m.works(ctx, "/usr/bin/python3", "-c", "import electrum")
		},
	}
}

// zbar reads QR codes as a camera's program does.
func zbar(m machine, a *apt) step {
	return debianPackages{
		apt:      a,
		name:     "zbar",
		packages: []string{"zbar-tools"},
		present:  func(context.Context) bool { return m.path("zbarimg") != "" },
	}
}

// chromium is the browser that plays payers.
func chromium(m machine, a *apt) step {
	return debianPackages{
		apt:      a,
		name:     "chromium",
		packages: []string{"chromium"},
		present:  func(context.Context) bool { return m.path("chromium") != "" },
	}
}

// packaging is what makes, reads and installs packages and images of the programs.
func packaging(m machine, a *apt) step {
	packages := []string{"rpm", "skopeo", "systemd", "minisign", "docker-compose", "lintian"}
	return debianPackages{apt: a, name: "packaging", packages: packages, present: func(context.Context) bool {
		return m.path("rpmbuild") != "" && m.path("skopeo") != "" && m.path("systemd-sysusers") != "" &&
			m.path("minisign") != "" && m.path("docker-compose") != "" && m.path("lintian") != ""
	}}
}

// shells are those beside bash whose completion is installed.
func shells(m machine, a *apt) step {
	return debianPackages{apt: a, name: "shells", packages: []string{"zsh", "fish"}, present: func(context.Context) bool {
		return m.path("zsh") != "" && m.path("fish") != ""
	}}
}

// php runs the PHP client and the plugin that is made of it.
func php(m machine, a *apt) step {
	return debianPackages{apt: a, name: "php", packages: []string{"php-cli", "php-curl"},
		present: func(ctx context.Context) bool {
			return m.works(ctx, "php", "-r", `exit(extension_loaded("curl") && extension_loaded("sodium") ? 0 : 1);`)
		}}
}

// accounting is the programs that read what the books are exported as.
func accounting(m machine, a *apt) step {
	packages := []string{"beancount", "hledger", "ledger"}
	return debianPackages{apt: a, name: "accounting", packages: packages, present: func(context.Context) bool {
		return m.path("bean-check") != "" && m.path("hledger") != "" && m.path("ledger") != ""
	}}
}

// smtpd is aiosmtpd, an SMTP server with STARTTLS and passwords: notices are sent to it.
func smtpd(m machine, a *apt) step {
	return debianPackages{apt: a, name: "smtpd", packages: []string{"python3", "python3-aiosmtpd"},
		present: func(ctx context.Context) bool { return m.works(ctx, "/usr/bin/python3", "-c", "import aiosmtpd") }}
}

// proxies are the reverse proxies of docs/operations/proxies.md. Debian starts two of them; the tests use their own.
func proxies(m machine, a *apt) step {
	packages := []string{"nginx", "caddy", "haproxy"}
	return debianPackages{apt: a, name: "proxies", packages: packages, present: func(context.Context) bool {
		for _, program := range []string{"nginx", "caddy", "haproxy"} {
			if m.path(program) == "" && len(m.glob("/usr/sbin/"+program)) == 0 { // off the path of users
				return false
			}
		}
		return true
	}}
}
