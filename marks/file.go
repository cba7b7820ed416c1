package marks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// File keeps marks in a file that is replaced as a whole. Several processes may share it: each raises what the others
// wrote, under a lock.
type File struct {
	path string
	mu   sync.Mutex
}

var _ Keeper = (*File)(nil)

// NewFile returns a keeper over a file, which need not exist.
func NewFile(path string) *File { return &File{path: path} }

// Path returns the path of the file.
func (f *File) Path() string { return f.path }

// maxFile bounds the file: some dozens of numbers, and the journal.
const maxFile = 2 * maxJournal

// Load reads the file.
func (f *File) Load(context.Context) (State, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.read()
}

// Raise reads the file, raises it, and replaces it.
func (f *File) Raise(_ context.Context, by State) (State, error) {
	return f.change(func() (State, error) {
		s, err := f.read()
		for _, e := range by.Journal {
			err = errors.Join(err, s.Fits(e))
		}
		return s.raised(by), err
	})
}

// Create writes the file if it does not exist.
func (f *File) Create(_ context.Context, s State) (State, error) {
	return f.change(func() (State, error) {
		kept, err := f.read()
		if errors.Is(err, ErrMissing) {
			err = nil
		}
		return kept.raised(s), err
	})
}

func (f *File) change(next func() (State, error)) (s State, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	unlock, err := lock(f.path + ".lock")
	if err != nil {
		return State{}, fmt.Errorf("%w: lock %s: %w", ErrUnusable, f.path, err)
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if s, err = next(); err != nil {
		return State{}, err
	}
	return s, f.write(s)
}

func (f *File) read() (s State, err error) {
	file, err := os.Open(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, fmt.Errorf("%w: there is no file %s", ErrMissing, f.path)
	}
	if err != nil {
		return s, fmt.Errorf("%w: %w", ErrUnusable, err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxFile))
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		return State{}, fmt.Errorf("%w: read %s: %w", ErrUnusable, f.path, err)
	}
	if s.Version != version {
		return State{}, fmt.Errorf("%w: %s has version %d, but this release supports version %d", ErrUnusable, f.path,
			s.Version, version)
	}
	return s, nil
}

// write replaces the file atomically: after a power failure it is the old one or the new one.
func (f *File) write(s State) error {
	text, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnusable, err)
	}
	next := f.path + ".next" // exclusive, under the lock
	file, err := os.OpenFile(next, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnusable, err)
	}
	_, err = file.Write(append(text, '\n'))
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = os.Rename(next, f.path)
	}
	if err == nil {
		err = syncFolder(filepath.Dir(f.path))
	}
	if err != nil {
		return fmt.Errorf("%w: write %s: %w", ErrUnusable, f.path, err)
	}
	return nil
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

func syncFolder(folder string) error {
	file, err := os.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}
