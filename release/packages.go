package main

import (
	"cmp"
	"compress/gzip"
	"context"
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

//go:embed packages
var packageFiles embed.FS

// packaged is one package of the system's package manager.
type packaged struct {
	name    string // of the program too
	summary string
	about   string
	service bool     // it has a unit, a user and a folder for its state
	config  string   // of release/packages, which becomes /etc/NAME/NAME.yaml; empty: none
	docs    []string // of docs/operations
	shells  bool     // it has completion for shells
}

var packages = []packaged{
	{
		name:    "bursar",
		summary: "takes cryptocurrency deposits, keeps accounts and pays out",
		about: "The service with its HTTP API and followers of chains, and the operator's command. Documentation: " +
			"bursar docs.",
		service: true,
		config:  "bursar.yaml",
		shells:  true,
	},
	{
		name:    "bursar-signer",
		summary: "signer of Bursar as a process of its own",
		about: "Holds the seed, evaluates every payment by the policy that persons signed, remembers what it signed, and " +
			"signs.",
		service: true,
		docs:    []string{"signer.example.yaml"},
	},
	{
		name:    "bursar-approve",
		summary: "shows payments of Bursar that wait, and signs approvals",
		about:   "The approver's program: shows what it read from the very bytes that it signs, with a key of SSH.",
	},
}

// file is one file of a package.
type file struct {
	path       string // in the system
	mode       os.FileMode
	content    []byte
	isSettings bool // kept by an upgrade where the operator has changed it
}

// files returns what is in a package. The program is that of a folder with what was built, for one architecture.
func (p packaged) files(source, built, architecture string) (list []file, err error) {
	add := func(path string, mode os.FileMode, content []byte, e error) {
		if e != nil && err == nil {
			err = e
		}
		list = append(list, file{path: path, mode: mode, content: content})
	}
	program, e := os.ReadFile(filepath.Join(built, p.name+"-linux-"+architecture))
	add("/usr/bin/"+p.name, 0o755, program, e)
	license, e := os.ReadFile(filepath.Join(source, "LICENSE"))
	add(p.copyright(), 0o644, license, e)
	changes, e := os.ReadFile(filepath.Join(source, "CHANGELOG.md"))
	if e == nil {
		changes, e = zipped(changes, gzip.BestCompression)
	}
	add("/usr/share/doc/"+p.name+"/CHANGELOG.md.gz", 0o644, changes, e)
	for _, name := range p.docs {
		content, e := os.ReadFile(filepath.Join(source, "docs/operations", name))
		add("/usr/share/doc/"+p.name+"/examples/"+name, 0o644, content, e)
	}
	if p.config != "" {
		content, e := packageFiles.ReadFile("packages/" + p.config)
		add("/etc/"+p.name+"/"+p.name+".yaml", 0o644, content, e)
		list[len(list)-1].isSettings = true
	}
	if p.service {
		unit, e := os.ReadFile(filepath.Join(source, "docs/operations", p.name+".service"))
		unit = []byte(strings.ReplaceAll(string(unit), "/usr/local/bin/", "/usr/bin/"))
		add("/lib/systemd/system/"+p.name+".service", 0o644, unit, e)
		users, e := packageFiles.ReadFile("packages/" + p.name + ".sysusers")
		add("/usr/lib/sysusers.d/"+p.name+".conf", 0o644, users, e)
	}
	if p.shells {
		for shell, paths := range completionPaths {
			content, e := os.ReadFile(filepath.Join(source, "cmd", p.name, "completion", p.name+"."+shell))
			for _, path := range paths {
				add(path, 0o644, content, e)
			}
		}
	}
	page, e := manual(built, p.name)
	add("/usr/share/man/man1/"+p.name+".1.gz", 0o644, page, e)
	slices.SortStableFunc(list, func(a, b file) int { return cmp.Compare(a.path, b.path) })
	return list, err
}

func (p packaged) copyright() string { return "/usr/share/doc/" + p.name + "/copyright" }

// completionPaths are where shells look for completion. Debian's zsh looks elsewhere than that of others.
var completionPaths = map[string][]string{
	"bash": {"/usr/share/bash-completion/completions/bursar"},
	"zsh":  {"/usr/share/zsh/vendor-completions/_bursar", "/usr/share/zsh/site-functions/_bursar"},
	"fish": {"/usr/share/fish/vendor_completions.d/bursar.fish"},
}

// manual returns the manual page of a program, compressed by the Go that builds, as archives and images are. That of
// bursar is what the program prints, the same for every architecture. The others are written by tests of their
// commands.
func manual(built, program string) ([]byte, error) {
	page, err := packageFiles.ReadFile("packages/" + program + ".1")
	if program == "bursar" {
		c := exec.CommandContext(context.Background(), filepath.Join(built, program+"-linux-"+runtime.GOARCH), "man")
		c.Env = []string{}
		page, err = c.Output()
	}
	if err != nil {
		return nil, fmt.Errorf("the manual page of %s: %w", program, err)
	}
	return zipped(page, gzip.BestCompression)
}

// script returns a step of the package's life as shell.
func (p packaged) script(name string) (string, error) {
	if !p.service {
		return "", nil
	}
	text, err := packageFiles.ReadFile("packages/" + name + ".sh")
	return strings.ReplaceAll(string(text), "NAME", p.name), err
}

// lay writes a package's files below a folder, with the time of the release.
func (b builder) lay(root string, list []file) error {
	for _, f := range list {
		to := filepath.Join(root, f.path)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(to, f.content, f.mode); err != nil {
			return err
		}
		if err := os.Chmod(to, f.mode); err != nil { // whatever the umask is
			return err
		}
	}
	return b.date(root)
}

// date gives everything below a folder the time of the release.
func (b builder) date(root string) error {
	return filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if err := os.Chmod(path, 0o755); err != nil {
				return err
			}
		}
		return os.Chtimes(path, b.at, b.at)
	})
}

// allPackages makes every package of what is in a folder, into the same folder, and returns the files' names.
func (b builder) allPackages(ctx context.Context, out, version string) (names []string, err error) {
	for _, architecture := range architectures {
		for _, p := range packages {
			if b.only != "" && b.only != p.name {
				continue
			}
			for _, make := range []func(context.Context, packaged, string, string, string) (string, error){b.deb, b.rpm} {
				name, err := make(ctx, p, out, architecture, version)
				if err != nil {
					return nil, fmt.Errorf("package %s for %s: %w", p.name, architecture, err)
				}
				names = append(names, name)
			}
		}
	}
	for _, architecture := range architectures {
		if b.only != "" {
			break // an archive has all programs
		}
		name, err := b.tarball(out, architecture, version)
		if err != nil {
			return nil, fmt.Errorf("archive for %s: %w", architecture, err)
		}
		names = append(names, name)
	}
	for _, p := range packages {
		if !p.service || b.only != "" && b.only != p.name {
			continue
		}
		name, err := b.image(p.name, out, version)
		if err != nil {
			return nil, fmt.Errorf("image of %s: %w", p.name, err)
		}
		names = append(names, name)
	}
	return names, nil
}
