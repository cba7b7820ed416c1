package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// privateApt is an apt with lists and downloads of its own, of a newer Debian than this machine's. It needs no root.
type privateApt struct {
	machine
	folder  string
	options []string
}

func newPrivateApt(m machine, folder, mirror string) (privateApt, error) {
	a := privateApt{machine: m, folder: folder}
	for _, sub := range []string{"lists/partial", "cache/archives/partial"} {
		if err := os.MkdirAll(filepath.Join(folder, sub), 0o755); err != nil {
			return a, err
		}
	}
	var sources strings.Builder
	for _, suite := range []string{"trixie", "trixie-updates", backports} {
		fmt.Fprintf(&sources, "deb [signed-by=%s] %s %s main\n", keyring, mirror, suite)
	}
	for _, option := range []string{
		"Dir::Etc::SourceList=" + filepath.Join(folder, "sources.list"), "Dir::Etc::SourceParts=/dev/null",
		"Dir::State::Lists=" + filepath.Join(folder, "lists"), "Dir::Cache=" + filepath.Join(folder, "cache"),
		"Dir::State::Status=/dev/null", "Dir::Etc::Preferences=/dev/null", "Dir::Etc::PreferencesParts=/dev/null",
		"APT::Default-Release=" + backports, "APT::Sandbox::User=root", "Acquire::Languages=none", "Acquire::Retries=3",
	} {
		a.options = append(a.options, "-o", option)
	}
	return a, os.WriteFile(filepath.Join(folder, "sources.list"), []byte(sources.String()), 0o644)
}

// get runs apt-get; its downloads go into the directory.
func (a privateApt) get(ctx context.Context, args ...string) error {
	c := line(append(append([]string{"apt-get", "-qq"}, a.options...), args...)...)
	c.folder = a.folder
	a.say("   apt-get " + args[0] + " of " + backports + ", below " + a.folder)
	if err := a.run(ctx, c); err != nil {
		return fmt.Errorf("apt-get %s: %w", args[0], err)
	}
	return nil
}

// cached queries apt's lists, and returns the lines of the answer.
func (a privateApt) cached(ctx context.Context, args ...string) ([]string, error) {
	text, err := a.read(ctx, line(append(append([]string{"apt-cache"}, a.options...), args...)...))
	if err != nil {
		return nil, fmt.Errorf("apt-cache %s: %w", args[0], err)
	}
	return strings.Split(strings.TrimSpace(text), "\n"), nil
}
