package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
)

// thing is a step of a test.
type thing struct {
	name   string
	after  []string
	here   *bool
	useful bool // whether installing it makes it work
	fails  error
	log    *[]string
}

func (s thing) Name() string                { return s.name }
func (s thing) Says() string                { return "a thing" }
func (s thing) After() []string             { return s.after }
func (s thing) Needed(context.Context) bool { return !*s.here }
func (s thing) Install(context.Context) error {
	*s.log = append(*s.log, s.name)
	*s.here = s.useful
	return s.fails
}

func TestOnlyWhatIsMissingIsInstalledAndItIsSaidBefore(t *testing.T) {
	f, log, here, missing := newFake(t), []string{}, true, false
	list := []step{thing{name: "here", here: &here, log: &log},
		thing{name: "missing", here: &missing, useful: true, log: &log}}
	if err := work(t.Context(), installation(t.Context(), f.machine, list)); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(log, []string{"missing"}) {
		t.Errorf("installed %v, want only what is missing", log)
	}
	named := slices.Index(f.said, "   missing: a thing")
	if done := slices.Index(f.said, "== installing missing"); named < 0 || done < named || holds(f.said, "here:") {
		t.Errorf("it prints %q, want what is missing before it is installed", f.said)
	}
	f.said = nil
	if err := work(t.Context(), installation(t.Context(), f.machine, list)); err != nil || len(log) != 1 {
		t.Errorf("after a second run %v are installed: %v, want nothing new", log, err)
	}
	if !slices.Equal(f.said, []string{"== everything that the tests need is installed"}) {
		t.Errorf("a second run prints %q, want that everything is installed", f.said)
	}
}

func TestAStepThatFailsEndsTheRunAndIsNamed(t *testing.T) {
	f, log, here, other := newFake(t), []string{}, false, false
	broken := errors.New("no space on the disk")
	list := []step{thing{name: "broken", here: &here, fails: broken, log: &log},
		thing{name: "next", after: []string{"broken", "here already"}, here: &other, log: &log}}
	if err := work(t.Context(), installation(t.Context(), f.machine, list)); !errors.Is(err, broken) ||
		!strings.Contains(err.Error(), "install broken") {
		t.Errorf("it ends with %v, want %v of install broken", err, broken)
	}
	list[0] = thing{name: "broken", here: &here, log: &log}
	if err := work(t.Context(), installation(t.Context(), f.machine, list)); err == nil ||
		!strings.Contains(err.Error(), "still does not work") {
		t.Errorf("what does not work after its installation: %v, want an error that says so", err)
	}
	if slices.Contains(log, "next") {
		t.Errorf("it installs %q, want nothing that comes after what fails", log)
	}
}

func TestWhatIsChosenBringsWhatItNeeds(t *testing.T) {
	all := steps(newFake(t).machine)
	for name, want := range map[string]string{
		"anvil": "nodejs anvil", "bitcoind": "bitcoind", "litesvm": "nodejs litesvm", "clients": "nodejs clients",
		"hardhat": "nodejs hardhat", "pgbackrest": "postgresql pgbackrest", "patroni": "postgresql patroni",
		"all": "postgresql curl openssh nodejs litecoind pyzmq electrum zbar smtpd bitcoind anvil hardhat clients litesvm " +
			"age swtpm softhsm chromium packaging shells accounting php proxies " +
			"pgbackrest patroni etcd litestream golangci-lint govulncheck generators oapi-codegen receiver",
	} {
		chosen, err := choose(all, name)
		var names []string
		for _, s := range chosen {
			names = append(names, s.Name())
		}
		if got := strings.Join(names, " "); err != nil || got != want {
			t.Errorf("%s is %q: %v, want %v", name, got, err, want)
		}
	}
	if _, err := choose(all, "geth"); err == nil || !strings.Contains(err.Error(), "postgresql, curl") {
		t.Errorf("an unknown name: %v", err)
	}
}

func TestEveryStepThatIsNeededFirstComesFirst(t *testing.T) {
	var before []string
	for _, s := range steps(newFake(t).machine) {
		for _, name := range s.After() {
			if !slices.Contains(before, name) {
				t.Errorf("%s comes before %s, which it needs", s.Name(), name)
			}
		}
		before = append(before, s.Name())
	}
}
