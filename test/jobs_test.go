package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestJobsRunBesideEachOtherAndAfterWhatTheyNeed(t *testing.T) {
	met, first := make(chan struct{}), false
	err := work(t.Context(), []job{
		{"last", []string{"one", "other", "nothing of the kind"}, func(context.Context) error {
			if !first {
				t.Error("a job began before what it needs was done, want it after")
			}
			return nil
		}},
		{"one", nil, func(context.Context) error { met <- struct{}{}; first = true; return nil }},
		{"other", nil, func(context.Context) error { <-met; return nil }}, // both run, or neither ends
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestTheFirstJobThatFailsEndsTheOthers(t *testing.T) {
	broken, began := errors.New("broken"), make(chan struct{})
	err := work(t.Context(), []job{
		{"broken", nil, func(context.Context) error { <-began; return broken }},
		{"beside", nil, func(ctx context.Context) error { close(began); <-ctx.Done(); return errors.New("killed") }},
		{"after", []string{"beside"}, func(context.Context) error {
			t.Error("a job began after one that failed, want none")
			return nil
		}},
	})
	if !errors.Is(err, broken) {
		t.Errorf("the jobs end with %v, want %v", err, broken)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if err := work(stopped, []job{{"a", nil, func(context.Context) error { return nil }}}); err == nil {
		t.Error("jobs that were stopped before they began end well, want an error")
	}
}

// TestProgramsAreBuiltOneAfterAnother guards that two builds never compile the same library, that the sources come
// before, and that the tests do not wait for what only looks at the code.
func TestProgramsAreBuiltOneAfterAnother(t *testing.T) {
	f := newFake(t)
	list := installation(t.Context(), f.machine, []step{litestream(f.machine), linter(f.machine)})
	list = append(list, checks(f.machine, arguments{vet: everything}, names(list))...)
	for name, want := range map[string]string{"litestream": "compile", "golangci-lint": "litestream",
		"sources of golangci-lint": "", "tests": "sources of litestream litestream compile formatting",
		"analysis": "compile golangci-lint"} {
		at := slices.IndexFunc(list, func(j job) bool { return j.name == name })
		if at < 0 {
			t.Errorf("the jobs are %q, want %s among them", names(list), name)
			continue
		}
		if got := strings.Join(list[at].after, " "); got != want {
			t.Errorf("%s comes after %q, want %q", name, got, want)
		}
	}
}
