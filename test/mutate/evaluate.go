package main

import (
	"bytes"
	"cmp"
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// outcome is the result of one mutant.
type outcome struct {
	site    site
	killer  string // the test that killed it; empty: it survived
	reached bool
	skipped bool // it is in the list of survivors and was not evaluated again
}

// evaluator evaluates mutants. It is safe for concurrent use.
type evaluator struct {
	*built
	tests  []test
	listed map[string]string // survivors that are not evaluated again
	budget time.Duration     // processor time, for the tests of one mutant

	mu      sync.Mutex
	killers map[string][]string // the tests that killed mutants of a function, the latest first
}

// of activates one mutant and runs the tests that reach it until one fails: first those that killed another mutant of
// the same function, then the quick ones.
func (e *evaluator) of(ctx context.Context, s site) outcome {
	o := outcome{site: s}
	var reaching []test
	for _, t := range e.tests {
		if t.sites[s.id] {
			reaching = append(reaching, t)
		}
	}
	o.reached = len(reaching) > 0
	if e.listed[s.name()] != "" {
		o.skipped = true
		return o
	}
	for _, group := range e.groups(s, reaching) {
		if o.killer = e.kill(ctx, s, group); o.killer != "" {
			e.remember(s, o.killer)
			return o
		}
	}
	return o
}

// firstKillers is how many of the tests that killed mutants of a function run before all others.
const firstKillers = 4

// groups orders the tests for a mutant and groups those that one process runs. If the budget is used up the slowest
// are left out, but not the histories, which come last.
func (e *evaluator) groups(s site, tests []test) [][]test {
	known := e.known(s)
	own := s.pkg()
	rank := func(t test) int {
		if histories.MatchString(t.name) {
			return 2
		}
		if at := slices.Index(known, t.pkg+"."+t.name); at >= 0 && at < firstKillers {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(tests, func(a, b test) int {
		return cmp.Or(rank(a)-rank(b), cmp.Compare(weight(a, own), weight(b, own)))
	})
	var groups [][]test
	limits := []time.Duration{time.Second, 4 * time.Second, 16 * time.Second}
	var spent, inGroup time.Duration
	var group []test
	flush := func() {
		groups = append(groups, byPackage(group)...)
		group, inGroup = nil, 0
	}
	for i, t := range tests {
		if spent += t.cost; spent > e.budget && i > 0 && rank(t) < 2 {
			continue
		}
		if n := len(group); n > 0 && (inGroup > limits[0] || rank(group[n-1]) != rank(t)) {
			flush()
			limits = append(limits[1:], time.Hour)
		}
		group, inGroup = append(group, t), inGroup+t.cost
	}
	flush()
	return groups
}

// weight is the cost of a test, reduced a little in the package that is changed.
func weight(t test, own string) time.Duration {
	if t.pkg == own {
		return t.cost / 4
	}
	return t.cost
}

func byPackage(tests []test) (groups [][]test) {
	at := map[string]int{}
	for _, t := range tests {
		n, found := at[t.pkg]
		if !found {
			n, groups = len(groups), append(groups, nil)
			at[t.pkg] = n
		}
		groups[n] = append(groups[n], t)
	}
	return groups
}

func (e *evaluator) known(s site) []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.killers[s.file+":"+s.fn])
}

// remember moves a test to the front of those that killed mutants of a function.
func (e *evaluator) remember(s site, killer string) {
	killer, _, _ = strings.Cut(killer, "/")
	e.mu.Lock()
	defer e.mu.Unlock()
	key := s.file + ":" + s.fn
	list := slices.DeleteFunc(e.killers[key], func(k string) bool { return k == killer })
	e.killers[key] = append([]string{killer}, list...)
}

var failed = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

// kill runs some tests of a package and returns the one that failed; "" if all passed. Tests run in the source's
// order; a mutant that hangs is killed.
func (e *evaluator) kill(ctx context.Context, s site, tests []test) string {
	var names []string
	var took time.Duration
	for _, t := range tests {
		names, took = append(names, t.name), took+t.took
	}
	pkg, limit := tests[0].pkg, 4*took+10*time.Second
	out, err := e.run(ctx, pkg, []string{"MUTANT=" + strconv.Itoa(s.id)},
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
