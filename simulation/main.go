// Simulation plays histories of a whole Bursar: what customers, payers, an operator, nodes, receivers and misfortune do
// to it, in memory and on a virtual clock, and judges each one. The same seed gives the same history, byte for byte.
//
//	go run ./simulation -n 1000000            play seeds 0 to 999999 and name those that fail
//	go run ./simulation -seed 7               play one and print its log
//	go run ./simulation -shrink 7             find the smallest part of its plan that still fails
//	go run ./simulation -plan file.json       play a plan that was kept
//	go run ./simulation -seed 7 -rows         print every row that it changed as well
//	go run ./simulation -record               write down how the recorded histories go now
//	go run ./simulation -planted -n 300       plant bugs in the service and say which seed finds each
//
// docs/simulation.md explains what is played and what is judged.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"sync"
	"time"

	"github.com/bursar/bursar/bursartest"
)

// command is what was asked for.
type command struct {
	n        int
	from     uint64
	workers  int
	length   int
	seed     int64
	shrink   int64
	plan     string
	keep     string
	service  bool
	rows     bool
	first    bool
	planted  bool
	record   bool
	profile  string
	template *bursartest.Template
}

func main() {
	var c command
	flag.IntVar(&c.n, "n", 1000, "play so many seeds")
	flag.Uint64Var(&c.from, "from", 0, "begin with this seed")
	flag.IntVar(&c.workers, "workers", runtime.NumCPU(), "play so many histories side by side")
	flag.IntVar(&c.length, "events", defaultLength, "plan so many events for each history")
	flag.Int64Var(&c.seed, "seed", -1, "play this seed alone and print its log")
	flag.Int64Var(&c.shrink, "shrink", -1, "find the smallest part of this seed's plan that fails, and print its log")
	flag.StringVar(&c.plan, "plan", "", "play the plan in this file and print its log")
	flag.StringVar(&c.keep, "keep", "", "write the plan that was played or shrunk to this file")
	flag.BoolVar(&c.first, "first", false, "end with the first history that fails")
	flag.BoolVar(&c.planted, "planted", false, "plant bugs in the service, one by one, and say which seed finds each")
	flag.BoolVar(&c.service, "service", false, "print what the service logs too")
	flag.BoolVar(&c.record, "record", false, "play the recorded histories and write down in simulation/"+recordedFile+
		" what they are now")
	flag.BoolVar(&c.rows, "rows", false, "print every row that an event changed, and what was asked of nodes")
	flag.StringVar(&c.profile, "profile", "", "write a CPU profile to this file")
	flag.Parse()
	if err := c.run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func (c command) run() (err error) {
	debug.SetGCPercent(400) // a history's memory is small, and soon nobody's
	if c.profile != "" {
		f, err := os.Create(c.profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	if c.template, err = bursartest.InMemory(); err != nil {
		return err
	}
	switch {
	case c.planted:
		return plant(os.Stdout, c.from, c.n)
	case c.record:
		return recordAgain(filepath.Join("simulation", recordedFile), c.template, c.workers)
	case c.plan != "":
		p, err := read(c.plan)
		if err != nil {
			return err
		}
		return c.show(p)
	case c.seed >= 0:
		return c.show(generate(uint64(c.seed), c.length))
	case c.shrink >= 0:
		p, err := shrink(generate(uint64(c.shrink), c.length), Setting{Template: c.template}, os.Stderr)
		if err != nil {
			return err
		}
		return c.show(p)
	}
	return c.many()
}

// show plays one plan and prints its log.
func (c command) show(p Plan) error {
	if c.keep != "" {
		if err := p.keep(c.keep); err != nil {
			return err
		}
	}
	s := Setting{Template: c.template, Print: os.Stdout, Record: c.rows}
	if c.service {
		s.Service = os.Stdout
	}
	r := play(p, s)
	fmt.Printf("%d lines, %s\n", r.Lines, r.Hash)
	return r.Err
}

// many plays seeds until they are all played or somebody interrupts it.
func (c command) many() error {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt)
	began := time.Now()
	t := &tally{out: os.Stdout, seeds: make(chan uint64)}
	var group sync.WaitGroup
	for range c.workers {
		group.Go(func() { t.work(c) })
	}
	last := began
hand:
	for i := range uint64(c.n) {
		select {
		case t.seeds <- c.from + i:
		case <-stop:
			break hand
		}
		if c.first && t.anyFailed() {
			break
		}
		if now := time.Now(); now.Sub(last) > 10*time.Second {
			last = now
			t.progress(began, c.n)
		}
	}
	close(t.seeds)
	group.Wait()
	t.progress(began, c.n)
	if len(t.failed) > 0 {
		return fmt.Errorf("%d of %d histories failed: %d", len(t.failed), t.played, t.failed)
	}
	return nil
}

// tally counts what many histories came to.
type tally struct {
	out    io.Writer
	seeds  chan uint64
	mu     sync.Mutex
	played int
	paid   int
	failed []uint64
}

func (t *tally) work(c command) {
	for seed := range t.seeds {
		r := play(generate(seed, c.length), Setting{Template: c.template})
		t.mu.Lock()
		t.played++
		t.paid += r.Paid
		if r.Err != nil {
			t.failed = append(t.failed, seed)
			fmt.Fprintf(t.out, "seed %d: %v\n", seed, r.Err)
		}
		t.mu.Unlock()
	}
}

func (t *tally) anyFailed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.failed) > 0
}

func (t *tally) progress(began time.Time, of int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	took := time.Since(began)
	fmt.Fprintf(t.out, "%d of %d histories in %v, %.1f a second, %d withdrawals paid, %d failed\n",
		t.played, of, took.Round(time.Second), float64(t.played)/took.Seconds(), t.paid, len(t.failed))
}
