package main

import (
	"errors"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// arguments are the parsed command line.
type arguments struct {
	install string   // the only thing to install, or ""
	short   bool     // without tests that need something installed
	test    []string // all arguments of go test
	vet     []string // the packages
}

// whole reports whether all there is to check is asked for.
func (a arguments) whole() bool { return !a.short && slices.Equal(a.vet, everything) }

// everything names the packages of both modules.
var everything = []string{"./...", "./sandbox/..."}

// longest names the packages whose tests take longest, longest first. Go starts packages in the order of its arguments,
// each once. One that starts last runs alone, with most of its time spent waiting and a core idle.
var longest = []string{
	"./sandbox/e2e", "./simulation", "./outgoing", "./sandbox/drill", "./chain/bitcoin", "./recovery",
	"./sandbox/nodes/ethereum", "./chain/evm", "./webhook", "./cmd/bursar-signer", "./cmd/bursar", "./api", "./service",
	"./sandbox", "./sandbox/clients", "./sandbox/patroni", "./store",
}

// parse parses the command's arguments. All except -install are go test's; without a package among them they apply to
// all.
func parse(args []string) (arguments, error) {
	var a arguments
	var timeout, vet, link, parallel bool
	for i, arg := range args {
		name, value, _ := strings.Cut("-"+strings.TrimLeft(arg, "-"), "=")
		switch {
		case strings.HasPrefix(arg, "-") && name == "-install":
			if value == "" && len(args) > i+1 {
				value = args[i+1]
			}
			if i > 0 || value == "" || len(args) > 2 {
				return a, errors.New("-install takes one name and no other arguments: go run ./test -install bitcoind")
			}
			return arguments{install: value}, nil
		case strings.HasPrefix(arg, "./") || strings.HasPrefix(arg, "github.com/bursar/bursar"):
			a.vet = append(a.vet, arg)
		case strings.HasPrefix(arg, "-"):
			timeout = timeout || strings.HasSuffix(name, "timeout")
			vet = vet || strings.HasSuffix(name, "vet")
			link = link || strings.HasSuffix(name, "ldflags")
			parallel = parallel || name == "-p"
			a.short = a.short || strings.HasSuffix(name, "short") && value != "false"
		}
	}
	if !vet { // check has vetted the packages, with more than go test looks for
		a.test = append(a.test, "-vet=off")
	}
	if !link { // nobody debugs these binaries: without what a debugger needs they are linked in half the time
		a.test = append(a.test, "-ldflags=-w")
	}
	if !parallel { // some tests mostly wait: with one package for each core a tenth of the time is idle
		a.test = append(a.test, "-p", strconv.Itoa(runtime.NumCPU()+1))
	}
	if !timeout {
		a.test = append(a.test, "-timeout", "25m")
	}
	a.test = append(a.test, args...)
	if a.vet == nil {
		a.vet, a.test = everything, slices.Concat(a.test, longest, everything)
	}
	return a, nil
}
