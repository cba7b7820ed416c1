package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// packages is how many packages are tested at the same time.
func packages() string { return strconv.Itoa(runtime.NumCPU() + 1) }

func TestArgumentsAreGoTests(t *testing.T) {
	all := strings.Join(longest, " ") + " ./... ./sandbox/..."
	for _, c := range []struct {
		args, test, vet string
		short           bool
	}{
		{"", "-vet=off -ldflags=-w -p N -timeout 25m " + all, "./... ./sandbox/...", false},
		{"-short", "-vet=off -ldflags=-w -p N -timeout 25m -short " + all, "./... ./sandbox/...", true},
		{"-test.short=true", "-vet=off -ldflags=-w -p N -timeout 25m -test.short=true " + all, "./... ./sandbox/...", true},
		{"-short=false ./store", "-vet=off -ldflags=-w -p N -timeout 25m -short=false ./store", "./store", false},
		{"-run Name -v ./store ./chain/...", "-vet=off -ldflags=-w -p N -timeout 25m -run Name -v ./store ./chain/...",
			"./store ./chain/...", false},
		{"-timeout 1m -bench .", "-vet=off -ldflags=-w -p N -timeout 1m -bench . " + all, "./... ./sandbox/...", false},
		{"--timeout=1m", "-vet=off -ldflags=-w -p N --timeout=1m " + all, "./... ./sandbox/...", false},
		{"-ldflags= ./store", "-vet=off -p N -timeout 25m -ldflags= ./store", "./store", false},
		{"-p 1 ./store", "-vet=off -ldflags=-w -timeout 25m -p 1 ./store", "./store", false},
		{"-vet=all ./store", "-ldflags=-w -p N -timeout 25m -vet=all ./store", "./store", false},
	} {
		got, err := parse(strings.Fields(c.args))
		if err != nil || strings.Join(got.test, " ") != strings.Replace(c.test, "-p N", "-p "+packages(), 1) ||
			strings.Join(got.vet, " ") != c.vet ||
			got.short != c.short {
			t.Errorf("%q is parsed as %+v: %v", c.args, got, err)
		}
	}
	for _, args := range []string{"-install anvil", "--install=anvil"} {
		if got, err := parse(strings.Fields(args)); err != nil || got.install != "anvil" {
			t.Errorf("%q is parsed as %+v: %v, want %q", args, got, err, "anvil")
		}
	}
	for _, args := range []string{"-install", "-install anvil ./store", "-short -install anvil"} {
		if _, err := parse(strings.Fields(args)); err == nil {
			t.Errorf("%q is accepted, want an error", args)
		}
	}
}

// A package that was renamed would fail the whole run.
func TestTheLongestPackagesExist(t *testing.T) {
	for _, name := range longest {
		if found, _ := filepath.Glob(filepath.Join("..", name, "*_test.go")); len(found) == 0 {
			t.Errorf("%s has no tests", name)
		}
	}
}

