package main

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/bursar/bursar/sandbox/fault"
)

var (
	flagLine = regexp.MustCompile(`(?m)^  -([a-z]+)`)
	endpoint = regexp.MustCompile(`(?m)^\t(post|get)\("(/[a-z/]+)"`)
)

// TestTheSandboxIsDocumented checks that docs/sandbox.md describes every flag and every path of the remote control.
func TestTheSandboxIsDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/sandbox.md")
	if err != nil {
		t.Fatal(err)
	}
	var help bytes.Buffer
	if err := run(t.Context(), []string{"--help"}, io.Discard, &help); !errors.Is(err, flag.ErrHelp) {
		t.Fatal(err)
	}
	source, err := os.ReadFile("control/control.go")
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, m := range flagLine.FindAllStringSubmatch(help.String(), -1) {
		rows = append(rows, "| `--"+m[1])
	}
	for _, m := range endpoint.FindAllStringSubmatch(string(source), -1) {
		rows = append(rows, "| `"+strings.ToUpper(m[1])+" "+m[2])
	}
	if len(rows) != 14+18 {
		t.Errorf("found %d flags and paths: %q, want %v of them", len(rows), rows, 14+18)
	}
	for _, kind := range fault.Kinds() {
		if !strings.Contains(string(text), "`"+string(kind)+"`") {
			t.Errorf("docs/sandbox.md does not describe %s", kind)
		}
	}
	for _, row := range rows {
		if !strings.Contains(string(text), "\n"+row) {
			t.Errorf("docs/sandbox.md has no table row that begins with %s", row)
		}
	}
}
