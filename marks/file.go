package marks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/bursar/bursar/durable"
)

// File keeps marks in a file: their state, and behind it the raises since, each on a line of its own, so that a raise
// writes as much as it adds, however long the journal is (docs/decisions/0178-marks-are-appended.md). Several processes
// may share it: each raises what the others wrote, under a lock.
type File struct {
	path string

	mu    sync.Mutex
	log   *log // what this process knows of the file; nil: nothing
	wrote bool // this process has replaced the file, and no change has failed since
}

var _ Keeper = (*File)(nil)

// NewFile returns a keeper over a file, which need not exist.
func NewFile(path string) *File { return &File{path: path} }

// Path returns the path of the file.
func (f *File) Path() string { return f.path }

// Load reads the file, when no process writes it.
func (f *File) Load(context.Context) (State, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	// Without the lock, which a reader need not be allowed to open, a line that is being written may look unfinished.
	if unlock, err := lockToRead(f.path + ".lock"); err == nil {
		defer func() { _ = unlock() }() // nothing was written
	}
	file, err := openFile(f.path, os.O_RDONLY)
	if err != nil {
		return State{}, err
	}
	defer file.Close()
	l, err := readLog(file)
	if err != nil {
		return State{}, fmt.Errorf("%w: read %s: %w", ErrUnusable, f.path, err)
	}
	return l.state, nil
}

// Raise reads what is new in the file, and adds the raise to it.
func (f *File) Raise(_ context.Context, by State) (State, error) {
	return f.change(by, false)
}

// Create writes the file if it does not exist.
func (f *File) Create(_ context.Context, s State) (State, error) {
	return f.change(s, true)
}

// change raises what is in the file, and returns it once it is durable.
func (f *File) change(by State, create bool) (s State, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	unlock, err := lock(f.path + ".lock")
	if err != nil {
		return State{}, fmt.Errorf("%w: lock %s: %w", ErrUnusable, f.path, err)
	}
	defer func() { err = errors.Join(err, unlock()) }()
	file, err := openFile(f.path, os.O_RDWR)
	if create && errors.Is(err, ErrMissing) {
		return f.replace(State{}.Raised(by))
	}
	if err != nil {
		return State{}, err
	}
	defer func() { _ = file.Close() }() // what counts was synced
	if err := f.read(file); err != nil {
		return State{}, fmt.Errorf("%w: read %s: %w", ErrUnusable, f.path, err)
	}
	left := f.log.state.without(by.Ended)
	for _, e := range by.Journal {
		allowed := 1
		if e.Number <= left.Signed[e.Chain] { // it was there before, and every raise has it until one succeeds
			allowed = 2
		}
		err = errors.Join(err, left.fits(e, allowed))
	}
	if err != nil && !create {
		return State{}, err
	}
	s = f.log.state.Raised(by)
	if f.wrote && f.log.takes(by) {
		if err := f.log.add(file, by, s); err == nil {
			return s, nil
		}
	}
	// After a write or a sync that failed too: what the system shows of the file then need not be on the disk.
	return f.replace(s)
}

// read reads what is in the file. What this process knows of it is read on where others have only added to it, and
// otherwise read again from its beginning.
func (f *File) read(file *os.File) error {
	if f.log != nil && f.log.readOn(file) == nil {
		return nil
	}
	l, err := readLog(file)
	if f.log = l; err != nil {
		return err
	}
	return durable.SyncFolder(filepath.Dir(f.path)) // another process may have ended before it did
}

// replace replaces the file by a state, atomically: after a power failure it is the old one or the new one.
func (f *File) replace(s State) (State, error) {
	f.log, f.wrote = nil, false
	if err := writeState(f.path, s); err != nil {
		return State{}, fmt.Errorf("%w: write %s: %w", ErrUnusable, f.path, err)
	}
	f.wrote = true // and what is read next is what was written, or what others did to it
	return s, nil
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
