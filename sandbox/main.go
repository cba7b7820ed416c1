// Command sandbox runs chains on this machine, the service on top of them, and a remote control to play the outside
// world.
//
// It owns what a data directory holds, the order in which things start, and what is printed once they did. It never
// talks to a network beyond this machine. Its invariants: without --data nothing outlives it; with --data whatever it
// told anybody is there after an end of any kind; the service is configured through its ordinary file and environment,
// so what works here is what `bursar serve` does.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "sandbox:", err)
		os.Exit(1)
	}
}

// run is the program: it returns nil once ctx ended and everything was closed.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	flags, err := parseFlags(args, stderr)
	if err != nil {
		return err
	}
	place, err := openDataDir(flags)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, place.close()) }()
	s := &environment{flags: flags, dir: place, log: logger(flags, stderr)}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := s.open(ctx); err != nil {
		if ctx.Err() != nil {
			return nil // ended while it started
		}
		return err
	}
	return s.run(ctx, func() error { return describe(stdout, flags, s.facts()) })
}
