package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// test is one test function: its cost, and the sites that it reaches.
type test struct {
	pkg   string
	name  string
	took  time.Duration // wall-clock time, on a machine under the same load
	cost  time.Duration // processor time
	sites []bool
}

// histories are tests that run whole histories of the service. Each is the same every time, reaches nearly
// everything, and takes seconds: they evaluate the mutants that all others have let pass.
var histories = regexp.MustCompile(`^Test(Random|Chaos|Histories)`)

// watch runs every test with a wanted name once by itself and records which sites it reaches. A test that fails
// without any mutant is an error.
func (b *built) watch(
	ctx context.Context, last int, workers int, wanted *regexp.Regexp, say func(string, ...any),
) ([]test, error) {
	var all []test
	for _, pkg := range slices.Sorted(mapKeys(b.binaries)) {
		b.quiet[pkg] = b.takes(ctx, pkg, noFailFile)
		out, err := b.run(ctx, pkg, nil, "-test.list", ".")
		if err != nil {
			return nil, fmt.Errorf("list the tests of %s: %w\n%s", pkg, err, out)
		}
		for _, name := range strings.Fields(string(out)) {
			if !wanted.MatchString(name) {
				continue
			}
			if strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Fuzz") || strings.HasPrefix(name, "Example") {
				all = append(all, test{pkg: pkg, name: name})
			}
		}
	}
	say("watching %d tests", len(all))
	err := parallel(workers, len(all), func(i int) error { return b.watchOne(ctx, &all[i], last) })
	withoutStart(all)
	return all, err
}

// withoutStart subtracts the cost of starting a process from the tests of each package: many of them share it.
func withoutStart(tests []test) {
	start := map[string]time.Duration{}
	for _, t := range tests {
		if least, found := start[t.pkg]; !found || t.cost < least {
			start[t.pkg] = t.cost
		}
	}
	for i := range tests {
		tests[i].cost -= start[tests[i].pkg]
	}
}

// noFailFile keeps the property tests of pgregory.net/rapid from writing failures next to the source.
const noFailFile = "-rapid.nofailfile"

// takes reports whether the test binary of a package knows a flag.
func (b *built) takes(ctx context.Context, pkg, flag string) bool {
	_, err := b.run(ctx, pkg, nil, "-test.run", "^$", flag)
	return err == nil
}

func (b *built) watchOne(ctx context.Context, t *test, last int) error {
	marks, err := os.CreateTemp(b.work, "marks")
	if err != nil {
		return err
	}
	defer os.Remove(marks.Name())
	defer marks.Close()
	if err := marks.Truncate(int64(last) + 1); err != nil {
		return err
	}
	start := time.Now()
	out, used, err := b.measure(ctx, t.pkg, []string{"MUTANT_MARKS=" + marks.Name()}, "-test.run", "^"+t.name+"$",
		"-test.short", "-test.timeout", "5m")
	if t.took, t.cost = time.Since(start), used; err != nil {
		return fmt.Errorf("%s.%s fails without any mutant: %w\n%s", t.pkg, t.name, err, tail(out))
	}
	seen, err := os.ReadFile(marks.Name())
	t.sites = make([]bool, len(seen))
	for i, mark := range seen {
		t.sites[i] = mark == 1
	}
	return err
}

func (b *built) run(ctx context.Context, pkg string, env []string, args ...string) ([]byte, error) {
	out, _, err := b.measure(ctx, pkg, env, args...)
	return out, err
}

// measure runs a test binary and also returns its processor time. Databases are kept in memory, if the system has a
// directory for that: hundreds of them are written, and each would wait for a disk otherwise.
func (b *built) measure(ctx context.Context, pkg string, env []string, args ...string) ([]byte, time.Duration, error) {
	if b.quiet[pkg] {
		args = append(args, noFailFile)
	}
	cmd := exec.CommandContext(ctx, b.binaries[pkg], args...)
	cmd.Dir = filepath.Join(b.root, pkg)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "TMPDIR="+b.scratch, "BURSAR_TEST_IMAGES="+b.scratch)
	cmd.Env = append(cmd.Env, env...)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if state := cmd.ProcessState; state != nil {
		return out, state.UserTime() + state.SystemTime(), err
	}
	return out, 0, err
}

// memory is a directory of Linux whose files are in memory.
const memory = "/dev/shm"

// newScratch creates the directory in which the tests keep their files.
func newScratch() (string, error) {
	if info, err := os.Stat(memory); err == nil && info.IsDir() {
		if dir, err := os.MkdirTemp(memory, "mutate"); err == nil {
			return dir, os.Chmod(dir, 0o711) // a PostgreSQL that a test of root's starts runs as another user
		}
	}
	return os.MkdirTemp("", "mutate")
}

func tail(out []byte) []byte {
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	return bytes.Join(lines[max(0, len(lines)-20):], []byte("\n"))
}

func mapKeys[V any](m map[string]V) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// parallel calls f for 0..n-1 with some workers and returns the first error.
func parallel(workers, n int, f func(i int) error) error {
	var group sync.WaitGroup
	var lock sync.Mutex
	var first error
	next := 0
	for range workers {
		group.Go(func() {
			for {
				lock.Lock()
				i := next
				next++
				over := i >= n || first != nil
				lock.Unlock()
				if over {
					return
				}
				if err := f(i); err != nil {
					lock.Lock()
					first = cmp.Or(first, err)
					lock.Unlock()
				}
			}
		})
	}
	group.Wait()
	return first
}
