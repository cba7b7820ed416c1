package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Whatever a command changes is in the log of acts: a file that opens the database has what it changes recorded, but
// for the service itself and `doctor`, which changes nothing.
func TestEveryCommandIsWitnessed(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("*.go")
	if err != nil || len(names) == 0 {
		t.Fatalf("the files are %v, %v, want those of the command", names, err)
	}
	opens := regexp.MustCompile(`(store|service)\.Open\(`)
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "_test.go") || name == "serve.go" || name == "doctor.go" {
			continue
		}
		opened, witnessed := len(opens.FindAll(text, -1)), strings.Count(string(text), "c.witness(")
		if opened > witnessed {
			t.Errorf("%s opens the database %d times and has %d witnessed, want each: call c.witness", name, opened, witnessed)
		}
	}
}
