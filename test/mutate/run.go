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
	"strconv"
	"strings"
	"sync"
	"time"
)

// test is one test function: how long it takes, and which sites it reaches.
type test struct {
	pkg   string
	name  string
	took  time.Duration
	sites []bool
}

// watch runs every test once by itself and notes what it reaches. A test that fails without any mutant is an error.
func (b *built) watch(ctx context.Context, last int, workers int, say func(string, ...any)) ([]test, error) {
	var all []test
	for _, pkg := range slices.Sorted(mapKeys(b.binaries)) {
		b.quiet[pkg] = b.takes(ctx, pkg, noFailFile)
		out, err := b.run(ctx, pkg, nil, "-test.list", ".")
		if err != nil {
			return nil, fmt.Errorf("list the tests of %s: %w\n%s", pkg, err, out)
		}
		for _, name := range strings.Fields(string(out)) {
			if strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Fuzz") || strings.HasPrefix(name, "Example") {
				all = append(all, test{pkg: pkg, name: name})
			}
		}
	}
	say("watching %d tests", len(all))
	err := parallel(workers, len(all), func(i int) error { return b.watchOne(ctx, &all[i], last) })
	return all, err
}

// noFailFile keeps the property tests of pgregory.net/rapid from writing what failed beside the source.
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
	out, err := b.run(ctx, t.pkg, []string{"MUTANT_MARKS=" + marks.Name()}, "-test.run", "^"+t.name+"$", "-test.short", "-test.timeout", "5m")
	if t.took = time.Since(start); err != nil {
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
	if b.quiet[pkg] {
		args = append(args, noFailFile)
	}
	cmd := exec.CommandContext(ctx, b.binaries[pkg], args...)
	cmd.Dir = filepath.Join(b.root, pkg)
	cmd.Env = append(os.Environ(), env...)
	cmd.WaitDelay = time.Second
	return cmd.CombinedOutput()
}

// outcome is what became of one mutant.
type outcome struct {
	site    site
	killer  string // the test that noticed; empty: it survived
	reached bool
}

// judge activates one mutant and runs the tests that reach it, the quick ones first, until one fails.
func (b *built) judge(ctx context.Context, s site, tests []test) outcome {
	o := outcome{site: s}
	reaching := map[string][]test{}
	total := map[string]time.Duration{}
	for _, t := range tests {
		if t.sites[s.id] {
			o.reached = true
			reaching[t.pkg] = append(reaching[t.pkg], t)
			total[t.pkg] += t.took
		}
	}
	own := filepath.ToSlash(filepath.Dir(s.file))
	order := slices.Collect(mapKeys(reaching))
	slices.SortFunc(order, func(a, b string) int {
		return cmp.Or(-cmp.Compare(truth(a == own), truth(b == own)), cmp.Compare(total[a], total[b]), cmp.Compare(a, b))
	})
	for _, pkg := range order {
		if o.killer = b.kill(ctx, s, pkg, reaching[pkg], total[pkg]); o.killer != "" {
			return o
		}
	}
	return o
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

var failed = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

// kill runs some tests of a package and returns which of them failed; "" when all passed. Tests run in the source's order, a
// mutant that hangs is ended.
func (b *built) kill(ctx context.Context, s site, pkg string, tests []test, took time.Duration) string {
	var names []string
	for _, t := range tests {
		names = append(names, t.name)
	}
	limit := 4*took + 10*time.Second
	out, err := b.run(ctx, pkg, []string{"MUTANT=" + strconv.Itoa(s.id)},
		"-test.run", "^("+strings.Join(names, "|")+")$", "-test.short", "-test.failfast", "-test.timeout", limit.String())
	if err == nil || ctx.Err() != nil {
		return ""
	}
	if m := failed.FindSubmatch(out); m != nil {
		return pkg + "." + string(m[1])
	}
	if bytes.Contains(out, []byte("panic: test timed out")) {
		return pkg + " (it hangs)"
	}
	return pkg + " (it crashes)"
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
