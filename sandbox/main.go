// Command sandbox runs chains on this machine, the service on top of them, and a remote control that plays the outside
// world.
//
// It owns what a data directory holds, the order in which things start, and what is printed once they run. It never
// uses a network beyond this machine. Its invariants: without --data nothing is kept after it ends; with --data
// everything that it reported to anybody is there after any kind of end; the service is configured through its
// ordinary file and environment, so whatever works here works with `bursar serve`.
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

// run is the program. It returns nil once ctx has ended and everything is closed.
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
			return nil // stopped during the start
		}
		return err
	}
	return s.run(ctx, func() error { return describe(stdout, flags, s.startInfo()) })
}
