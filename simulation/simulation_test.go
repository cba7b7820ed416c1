package main

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bursar/bursar/bursartest/replicas"
)

func memory(t *testing.T) *replicas.Template {
	t.Helper()
	template, err := replicas.InMemory()
	if err != nil {
		t.Fatal(err)
	}
	return template
}

// TestHistories checks that a whole service comes to rest after any combination of faults with books that agree with
// the chains, every withdrawal paid exactly once or refunded, every statement right and every webhook received.
func TestHistories(t *testing.T) {
	seeds, shards := 400, 20
	if testing.Short() {
		seeds = 10
	}
	template := memory(t)
	for shard := range shards {
		t.Run(fmt.Sprint(shard), func(t *testing.T) {
			t.Parallel()
			paid := 0
			for seed := shard; seed < seeds; seed += shards {
				r := run(generate(uint64(seed), defaultLength), Setting{Template: template})
				if r.Err != nil {
					t.Errorf("seed %d: %v (go run ./simulation -seed %d, or -shrink %d), want nil", seed, r.Err, seed, seed)
				}
				paid += r.Paid
			}
			if paid == 0 && seeds/shards >= 10 {
				t.Error("no withdrawal was paid in any of these histories")
			}
		})
	}
}

// TestHistoriesWithEpochs checks the same where the seed is replaced at random moments, once or twice.
func TestHistoriesWithEpochs(t *testing.T) {
	t.Parallel()
	seeds := uint64(100)
	if testing.Short() {
		seeds = 4
	}
	template, begun := memory(t), 0
	for n := range seeds {
		seed := n*rotating + rotating - 1
		r := run(generate(seed, defaultLength), Setting{Template: template})
		if r.Err != nil {
			t.Errorf("seed %d: %v (go run ./simulation -seed %d, or -shrink %d), want nil", seed, r.Err, seed, seed)
		}
		begun += r.Epochs
	}
	if begun == 0 {
		t.Error("no epoch began in any of these histories")
	}
}

// TestTheSameSeedGivesTheSameHistory checks that the same seed gives the same history, byte for byte.
func TestTheSameSeedGivesTheSameHistory(t *testing.T) {
	t.Parallel()
	seeds := uint64(40)
	if testing.Short() {
		seeds = 1
	}
	template := memory(t)
	for seed := range seeds {
		var first, second bytes.Buffer
		a := run(generate(seed, defaultLength), Setting{Template: template, Print: &first})
		b := run(generate(seed, defaultLength), Setting{Template: template, Print: &second, Service: io.Discard})
		if a.Hash != b.Hash || !bytes.Equal(first.Bytes(), second.Bytes()) || a.Lines < defaultLength {
			t.Errorf("seed %d: %d lines, then %d: %s", seed, a.Lines, b.Lines, difference(first.String(), second.String()))
		}
	}
}

// TestKeptPlans checks that faults that were found once stay fixed.
func TestKeptPlans(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.json")
	if err != nil {
		t.Fatal(err)
	}
	template := memory(t)
	for _, file := range files {
		p, err := read(file)
		if err != nil {
			t.Fatal(err)
		}
		if r := run(p, Setting{Template: template}); r.Err != nil {
			t.Errorf("%s: %v (go run ./simulation -plan simulation/%s), want nil", file, r.Err, file)
		}
	}
}

// TestPlansAreKeptWhole checks that a plan that is written and read is the same plan.
func TestPlansAreKeptWhole(t *testing.T) {
	t.Parallel()
	p := generate(11, defaultLength)
	file := filepath.Join(t.TempDir(), "plan.json")
	if err := p.keep(file); err != nil {
		t.Fatal(err)
	}
	again, err := read(file)
	if err != nil || fmt.Sprint(again) != fmt.Sprint(p) {
		t.Fatalf("%v is read as %v: %v, want %v", p, again, err, fmt.Sprint(p))
	}
}

// difference returns the first line in which two logs differ, with the one before it.
func difference(a, b string) string {
	before := ""
	others := strings.Split(b, "\n")
	for i, line := range strings.Split(a, "\n") {
		if i >= len(others) || others[i] != line {
			return fmt.Sprintf("after %q: %q and %q", before, line, others[min(i, len(others)-1)])
		}
		before = line
	}
	return "the second is longer"
}
