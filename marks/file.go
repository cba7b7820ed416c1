package marks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// File keeps marks in a file: their state, and behind it the raises since, each on a line of its own, so that a raise
// writes as much as it adds, however long the journal is (docs/decisions/0178-marks-are-appended.md). Several processes
// may share it: each raises what the others wrote, under a lock.
type File struct {
	path string

	mu    sync.Mutex
	log   *log // what this process has read and written of the file; nil: nothing that it can rely on
	wrote bool // this process has changed the file, and no change has failed since
}

var _ Keeper = (*File)(nil)

// NewFile returns a keeper over a file, which need not exist.
func NewFile(path string) *File { return &File{path: path} }

// Path returns the path of the file.
func (f *File) Path() string { return f.path }

// Load reads the file.
func (f *File) Load(context.Context) (State, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	l, err := openLog(f.path, os.O_RDONLY)
	if err != nil {
		return State{}, err
	}
	return l.state, l.close()
}

// Raise reads what is new in the file, and adds the raise to it.
func (f *File) Raise(_ context.Context, by State) (State, error) {
	return f.change(by, func(l *log, err error) (State, error) {
		if err != nil {
			return State{}, err
		}
		for _, e := range by.Journal {
			err = errors.Join(err, l.state.Fits(e))
		}
		return l.state, err
	})
}

// Create writes the file if it does not exist.
func (f *File) Create(_ context.Context, s State) (State, error) {
	return f.change(s, func(l *log, err error) (State, error) {
		if errors.Is(err, ErrMissing) {
			return State{}, nil
		}
		if err != nil {
			return State{}, err
		}
		return l.state, nil
	})
}

// change raises the state that before returns for what is in the file, and returns it once it is durable. After a write
// that failed nothing that was read before is relied on, and the file is replaced: what the system says of a file after
// a failed sync need not be on the disk.
func (f *File) change(by State, before func(l *log, err error) (State, error)) (s State, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	unlock, err := lock(f.path + ".lock")
	if err != nil {
		return State{}, fmt.Errorf("%w: lock %s: %w", ErrUnusable, f.path, err)
	}
	defer func() { err = errors.Join(err, unlock()) }()
	l, err := f.current()
	if s, err = before(l, err); err != nil {
		return State{}, err
	}
	s = s.Raised(by)
	if l != nil && l.takes(by) {
		err = l.add(by, s)
	} else {
		f.forget()
		f.log, err = replaceLog(f.path, s)
	}
	if f.wrote = err == nil; !f.wrote {
		f.forget()
		return State{}, fmt.Errorf("%w: write %s: %w", ErrUnusable, f.path, err)
	}
	return s, nil
}

// current returns what is in the file. What this process knows of it is read on where others have only added to it, and
// otherwise read anew.
func (f *File) current() (*log, error) {
	if f.log != nil {
		if err := f.log.readOn(f.path); err == nil {
			return f.log, nil
		}
		f.forget()
	}
	l, err := openLog(f.path, os.O_RDWR)
	if err != nil {
		return nil, err
	}
	f.log = l
	// The raises may be those of an earlier version, or of a change that failed.
	l.replace = l.replace || l.raises > 0 && !f.wrote
	return l, nil
}

func (f *File) forget() {
	if f.log != nil {
		_ = f.log.close() // nothing was written since the last sync that is relied on
	}
	f.log = nil
}

// Writable returns ErrUnusable if the file could not be replaced, and leaves it unchanged.
func (f *File) Writable() (err error) {
	probe, err := os.CreateTemp(filepath.Dir(f.path), filepath.Base(f.path)+".probe*")
	if err != nil {
		return fmt.Errorf("%w: write beside %s: %w", ErrUnusable, f.path, err)
	}
	_, err = probe.WriteString("a probe")
	if err = errors.Join(err, probe.Close(), os.Remove(probe.Name())); err != nil {
		return fmt.Errorf("%w: write beside %s: %w", ErrUnusable, f.path, err)
	}
	return nil
}
