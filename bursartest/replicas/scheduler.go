package replicas

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/bursar/bursar/store"
)

// How is the effect of an interruption on a task.
type How string

// The ways in which a task is interrupted.
const (
	Suspend How = "suspend" // others run in between
	Kill    How = "kill"    // its process dies there
	Refuse  How = "refuse"  // its call fails; a commit perhaps after it took effect
)

// Interrupt is an interruption of a task at one of its points.
type Interrupt struct {
	At   int  `json:"at"` // number of the point, from 1
	How  How  `json:"how"`
	Last int  `json:"last,omitempty"` // a suspension's length, in events
	done bool // it has happened
}

// Task is one action of a process.
type Task struct {
	Name       string
	Process    *Process
	Interrupts []Interrupt

	points int
	open   bool // a database transaction holds its connection
	dying  bool
	ended  bool
	left   int // events until a suspended task continues
	wake   chan bool
	back   chan struct{}
	cause  error // of a panic
}

// Scheduler runs one task at a time, and switches only where a task is at a point.
type Scheduler struct {
	// Inside allows suspensions within a database transaction: with PostgreSQL, whose other connections keep working.
	Inside    bool
	current   *Task
	suspended []*Task
	failures  []error
}

// handover bounds how long a task may keep the scheduler waiting in real time: a task that waits for another blocks
// for ever.
const handover = 60 * time.Second

var errKilled = errors.New("the process is dead")

// ErrRefused is the error of a call that an interruption refused.
var ErrRefused = errors.New("the connection was lost")

// Run starts a task and returns when it has ended or is suspended.
func (s *Scheduler) Run(t *Task, f func()) {
	t.wake, t.back = make(chan bool), make(chan struct{})
	s.current = t
	go func() {
		defer func() {
			if cause := recover(); cause != nil {
				t.cause = fmt.Errorf("%s panicked: %v\n%s", t.Name, cause, debug.Stack())
			}
			t.ended = true
			t.back <- struct{}{}
		}()
		f()
	}()
	s.wait(t)
}

func (s *Scheduler) wait(t *Task) {
	timer := time.NewTimer(handover)
	defer timer.Stop()
	select {
	case <-t.back:
	case <-timer.C:
		stacks := make([]byte, 1<<20)
		panic(fmt.Sprintf("%s waits for an event that never comes:\n%s", t.Name, stacks[:runtime.Stack(stacks, true)]))
	}
	s.current = nil
	switch {
	case t.cause != nil:
		s.failures = append(s.failures, t.cause)
	case !t.ended:
		s.suspended = append(s.suspended, t)
	}
}

// Failure returns the first panic of any task.
func (s *Scheduler) Failure() error {
	if len(s.failures) == 0 {
		return nil
	}
	return s.failures[0]
}

// Tick resumes the suspended tasks whose time has come, in the order in which they were suspended, and returns how
// many.
func (s *Scheduler) Tick() int {
	list := s.suspended
	s.suspended = nil
	n := 0
	for _, t := range list {
		if t.left--; t.left > 0 && !t.Process.killed {
			s.suspended = append(s.suspended, t)
			continue
		}
		n++
		s.resume(t)
	}
	return n
}

func (s *Scheduler) resume(t *Task) {
	s.current = t
	t.wake <- !t.Process.killed
	s.wait(t)
}

// Drain resumes all suspended tasks until none is left. between runs after each round.
func (s *Scheduler) Drain(between func()) error {
	for range 1000 {
		if len(s.suspended) == 0 {
			return s.Failure()
		}
		for _, t := range s.suspended {
			t.left, t.Interrupts = 0, nil
		}
		s.Tick()
		between()
	}
	return fmt.Errorf("%s never ends", s.suspended[0].Name)
}

// Idle reports whether no task is suspended.
func (s *Scheduler) Idle() bool { return len(s.suspended) == 0 }

// Suspended reports whether a task of that name of a process is suspended.
func (s *Scheduler) Suspended(p *Process, name string) bool {
	for _, t := range s.suspended {
		if t.Process == p && t.Name == name {
			return true
		}
	}
	return false
}

// yield hands over to the scheduler, and returns when the task continues, or never if the process has died.
func (s *Scheduler) yield(t *Task, events int) {
	t.left = events
	t.back <- struct{}{}
	if !<-t.wake {
		t.die()
	}
}

func (t *Task) die() {
	t.dying = true
	runtime.Goexit() // deferred functions run: transactions are rolled back as when a connection breaks
}

// point is a point where the running task may be interrupted.
func (s *Scheduler) point(p *Process, what string) error {
	t := s.current
	switch {
	case t == nil || t.Process != p:
		return nil
	case t.dying:
		return errKilled
	}
	t.points++
	for i := range t.Interrupts {
		in := &t.Interrupts[i]
		if in.done || t.points < in.At || in.How == Suspend && t.open && !s.Inside {
			continue
		}
		in.done = true
		p.harness.Log("  %s: %s at point %d, %s", t.Name, in.How, t.points, what)
		switch in.How {
		case Kill:
			p.killed = true
			t.die()
		case Refuse:
			return fmt.Errorf("%s: %w", what, ErrRefused)
		}
		s.yield(t, max(in.Last, 1))
	}
	return nil
}

// hooks drives a process's database.
func (s *Scheduler) hooks(p *Process) store.Hooks {
	return store.Hooks{
		Before: func(_ context.Context, at store.Point, _ string) error { return s.before(p, at) },
		Go:     func(f func()) { f() },
		Wait: func(ctx context.Context, done <-chan struct{}) error {
			for {
				select {
				case <-done:
					return nil
				default:
					if t := s.current; t == nil || t.dying {
						return errKilled // no task could end the wait
					}
					s.pause()
				}
			}
		},
		Sleep:  func(ctx context.Context, _ time.Duration) bool { s.pause(); return ctx.Err() == nil },
		Random: func(n int64) int64 { return n / 2 },
	}
}

// pause lets other tasks run until the next event.
func (s *Scheduler) pause() {
	if t := s.current; t != nil && !t.dying {
		s.yield(t, 1)
	}
}

func (s *Scheduler) before(p *Process, at store.Point) error {
	t := s.current
	if t == nil || t.Process != p {
		return nil
	}
	if at == store.Ended {
		t.open = false
		return nil
	}
	if at == store.Committed {
		t.open = false
	}
	err := s.point(p, string(at))
	if at == store.Beginning && err == nil {
		t.open = true
	}
	return err
}
