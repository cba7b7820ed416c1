package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// apt installs Debian packages, as root.
type apt struct {
	machine
	one     sync.Mutex // one apt at a time: the system has one list of packages and one lock
	updated bool
	wanted  []string // packages that are installed with the first that are asked for
	have    []string // packages that were installed
}

// want adds packages to those that are installed together: each call of apt reads every list, and each of dpkg runs
// the triggers of manuals and libraries again.
func (a *apt) want(packages []string) { a.wanted = append(a.wanted, packages...) }

// options make apt wait for another apt that runs, and ask no questions.
var options = []string{"-y", "-qq", "-o", "DPkg::Lock::Timeout=300", "-o", "Acquire::Retries=3"}

func (a *apt) install(ctx context.Context, packages ...string) error {
	if a.path("apt-get") == "" {
		return fmt.Errorf("there is no apt-get here: install what Debian calls %s "+
			"yourself", strings.Join(packages, ", "))
	}
	if !a.root && a.path("sudo") == "" {
		return fmt.Errorf("installing packages needs root, and there is no sudo: run apt-get install %s as root first",
			strings.Join(packages, " "))
	}
	a.one.Lock()
	defer a.one.Unlock()
	if !slices.ContainsFunc(packages, func(name string) bool { return !slices.Contains(a.have, name) }) {
		return nil
	}
	if err := a.update(ctx); err != nil {
		return err
	}
	all := slices.Concat(packages, a.wanted)
	slices.Sort(all)
	all = slices.Compact(all)
	a.have, a.wanted = append(a.have, all...), nil
	args := slices.Concat(options, []string{"install", "--no-install-recommends"}, all)
	return a.asRoot(ctx, "apt-get", args...)
}

// update updates apt's lists once: old ones name packages that no longer exist. Its caller holds the lock.
func (a *apt) update(ctx context.Context) error {
	if a.updated {
		return nil
	}
	if a.path("apt-get") == "" {
		return errors.New("there is no apt-get here")
	}
	if err := a.asRoot(ctx, "apt-get", append(options, "update")...); err != nil {
		return err
	}
	a.updated = true
	return nil
}

func (a *apt) asRoot(ctx context.Context, program string, args ...string) error {
	c := line(append([]string{"env", "DEBIAN_FRONTEND=noninteractive", program}, args...)...)
	if !a.root {
		c.args = append([]string{"sudo"}, c.args...) // env after it: sudo clears the environment
	}
	a.say("   " + c.String())
	if err := a.run(ctx, c); err != nil {
		return fmt.Errorf("%s: %w", c, err)
	}
	return nil
}

// debianPackages is a step that installs packages from Debian.
type debianPackages struct {
	apt      *apt
	name     string
	packages []string
	after    []string
	present  func(context.Context) bool
}

func (d debianPackages) Name() string    { return d.name }
func (d debianPackages) After() []string { return d.after }

func (d debianPackages) Says() string {
	how := "with apt-get, by sudo"
	if d.apt.root {
		how = "with apt-get"
	}
	return "Debian's " + strings.Join(d.packages, ", ") + " " + how
}

func (d debianPackages) Needed(ctx context.Context) bool   { return !d.present(ctx) }
func (d debianPackages) Install(ctx context.Context) error { return d.apt.install(ctx, d.packages...) }
