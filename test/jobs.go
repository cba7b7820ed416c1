package main

import (
	"context"
	"fmt"
	"sync"
)

// job is a part of the run. It begins as soon as those that it names are done, beside whatever else can run: while one
// waits for the network or for a single thread, another has the processor.
type job struct {
	name  string
	after []string
	do    func(context.Context) error
}

// work does jobs, each after those that it names and that are among them. The first that fails ends the others, and
// work returns its error; a job that comes after it is not begun.
func work(ctx context.Context, jobs []job) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := map[string]chan struct{}{}
	for _, j := range jobs {
		done[j.name] = make(chan struct{})
	}
	var all sync.WaitGroup
	for _, j := range jobs {
		all.Go(func() {
			for _, name := range j.after {
				if first, among := done[name]; among {
					select {
					case <-first:
					case <-ctx.Done():
						return
					}
				}
			}
			if ctx.Err() != nil {
				return
			}
			if err := j.do(ctx); err != nil {
				cancel(err) // the first cause counts; what it interrupts fails as well
				return
			}
			close(done[j.name])
		})
	}
	all.Wait()
	if ctx.Err() == nil {
		return nil
	}
	return context.Cause(ctx)
}

// names are those of jobs.
func names(jobs []job) (list []string) {
	for _, j := range jobs {
		list = append(list, j.name)
	}
	return list
}

// installation is the jobs that install what is missing of the steps, after it has printed that. Each step is looked
// for at the same time as the others: most start a program and wait for it.
func installation(ctx context.Context, m machine, list []step) []job {
	missing := lacking(ctx, list)
	if len(missing) == 0 {
		m.say("== everything that the tests need is installed")
		return nil
	}
	m.say("== the tests need what is not installed; this installs:")
	var jobs []job
	built := "compile" // programs are built one after another, since two builds would compile the same libraries twice
	for _, s := range missing {
		m.say("   " + s.Name() + ": " + s.Says())
		name, after := s.Name(), s.After()
		switch s := s.(type) {
		case debianPackages:
			s.apt.want(s.packages)
		case goProgram:
			jobs = append(jobs, job{"sources of " + name, nil, s.fetch})
			after, built = append(after, built), name
		}
		jobs = append(jobs, job{name, after, func(ctx context.Context) error { return installed(ctx, m, s) }})
	}
	return jobs
}

// lacking returns the steps whose thing is missing, in their order.
func lacking(ctx context.Context, list []step) (missing []step) {
	needed := make([]bool, len(list))
	var all sync.WaitGroup
	for i, s := range list {
		all.Go(func() { needed[i] = s.Needed(ctx) })
	}
	all.Wait()
	for i, s := range list {
		if needed[i] {
			missing = append(missing, s)
		}
	}
	return missing
}

// installed installs a step's thing, and looks whether it works then.
func installed(ctx context.Context, m machine, s step) error {
	m.say("== installing " + s.Name())
	if err := s.Install(ctx); err != nil {
		return fmt.Errorf("install %s: %w", s.Name(), err)
	}
	if s.Needed(ctx) {
		return fmt.Errorf("install %s: it was installed and still does not work here", s.Name())
	}
	return nil
}
