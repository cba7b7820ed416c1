package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bursar/bursar/test/pins"
)

// bitcoind is Bitcoin Knots. Debian 12 has no node this new, so the package and the libraries that it needs are taken
// from Debian trixie-backports, unpacked in the cache directory and run through their own loader: the system stays as
// it is.
type bitcoind struct{ machine }

const (
	backports = "trixie-backports"
	keyring   = "/usr/share/keyrings/debian-archive-keyring.gpg"
)

func (bitcoind) Name() string    { return "bitcoind" }
func (bitcoind) After() []string { return nil }

func (bitcoind) Says() string {
	return "Bitcoin Knots " + pins.Bitcoind + " from Debian " + backports + ", in the cache folder"
}

func (b bitcoind) Needed(ctx context.Context) bool {
	program := b.getenv("BURSAR_BITCOIND")
	if program == "" {
		program = filepath.Join(b.folder("", "bitcoind-"+pins.Bitcoind), "bitcoind")
	}
	return !b.works(ctx, program, "--version")
}

func (b bitcoind) Install(ctx context.Context) error {
	for _, program := range []string{"apt-get", "apt-cache", "dpkg-deb"} {
		if b.path(program) == "" {
			return fmt.Errorf("there is no %s here: install a bitcoind yourself and set BURSAR_BITCOIND to its "+
				"path", program)
		}
	}
	mirror, err := b.mirror()
	if err != nil {
		return err
	}
	return b.replace("bitcoind-"+pins.Bitcoind, func(home string) error {
		private, err := newPrivateApt(b.machine, filepath.Join(home, "apt"), mirror)
		if err != nil {
			return err
		}
		if err := b.unpack(ctx, private, home); err != nil {
			return err
		}
		if err := os.RemoveAll(private.folder); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(home, "bitcoind"), []byte(wrapper), 0o755)
	})
}

// wrapper runs the program with the loader and the libraries that came with it.
const wrapper = `#!/bin/sh
root=$(dirname "$(readlink -f "$0")")/root
loader=$(find "$root" -name 'ld-linux*.so.*' | head -n 1)
exec "$loader" --library-path "$(dirname "$(find "$root" -name libc.so.6 | head -n 1)")" "$root/usr/bin/bitcoind" "$@"
`

// unpack downloads the package with its libraries, and unpacks them below home/root. Of everything that the package
// depends on, directly or not, only libraries are useful to a program that runs from a directory.
func (b bitcoind) unpack(ctx context.Context, private privateApt, home string) error {
	if err := private.get(ctx, "update"); err != nil {
		return err
	}
	names, err := private.cached(ctx, "pkgnames")
	if err != nil {
		return err
	}
	var name string
	for _, candidate := range []string{"bitcoin-knots-daemon", "bitcoin-knots"} {
		if slices.Contains(names, candidate) {
			name = candidate
		}
	}
	if name == "" {
		return fmt.Errorf("%s has no Bitcoin Knots", backports)
	}
	depends, err := private.cached(ctx, "depends", "--recurse", "--no-recommends", "--no-suggests", "--no-conflicts",
		"--no-breaks", "--no-replaces", "--no-enhances", name)
	if err != nil {
		return err
	}
	libraries := slices.DeleteFunc(depends, func(line string) bool { return !strings.HasPrefix(line, "lib") })
	slices.Sort(libraries)
	if err := private.get(ctx, append([]string{"download", name}, slices.Compact(libraries)...)...); err != nil {
		return err
	}
	for _, file := range b.glob(filepath.Join(private.folder, "*.deb")) {
		c := line("dpkg-deb", "-x", file, filepath.Join(home, "root"))
		if err := b.run(ctx, c); err != nil {
			return fmt.Errorf("%s: %w", c, err)
		}
	}
	return nil
}

// mirror is the Debian archive that this machine's apt already uses.
func (b bitcoind) mirror() (string, error) {
	for _, pattern := range []string{"/etc/apt/sources.list", "/etc/apt/sources.list.d/*.list",
		"/etc/apt/sources.list.d/*.sources"} {
		for _, file := range b.glob(pattern) {
			text, err := os.ReadFile(file)
			if err != nil {
				return "", err
			}
			if found := archive(string(text)); found != "" {
				return found, nil
			}
		}
	}
	return "",
		errors.New("apt's sources name no Debian archive: install a bitcoind yourself and set BURSAR_BITCOIND to its " +
			"path")
}

// archive returns the first Debian archive that a file of apt's sources names, in either of their two forms.
func archive(sources string) string {
	for line := range strings.Lines(sources) {
		words := strings.Fields(line)
		if len(words) < 2 || words[0] != "deb" && words[0] != "URIs:" {
			continue
		}
		for _, word := range words[1:] {
			if strings.Contains(word, "://") && strings.HasSuffix(strings.TrimSuffix(word, "/"), "/debian") {
				return word
			}
		}
	}
	return ""
}
