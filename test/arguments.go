package main

import (
	"errors"
	"strings"
)

// arguments are the parsed command line.
type arguments struct {
	install string   // the only thing to install, or ""
	short   bool     // without tests that need something installed
	test    []string // all arguments of go test
	vet     []string // the packages
}

// everything names the packages of both modules.
var everything = []string{"./...", "./sandbox/..."}

// parse parses the command's arguments. All except -install are go test's; without a package among them they apply to
// all.
func parse(args []string) (arguments, error) {
	var a arguments
	var timeout bool
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
			a.short = a.short || strings.HasSuffix(name, "short") && value != "false"
		}
	}
	a.test = args
	if !timeout {
		a.test = append([]string{"-timeout", "25m"}, a.test...)
	}
	if a.vet == nil {
		a.vet, a.test = everything, append(a.test, everything...)
	}
	return a, nil
}
