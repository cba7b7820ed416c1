package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// npm fills a folder with packages. No script of a package is run: what they would do is build programs that are not
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

// replace fills a new folder and puts it in the place of the folder of that name, once it is whole.
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
	defer os.RemoveAll(work) // it is elsewhere where all went well
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

// folder is where an installed thing lies: where a variable says, or in the cache folder. "" where there is none.
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
