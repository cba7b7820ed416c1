package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// step installs one thing that the tests need.
type step interface {
	// Name is the name for -install.
	Name() string
	// Says describes what Install does, in a few words after "installs".
	Says() string
	// After lists the steps that come first.
	After() []string
	// Needed reports that the thing is missing, or is not as the tests need it.
	Needed(context.Context) bool
	// Install installs it, completely or not at all.
	Install(context.Context) error
}

// steps lists everything that the tests need beyond Go, in the order of its installation. A new one is a file and a
// line.
func steps(m machine) []step {
	debian := &apt{machine: m}
	return []step{
		postgresql(m, debian), curl(m, debian), openssh(m, debian), nodejs(m, debian), litecoind(m, debian), pyzmq(m, debian),
		electrum(m, debian), zbar(m, debian), smtpd(m, debian),
		bitcoind{m}, anvil{m}, hardhat{m}, clients{m}, litesvm{m},
		age(m, debian), swtpm(m, debian), softhsm(m, debian), chromium(m, debian),
		packaging(m, debian), shells(m, debian), accounting(m, debian), php(m, debian), proxies(m, debian),
		pgbackrest(m, debian), patroni(m, debian), etcd{debian}, litestream(m), linter(m), govulncheck(m),
		generators{m}, oapiCodegen(m), receiver{m},
	}
}

// choose returns the named step and those before it; all of them for "all".
func choose(all []step, name string) ([]step, error) {
	if name == "all" {
		return all, nil
	}
	at := slices.IndexFunc(all, func(s step) bool { return s.Name() == name })
	if at < 0 {
		var names []string
		for _, s := range all {
			names = append(names, s.Name())
		}
		return nil, fmt.Errorf("%q cannot be installed: use %s or all", name, strings.Join(names, ", "))
	}
	return slices.DeleteFunc(slices.Clone(all[:at+1]), func(s step) bool {
		return s.Name() != name && !slices.Contains(all[at].After(), s.Name())
	}), nil
}
