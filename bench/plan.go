package main

import (
	"context"
	"fmt"
	"time"
)

// suite is a part of a run that needs something to be running: open starts it, and close, which open returns, ends it.
type suite struct {
	name  string
	takes time.Duration // estimate of open
	open  func(ctx context.Context) (closing func(), err error)
	steps []step
}

// step is one measurement.
type step struct {
	name  string
	takes time.Duration // estimate
	run   func(ctx context.Context) error
}

// only leaves the steps whose names match, and no suite without any.
func only(s settings, suites []suite) []suite {
	var left []suite
	for _, st := range suites {
		var steps []step
		for _, one := range st.steps {
			if s.only.MatchString(one.name) {
				steps = append(steps, one)
			}
		}
		if st.steps = steps; len(steps) > 0 {
			left = append(left, st)
		}
	}
	return left
}

// plan runs suites and says how far it is.
type plan struct {
	suites  []suite
	began   time.Time
	done    time.Duration // estimates of what is done
	at, all int           // steps
}

func newPlan(suites []suite) *plan {
	p := &plan{suites: suites, began: time.Now()}
	for _, st := range suites {
		p.all += len(st.steps)
	}
	return p
}

// left is about how long the rest takes: its estimates, corrected by how wrong those of the first part were.
func (p *plan) left() time.Duration {
	return remaining(p.total(), p.done, time.Since(p.began))
}

func (p *plan) total() (sum time.Duration) {
	for _, st := range p.suites {
		sum += st.takes
		for _, one := range st.steps {
			sum += one.takes
		}
	}
	return sum
}

// remaining corrects the estimates of what is left once a quarter is done.
func remaining(total, done, took time.Duration) time.Duration {
	left := total - done
	if done > total/4 {
		left = time.Duration(float64(left) * float64(took) / float64(done))
	}
	return left
}

func (p *plan) run(ctx context.Context) error {
	for _, st := range p.suites {
		if err := p.suite(ctx, st); err != nil {
			return fmt.Errorf("%s: %w", st.name, err)
		}
	}
	return nil
}

func (p *plan) suite(ctx context.Context, st suite) error {
	p.say("starting " + st.name)
	closing, err := st.open(ctx)
	if err != nil {
		return err
	}
	defer closing()
	p.done += st.takes
	for _, one := range st.steps {
		p.at++
		p.say(fmt.Sprintf("%d of %d: %s: %s", p.at, p.all, st.name, one.name))
		if err := one.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", one.name, err)
		}
		p.done += one.takes
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

func (p *plan) say(what string) {
	progress("%s (about %s left)", what, p.left().Round(time.Second))
}
