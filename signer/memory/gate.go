package memory

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"
)

// Gate is what every signature leaves through. It is shut by a freeze that needs no database: by a marker file beside
// the state, no matter which process made it, or by Shut. It is safe for concurrent use.
//
// A signature that passed is on its way out until its done function is called. The signer's process shares a lock on a
// second file meanwhile, for which a freezing command waits: once that has returned, nothing leaves.
type Gate struct {
	marker string // the path; empty: the freeze ends with the process

	mu     sync.Mutex
	file   *os.File // nil: no command can wait for what is on its way out
	inside int
	shut   *Freeze // of this process, where it is not in the marker file yet
}

// The files beside the state.
const (
	markerSuffix = ".frozen"
	gateSuffix   = ".gate"
)

// openGate opens the gate of a signer.
func openGate(path string) (*Gate, error) {
	file, err := os.OpenFile(path+gateSuffix, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the gate of the signer's state file: %w", err)
	}
	return &Gate{marker: path + markerSuffix, file: file}, nil
}

// Frozen returns the freeze that shuts the gate. A marker that cannot be looked at is an error, and nothing may leave.
func (g *Gate) Frozen() (f Freeze, frozen bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.frozen()
}

func (g *Gate) frozen() (f Freeze, frozen bool, err error) {
	if g.shut != nil {
		return *g.shut, true, nil
	}
	if g.marker == "" {
		return f, false, nil
	}
	return marked(g.marker)
}

// Mark names the marker file that there is: a later one, and one that was touched since, have another name. It is empty
// if there is none, or if this process is frozen without it.
func (g *Gate) Mark() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut != nil || g.marker == "" {
		return ""
	}
	return markOf(g.marker)
}

// Pass lets a signature out unless the gate is shut. The caller calls done once the signature is out of its hands.
func (g *Gate) Pass() (done func(), f Freeze, frozen bool, err error) {
	if f, frozen, err = g.Frozen(); frozen || err != nil {
		return nil, f, frozen, err // nobody who comes after a freeze keeps a command waiting
	}
	if err := g.enter(); err != nil {
		return nil, f, false, err
	}
	if f, frozen, err = g.Frozen(); frozen || err != nil {
		g.leave()
		return nil, f, frozen, err
	}
	return sync.OnceFunc(g.leave), f, false, nil
}

// PassShut is Pass of a gate that is shut, for what a compromise order allows.
func (g *Gate) PassShut() (done func(), err error) {
	if err := g.enter(); err != nil {
		return nil, err
	}
	return sync.OnceFunc(g.leave), nil
}

func (g *Gate) enter() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.inside == 0 && g.file != nil {
		if err := patiently(gateTime, func() error { return share(g.file) }); err != nil {
			return fmt.Errorf("pass the gate of the signer's state file: %w", err)
		}
	}
	g.inside++
	return nil
}

func (g *Gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.inside--; g.inside == 0 && g.file != nil {
		unshare(g.file)
	}
}

// Shut freezes at once, and then makes the freeze durable. After an error it holds until the process ends.
func (g *Gate) Shut(f Freeze) error {
	g.mu.Lock()
	if g.shut == nil {
		g.shut = &f
	}
	g.mu.Unlock()
	if g.marker == "" {
		return nil
	}
	if err := mark(g.marker, f); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = nil // the marker holds it from now on, and is what a thaw removes
	return nil
}

// forget ends a freeze that no marker file holds, of a memory that ends with the process.
func (g *Gate) forget() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.marker == "" {
		g.shut = nil
	}
}

func (g *Gate) close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.file == nil {
		return nil
	}
	err := g.file.Close()
	g.file = nil
	return err
}

// gateTime bounds how long one side waits for the other: a command for answers on their way out, of which each is
// bounded to AnswerTime, and a signer for a command that looks at the marker.
const gateTime = 10 * time.Second

// AnswerTime is the most that handing over one signature may take.
const AnswerTime = 5 * time.Second

// ErrLeaving is returned by Stop if a signature was still on its way out.
var ErrLeaving = errors.New("the signer is frozen, but was still handing out what it had signed before: stop its " +
	"process")

// Stop freezes the signer of a state file, while it runs or not, and without its database. When it returns nil, the
// freeze is durable and nothing that was signed before is on its way out any more. Freeze enters it into the state.
func Stop(path string, f Freeze) error {
	if err := mark(path+markerSuffix, f); err != nil {
		return err
	}
	return alone(path, gateTime, func() error { return nil })
}

// alone runs f while nothing leaves a signer. Where no signer ever ran, nothing does.
func alone(path string, wait time.Duration, f func() error) (err error) {
	file, err := os.OpenFile(path+gateSuffix, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return f()
	}
	if err != nil {
		return fmt.Errorf("open the gate of the signer's state file: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	err = patiently(wait, func() error { return exclude(file) })
	if errors.Is(err, ErrLocked) {
		return ErrLeaving
	}
	if err != nil {
		return fmt.Errorf("wait for what leaves the signer: %w", err)
	}
	return f()
}

// patiently repeats f while another process holds the lock.
func patiently(limit time.Duration, f func() error) error {
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for end := time.Now().Add(limit); ; <-again.C {
		if err := f(); !errors.Is(err, ErrLocked) || time.Now().After(end) {
			return err
		}
	}
}
