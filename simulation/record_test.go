package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// recorded keeps the sums of a shard's histories, a line each.
func recorded(shard int) string {
	return filepath.Join("testdata", "recorded", fmt.Sprintf("%d.txt", shard))
}

// Histories go on as they did when they were recorded: no status, no alarm, no row and no question to a node differs, not even where
// any way would end well. Who changes what the service does on purpose reads the histories before and after, and records them again:
// docs/simulation.md says how.
func TestRecordedHistories(t *testing.T) {
	const perShard = 5
	template := memory(t)
	for shard := range 8 {
		t.Run(fmt.Sprint(shard), func(t *testing.T) {
			t.Parallel()
			var now strings.Builder
			text, err := os.ReadFile(recorded(shard))
			if err != nil && os.Getenv("BURSAR_RECORD") == "" {
				t.Fatal(err)
			}
			before := strings.Split(string(text), "\n")
			for i := range perShard {
				seed := uint64(shard*perShard + i)
				r := play(generate(seed, defaultLength), Setting{Template: template, Record: true})
				line := strings.Join(r.Sums, " ")
				fmt.Fprintln(&now, line)
				if os.Getenv("BURSAR_RECORD") == "" && (i >= len(before) || before[i] != line) {
					t.Fatalf("seed %d differs in its event %d: compare what go run ./simulation -rows -seed %d prints with what it did", seed, firstOther(before[i], line), seed)
				}
			}
			if os.Getenv("BURSAR_RECORD") != "" {
				if err := os.WriteFile(recorded(shard), []byte(now.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// firstOther returns the first word in which two lines differ.
func firstOther(a, b string) int {
	words, others := strings.Fields(a), strings.Fields(b)
	for i, w := range words {
		if i >= len(others) || others[i] != w {
			return i
		}
	}
	return len(words)
}
