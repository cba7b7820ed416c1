// Command test installs what the tests need and runs them: libraries against go.sum and known vulnerabilities,
// formatting, vet, and the tests of both modules.
//
// It owns the list of what the tests need beyond Go, with the way to get each. Its invariants: it says what it does
// before it does it; what is there already is left alone; only Debian packages touch the system, everything else lies
// in the user's cache folder; its output ends with go test's own.
//
//	go run ./test                        everything
//	go run ./test -short                 what needs nothing installed
//	go run ./test -run Name ./store      any arguments of go test
//	go run ./test -install bitcoind      one thing installed, and no test run; "all" for everything
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, system(), os.Args[1:])
	stop()
	var child *exec.ExitError
	switch {
	case err == nil:
	case errors.As(err, &child) && errors.Is(err, errTests): // it has printed everything, and comes last
		os.Exit(max(child.ExitCode(), 1))
	default:
		fmt.Fprintln(os.Stderr, "go run ./test:", err)
		os.Exit(1)
	}
}

// run is the program.
func run(ctx context.Context, m machine, args []string) error {
	asked, err := parse(args)
	if err != nil {
		return err
	}
	all := steps(m.quiet())
	if asked.install != "" {
		chosen, err := choose(all, asked.install)
		if err != nil {
			return err
		}
		return work(ctx, installation(ctx, m, chosen))
	}
	var install []job
	if !asked.short {
		install = installation(ctx, m, all)
	}
	return work(ctx, append(install, checks(m, asked, names(install))...))
}
