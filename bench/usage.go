package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// usage is the processor time that the sides of a measurement have used so far, user and system.
type usage struct{ service, database, reference, driver time.Duration }

// used returns the processor time of all sides. The driver is this process, with its receivers. SQLite's is part of the
// service's.
func (s *site) used() (u usage, err error) {
	if u.service, err = s.service.processor(); err != nil {
		return u, err
	}
	if u.reference, err = s.program.processor(); err != nil {
		return u, err
	}
	if s.cluster.dir != "" {
		if u.database, err = s.cluster.processor(); err != nil {
			return u, err
		}
	}
	var self syscall.Rusage
	if err = syscall.Getrusage(syscall.RUSAGE_SELF, &self); err != nil {
		return u, fmt.Errorf("read the processor time of this program: %w", err)
	}
	u.driver = time.Duration(self.Utime.Nano() + self.Stime.Nano())
	return u, nil
}

// since returns what was used after an earlier moment.
func (u usage) since(before usage) usage {
	return usage{u.service - before.service, u.database - before.database, u.reference - before.reference,
		u.driver - before.driver}
}

// took notes what a load took of the program that it drove, and of the database's server: the other program had nothing
// to do meanwhile, but for what the service does by itself.
func (l *load) took(u usage) {
	l.Processor = (u.service + u.reference + u.database) / time.Duration(max(1, l.Requests))
}

// processor returns how much processor time the server and all its processes have used, those that have ended among
// them (Linux).
func (c cluster) processor() (time.Duration, error) {
	text, err := os.ReadFile(filepath.Join(c.dir, "data", "postmaster.pid"))
	if err != nil {
		return 0, fmt.Errorf("find the server's process: %w", err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	found, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return 0, err
	}
	var all time.Duration
	for _, file := range found {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		if len(fields) < 15 {
			continue
		}
		used := fields[11:13]
		switch first {
		case filepath.Base(filepath.Dir(file)):
			used = fields[11:15] // with its children that have ended
		case fields[1]: // a child of the server
		default:
			continue
		}
		for _, text := range used {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return 0, fmt.Errorf("the status of a process is %.100q", fields)
			}
			all += time.Duration(n) * time.Second / ticksPerSecond
		}
	}
	return all, nil
}

// processorTimes keeps the processor time that so many deliveries took, beside that of as many requests of the bare
// POST loop. The receiver is this process.
func (s *site) processorTimes(name string, sent, loop usage, count int) {
	each := func(d time.Duration) float64 { return float64(d.Microseconds()) / float64(count) }
	for _, side := range []struct {
		name      string
		own, bare time.Duration
	}{
		{"the service", sent.service, loop.reference},
		{"the database's server", sent.database, 0},
		{"the receiver", sent.driver, loop.driver},
	} {
		f := figure{Database: s.kind, Name: name + ": processor time of " + side.name, Unit: "µs each", Value: each(side.own)}
		if side.bare > 0 {
			f = f.beside("bare POST loop", each(side.bare))
		}
		if side.own > 0 {
			s.part(partWebhooks).figure(f)
		}
	}
}
