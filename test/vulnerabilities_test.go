package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// finding is what govulncheck 1.9.0 prints of a vulnerable package.
func finding(id, module, version, fixed string) string {
	const config = `{"config":{"scan_level":"package"}}`
	if id == "" {
		return config
	}
	return config + fmt.Sprintf(`{"finding":{"osv":%q,"fixed_version":%q,"trace":[{"module":%q,"version":%q}]}}`, id,
		fixed, module,
		version) + fmt.Sprintf(`{"finding":{"osv":%q,"fixed_version":%q,"trace":[{"module":%q,"version":%q,"package":"p"}]}}`,
		id,
		fixed, module, version)
}

// accepting makes a directory with the files that say what is known.
func accepting(t *testing.T, text string) {
	t.Helper()
	source(t, "package a\n")
	for name, content := range map[string]string{acceptedFile: text, toolchainFile: "go1.26.9\n"} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755),
			os.WriteFile(name, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestVulnerabilitiesFailUnlessTheyAreAccepted(t *testing.T) {
	for _, test := range []struct{ name, prints, accepted, bad, says string }{
		{"none", finding("", "", "", ""), "", "", ""},
		{"a library", finding("GO-1", "example.org/a", "v1.0.0", "v1.0.1"), "",
			"GO-1 in example.org/a v1.0.0, fixed in v1.0.1", ""},
		{"an accepted one", finding("GO-1", "example.org/a", "v1.0.0", ""),
			"GO-1 the parser is never given a stranger's file", "",
			"accepted: GO-1"},
		{"another one", finding("GO-1", "example.org/a", "v1.0.0", ""), "GO-2 the parser is never given a stranger's file",
			"GO-1",
			"accepts GO-2, which nothing has"},
		{"a Go that the releases do not have", finding("GO-3", "stdlib", "v1.26.8", "v1.26.9"), "", "", "go1.26.9 fixes"},
		{"a Go that the releases have", finding("GO-3", "stdlib", "v1.26.9", "v1.26.10"), "", "GO-3 in stdlib", ""},
		{"a Go that nothing fixes", finding("GO-3", "stdlib", "v1.26.9", ""), "", "GO-3 in stdlib", ""},
		{"no reason", finding("", "", "", ""), "GO-1 why", "needs an ID and a reason", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			accepting(t, test.accepted)
			f := newFake(t)
			f.programs["govulncheck"] = test.prints
			err := vulnerabilities(t.Context(), f.machine)
			if (err != nil) != (test.bad != "") || err != nil && !strings.Contains(err.Error(), test.bad) {
				t.Errorf("it is %v, want %q", err, test.bad)
			}
			if test.says != "" && !holds(f.said, test.says) {
				t.Errorf("it prints %q, want %q", f.said, test.says)
			}
		})
	}
}

// Without data nothing is green in silence.
func TestWithoutDataItIsSaidThatNothingWasChecked(t *testing.T) {
	accepting(t, "")
	f := newFake(t)
	f.failing = "govulncheck"
	if err := vulnerabilities(t.Context(), f.machine); err != nil || !holds(f.said, "NOT CHECKED: no data") {
		t.Errorf("it prints %q, %v, want that nothing was checked", f.said, err)
	}
	f = newFake(t)
	f.programs["govulncheck"] = ""
	if err := vulnerabilities(t.Context(), f.machine); err != nil || !holds(f.said, "NOT CHECKED: no data") {
		t.Errorf("of a program that prints nothing: %q, %v, want that nothing was checked", f.said, err)
	}
}

// reports is a folder as that of the module with the reports.
func reports(t *testing.T) string {
	t.Helper()
	module := t.TempDir()
	if err := os.MkdirAll(filepath.Join(module, "data", "osv"), 0o755); err != nil {
		t.Fatal(err)
	}
	for n := range 1000 {
		id := fmt.Sprintf("GO-2026-%04d", n)
		text := fmt.Sprintf(`{"id":%q,"affected":[{"package":{"name":"example.org/%d"}},{"package":{"name":"example.org/%d"}}]}`, id,
			n%2, n%2)
		if err := os.WriteFile(filepath.Join(module, "data", "osv", id+".json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return module
}

// Where the database cannot be asked, one is made of the module with its reports.
func TestTheMirrorOfModulesServesTheReports(t *testing.T) {
	accepting(t, "")
	module := reports(t)
	f := newFake(t)
	read := f.read
	f.machine.read = func(ctx context.Context, c command) (string, error) {
		switch {
		case strings.Contains(c.String(), "mod download"):
			return fmt.Sprintf(`{"Dir":%q,"Version":"v0.1.0"}`, module), nil
		case strings.Contains(c.String(), "-db file://"):
			return finding("GO-2026-0001", "example.org/1", "v1.0.0", ""), nil
		}
		return read(ctx, c)
	}
	if err := vulnerabilities(t.Context(), f.machine); !errors.Is(err, errVulnerable) ||
		!strings.Contains(err.Error(), "GO-2026-0001") {
		t.Errorf("it is %v, after %q, want %v", err, f.said, errVulnerable)
	}
	index, err := os.ReadFile(filepath.Join(f.folder("", "vulndb-v0.1.0"), "index", "modules.json"))
	if err != nil || strings.Count(string(index), `"id"`) != 1000 ||
		!strings.HasPrefix(string(index), `[{"path":"example.org/0"`) {
		t.Errorf("the index has %d reports, %v, want 1000", strings.Count(string(index), `"id"`), err)
	}
}

// With the reports at hand a program that fails is no lack of data: nothing is green that was not looked at.
func TestAProgramThatFailsIsNotGreen(t *testing.T) {
	accepting(t, "")
	for name, prints := range map[string]string{"nothing": "", "half a message": `{"config":`} {
		f := newFake(t)
		f.machine.read = func(_ context.Context, c command) (string, error) {
			switch {
			case strings.Contains(c.String(), "mod download"):
				return fmt.Sprintf(`{"Dir":%q,"Version":"v0.1.0"}`, reports(t)), nil
			case strings.Contains(c.String(), "-db file://"):
				return prints, nil
			}
			return "", errors.New("no network")
		}
		if err := vulnerabilities(t.Context(), f.machine); err == nil {
			t.Errorf("it prints %s: it is green after %q, want an error", name, f.said)
		}
	}
}

func TestLibrariesAreVerified(t *testing.T) {
	f := newFake(t)
	f.failing = "mod verify"
	if err := verified(t.Context(), f.machine); err == nil || !strings.Contains(err.Error(), "not the one of go.sum") {
		t.Errorf("a changed library: %v, want an error", err)
	}
}
