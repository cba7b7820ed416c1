package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// etcd is where Patroni agrees on a primary. Debian starts a service as soon as its package is installed, which the
// tests neither use nor want on their machine: the package is unpacked in the cache directory, and the system stays
// as it is.
type etcd struct{ apt *apt }

func (etcd) Name() string    { return "etcd" }
func (etcd) After() []string { return nil }
func (etcd) Says() string    { return "etcd of Debian's etcd-server, unpacked in the cache folder" }

func (e etcd) Needed(ctx context.Context) bool {
	program := e.apt.getenv("BURSAR_ETCD")
	if program == "" {
		program = e.apt.path("etcd")
	}
	if program == "" {
		program = filepath.Join(e.apt.folder("", "etcd"), "etcd")
	}
	return !e.apt.works(ctx, program, "--version")
}

func (e etcd) Install(ctx context.Context) error {
	e.apt.one.Lock()
	defer e.apt.one.Unlock()
	if err := e.apt.update(ctx); err != nil {
		return err
	}
	return e.apt.replace("etcd", func(home string) error {
		work, err := os.MkdirTemp(home, "package-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(work)
		c := line(append([]string{"apt-get"},
			append(options, "-o", "APT::Sandbox::User=root", "download", "etcd-server")...)...)
		c.folder = work
		e.apt.say("   " + c.String())
		if err := e.apt.run(ctx, c); err != nil {
			return fmt.Errorf("%s: %w", c, err)
		}
		for _, file := range e.apt.glob(filepath.Join(work, "*.deb")) {
			c := line("dpkg-deb", "-x", file, filepath.Join(work, "root"))
			if err := e.apt.run(ctx, c); err != nil {
				return fmt.Errorf("%s: %w", c, err)
			}
		}
		return os.Rename(filepath.Join(work, "root/usr/bin/etcd"), filepath.Join(home, "etcd"))
	})
}
