package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// npm fills a directory with packages. No script of a package is run, because they would build programs that are not
// needed.
func (m machine) npm(ctx context.Context, folder string, args ...string) error {
	c := line(append([]string{"npm", args[0], "--loglevel=error", "--no-audit", "--no-fund", "--no-update-notifier",
		"--ignore-scripts"}, args[1:]...)...)
	c.folder = folder
	m.say("   " + c.String())
	if err := m.run(ctx, c); err != nil {
		return fmt.Errorf("%s: %w", c, err)
	}
	return nil
}

// replace fills a new directory and renames it to the directory of that name, once it is complete.
func (m machine) replace(name string, fill func(work string) error) error {
	nodes, err := m.nodes()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(nodes, 0o755); err != nil {
		return err
	}
	work, err := os.MkdirTemp(nodes, "install-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work) // it is renamed if everything went well
	if err := os.Chmod(work, 0o755); err != nil {
		return err
	}
	if err := fill(work); err != nil {
		return err
	}
	home := filepath.Join(nodes, name)
	if err := os.RemoveAll(home); err != nil {
		return err
	}
	return os.Rename(work, home)
}

// folder is the directory of an installed thing: the one that a variable names, or one in the cache directory. "" if
// there is none.
func (m machine) folder(variable, name string) string {
	if named := m.getenv(variable); named != "" {
		return named
	}
	nodes, err := m.nodes()
	if err != nil {
		return ""
	}
	return filepath.Join(nodes, name)
}