// source makes a directory with one Go file the current one.
func source(t *testing.T, text string) {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.WriteFile("a.go", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// checked runs the checks of what is asked for, and returns what they print at the terminal.
func checked(t *testing.T, f *fake, asked arguments) (string, error) {
	t.Helper()
	var out strings.Builder
	f.machine.out = &out
	err := work(t.Context(), checks(f.machine, asked, nil))
	return out.String(), err
}

func TestShortInstallsNothing(t *testing.T) {
	source(t, "package a\n")
	f := newFake(t)
	if err := run(t.Context(), f.machine, []string{"-short"}); err != nil {
		t.Fatal(err)
	}
	want := []string{"go test -vet=off -ldflags=-w -p " + packages() + " -timeout 25m -short " +
		strings.Join(longest, " ") + " ./... ./sandbox/...", "go vet ./... ./sandbox/..."}
	if slices.Sort(f.ran); !slices.Equal(f.ran, want) {
		t.Errorf("it runs %q, want %q", f.ran, want)
	}
	if err := run(t.Context(), f.machine, nil); err == nil || !strings.Contains(err.Error(), "install ") {
		t.Errorf("all the tests on an empty machine: %v, want an installation that fails", err)
	}
}

func TestOnlyARunOfEverythingIsLinted(t *testing.T) {
	source(t, "package a\n")
	f := newFake(t)
	for asked, want := range map[*arguments]bool{{vet: []string{"./store"}}: false,
		{vet: everything, short: true}: false} {
		f.ran = nil
		if _, err := checked(t, f, *asked); err != nil || holds(f.ran, "golangci-lint run") != want {
			t.Errorf("%+v runs %q: %v, want the linter: %v", asked, f.ran, err, want)
		}
	}
	accepting(t, "")
	f.programs["govulncheck"], f.ran = finding("", "", "", ""), nil
	if _, err := checked(t, f, arguments{vet: everything}); err != nil || !holds(f.ran, "golangci-lint run") {
		t.Errorf("it runs %q: %v, want the linter", f.ran, err)
	}
	f.failing = "golangci-lint"
	if _, err := checked(t, f, arguments{vet: everything}); !errors.Is(err, errTests) {
		t.Errorf("the linter finds something: %v, want %v", err, errTests)
	}
}

// TestTheTestsOutputComesLast checks it whichever ends first, and that what fails does not hide it.
func TestTheTestsOutputComesLast(t *testing.T) {
	source(t, "package a\n")
	for _, fails := range []bool{false, true} {
		f, ended := newFake(t), make(chan struct{})
		var order []string
		f.machine.out = lines{&order}
		f.machine.run = func(_ context.Context, c command) error {
			if c.args[1] == "vet" {
				<-ended // the tests have printed everything
				order = append(order, "vet")
				return nil
			}
			defer close(ended)
			for _, text := range []string{"ok a", "ok b"} {
				if _, err := c.out.Write([]byte(text)); err != nil {
					t.Error(err)
				}
			}
			if fails {
				return errors.New("exit status 1")
			}
			return nil
		}
		err := work(t.Context(), checks(f.machine, arguments{vet: []string{"./store"}}, nil))
		if want := []string{"vet", "ok aok b"}; !slices.Equal(order, want) || errors.Is(err, errTests) != fails {
			t.Errorf("tests that fail, %v: it prints %q and ends with %v, want %q", fails, order, err, want)
		}
	}
}

// lines notes what is written.
type lines struct{ list *[]string }

func (l lines) Write(text []byte) (int, error) {
	*l.list = append(*l.list, string(text))
	return len(text), nil
}

// TestTheLinterRunsWhatVetRuns guards that a run which lints needs no vet.
func TestTheLinterRunsWhatVetRuns(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", ".golangci.yml"))
	if err != nil {
		t.Fatal(err)
	}
	if settings := string(text); !strings.Contains(settings, "\n    - govet\n") || strings.Contains(settings, "govet:") {
		t.Error("govet is left out or has settings of its own, want every analyser of go vet")
	}
	accepting(t, "")
	f := newFake(t)
	f.programs["govulncheck"] = finding("", "", "", "")
	if _, err := checked(t, f, arguments{vet: everything}); err != nil || holds(f.ran, "go vet") {
		t.Errorf("it runs %q: %v, want the linter without vet", f.ran, err)
	}
}

func TestTestsCollectGarbageLessOftenUnlessTheEnvironmentSays(t *testing.T) {
	f := newFake(t)
	if got := relaxed(f.machine, "2GiB"); !slices.Contains(got, "GOGC=300") || len(got) != 3 {
		t.Errorf("the environment is %q, want GOGC=300, a limit of memory and a lazy return of it", got)
	}
	f.env["GOGC"] = "50"
	if got := relaxed(f.machine, "2GiB"); len(got) != 2 || strings.HasPrefix(got[0], "GOGC=") {
		t.Errorf("with GOGC=50 in the environment it adds %q, want no GOGC", got)
	}
}

func TestTestsAreBuiltAsWhatIsReleasedUnlessTheEnvironmentSays(t *testing.T) {
	accepting(t, "")
	f := newFake(t)
	f.programs["govulncheck"] = finding("", "", "", "")
	f.effect = func(c command) {
		if !strings.Contains(c.String(), "mod verify") && !slices.Contains(c.env, "CGO_ENABLED=0") {
			t.Errorf("%q runs with %q, want CGO_ENABLED=0", c, c.env)
		}
	}
	if _, err := checked(t, f, arguments{vet: everything}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"go list -export", "golangci-lint run", "go test"} {
		if !holds(f.ran, want) {
			t.Errorf("it ran %q, want %s", f.ran, want)
		}
	}
	f.env["CGO_ENABLED"] = "1"
	if got := static(f.machine); len(got) != 0 {
		t.Errorf("with CGO_ENABLED=1 in the environment it adds %q, want nothing", got)
	}
}

func TestWhatFailsEndsTheRun(t *testing.T) {
	source(t, "package a\n")
	f := newFake(t)
	for _, f.failing = range []string{"go vet", "go test"} {
		if err := run(t.Context(), f.machine, []string{"-short"}); !errors.Is(err, errTests) {
			t.Errorf("%s fails: %v, want %v", f.failing, err, errTests)
		}
	}
	source(t, "package  a\n")
	f.ran, f.failing = nil, ""
	if err := run(t.Context(), f.machine, []string{"-short"}); err == nil ||
		!strings.Contains(err.Error(), "gofmt would change: a.go") || holds(f.ran, "go test") {
		t.Errorf("a file with other formatting: %v after %q, want an error and no tests", err, f.ran)
	}
}

func TestFoldersOfOthersAreNotFormatted(t *testing.T) {
	source(t, "package a\n")
	for _, folder := range []string{".cache", "node_modules/x"} {
		put(t, filepath.Join(folder, "b.go")) // a shell script
	}
	if wrong, err := unformatted("."); err != nil || len(wrong) > 0 {
		t.Errorf("%v: %v, want none", wrong, err)
	}
}
