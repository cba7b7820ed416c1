// Package mantest checks manual pages against the command lines that they are of.
//
// It never writes a page. It owns what a page must contain: every command and flag that is not hidden, in ASCII,
// without unknown requests.
package mantest

import (
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// requests are what package man asks of the formatter.
var requests = []string{".TH", ".SH", ".SS", ".TP", ".PP", ".nf", ".fi", `.\"`}

// Check fails the test for what the manual page of a program lacks, and for what a formatter would take for a request.
func Check(t *testing.T, program *kong.Application, page string) {
	t.Helper()
	if i := strings.IndexFunc(page, func(r rune) bool { return r > 126 }); i >= 0 {
		t.Errorf("the page has %.20q, want ASCII", page[i:])
	}
	for line := range strings.Lines(page) {
		request, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if (strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'")) && !slices.Contains(requests, request) {
			t.Errorf("%q would be a request, want text", line)
		}
	}
	hyphens := strings.NewReplacer("-", `\-`)
	for _, n := range program.Leaves(true) {
		_, section, found := strings.Cut(page, `.SS "`+hyphens.Replace(n.FullPath()))
		section, _, _ = strings.Cut(section, ".SS ")
		if !found {
			t.Errorf("the page has no section about %s, want one", n.FullPath())
		}
		for _, f := range n.Flags {
			if !f.Hidden && !strings.Contains(section, hyphens.Replace("--"+f.Name)) {
				t.Errorf("the section about %s does not name --%s", n.FullPath(), f.Name)
			}
		}
	}
}
