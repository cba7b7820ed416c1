// Command cover chooses the tests that run on PostgreSQL too: tests that make, between them, every statement that all
// tests make. It owns that choice, and never runs a test. It greedily picks the test that adds the most statements not
// yet covered per second. Its argument is a file that tests have written with BURSAR_TEST_STATEMENTS, as
// store/storetest/heard.go says.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
)

type made struct {
	Test       string
	Seconds    float64
	Statements []string
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./store/storetest/cover FILE")
		os.Exit(2)
	}
	chosen, err := choose(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for _, name := range chosen {
		fmt.Printf("\t%q,\n", name)
	}
}

func choose(name string) (chosen []string, err error) {
	tests, left, err := read(name)
	for err == nil && len(left) > 0 {
		best, most := "", 0.0
		for name, t := range tests {
			n := 0
			for s := range t.statements {
				if left[s] {
					n++
				}
			}
			if gain := float64(n) / (t.seconds + 0.05); gain > most || gain == most && n > 0 && name < best {
				best, most = name, gain
			}
		}
		for s := range tests[best].statements {
			delete(left, s)
		}
		chosen = append(chosen, best)
	}
	chosen = needed(chosen, tests)
	slices.Sort(chosen)
	return chosen, err
}

// needed drops the tests whose statements those that were chosen later make as well.
func needed(chosen []string, tests map[string]*test) (kept []string) {
	by := map[string]int{}
	for _, name := range chosen {
		for s := range tests[name].statements {
			by[s]++
		}
	}
	for _, name := range chosen {
		alone := false
		for s := range tests[name].statements {
			alone = alone || by[s] == 1
		}
		if alone {
			kept = append(kept, name)
			continue
		}
		for s := range tests[name].statements {
			by[s]--
		}
	}
	return kept
}

var (
	parameter = regexp.MustCompile(`\$[0-9]+`)
	list      = regexp.MustCompile(`\$(, *\$)+`)
	tuples    = regexp.MustCompile(`\(\$\)(, *\(\$\))+`)
)

// shape is the same for two statements that differ in the lengths of lists.
func shape(statement string) string {
	statement = list.ReplaceAllString(parameter.ReplaceAllString(statement, "$$"), "$$")
	return tuples.ReplaceAllString(statement, "($$)")
}

type test struct {
	seconds    float64
	statements map[string]bool
}

// read returns each test with its subtests, and all statements.
func read(name string) (tests map[string]*test, all map[string]bool, err error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	tests, all = map[string]*test{}, map[string]bool{}
	for decoder := json.NewDecoder(file); ; {
		var m made
		if err := decoder.Decode(&m); errors.Is(err, io.EOF) {
			return tests, all, nil
		} else if err != nil {
			return nil, nil, err
		}
		t := tests[m.Test]
		if t == nil {
			t = &test{statements: map[string]bool{}}
			tests[m.Test] = t
		}
		t.seconds += m.Seconds
		for _, s := range m.Statements {
			s = shape(s)
			t.statements[s], all[s] = true, true
		}
	}
}
