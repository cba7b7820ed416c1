package memory

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	_ "modernc.org/sqlite" // the driver

	"github.com/bursar/bursar/durable"
)

// File is a memory in an SQLite file. Every commit is synced to the disk.
type File struct {
	path   string
	db     *sql.DB
	mu     sync.Mutex
	gate   *Gate
	unlock func() error
	step   func(what string) error // see OnStep

	counter Counter // see Guard; nil: the file is bound to none, or what is written does not raise it
	owes    bool    // the counter may not have been raised to what was committed
}

var _ Keeper = (*File)(nil)

// Init is what a memory begins with.
type Init struct {
	Fingerprint string // of the seed
	At          time.Time
	Cold        bool // something may have been signed with the seed before, so that every window counts as full
	New         bool // nothing was ever signed with the seed, since it was made just now; see Tx.WholeFrom
}

// Create creates a memory at a path where none is. A file without tables, as a creation leaves that was cut off, counts
// as none. The error is ErrExists, or one of the file.
func Create(ctx context.Context, path string, begin Init) (err error) {
	unlock, err := lock(path + lockSuffix)
	if err != nil {
		return fmt.Errorf("lock %s: %w", path, err)
	}
	defer func() { err = errors.Join(err, unlock()) }()
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) // SQLite's own files take its permissions
	if err != nil {
		return fmt.Errorf("create the signer's state file: %w", err)
	}
	if err := file.Close(); err != nil {
		return fmt.Errorf("create the signer's state file: %w", err)
	}
	f, err := connect(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	err = f.do(ctx, func(tx *sqlTx) error {
		at, err := version(ctx, tx.tx)
		if err != nil {
			return err
		}
		if at != 0 {
			return fmt.Errorf("%w: %s", ErrExists, path)
		}
		if err := migrate(ctx, tx.tx, 0); err != nil {
			return err
		}
		return tx.begin(ctx, begin)
	})
	if err != nil {
		return fmt.Errorf("create the signer's state file: %w", err)
	}
	return durable.SyncFolder(filepath.Dir(path))
}

const lockSuffix = ".lock"

// Open opens a memory for a signer, brings its schema up to date and locks it. The error is ErrMissing, ErrLocked,
// ErrOtherSigner, or one of the file.
func Open(ctx context.Context, path, fingerprint string) (*File, error) {
	unlock, err := lock(path + lockSuffix)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	f, err := open(ctx, path, func() error { return nil })
	if err != nil {
		return nil, errors.Join(err, unlock())
	}
	f.unlock = unlock
	gate, err := openGate(path)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	f.gate = gate
	state, err := stateOf(ctx, f)
	if err == nil && state.Fingerprint != fingerprint {
		err = fmt.Errorf("%w: %s belongs to the seed with fingerprint %s", ErrOtherSigner, path, state.Fingerprint)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Join opens a memory beside a running signer, for a command that thaws or reads. It brings the schema up to date only
// where no signer runs. The error is ErrMissing, ErrOtherSigner, ErrOlder, or one of the file.
func Join(ctx context.Context, path string) (*File, error) {
	return open(ctx, path, func() error {
		unlock, err := lock(path + lockSuffix)
		if errors.Is(err, ErrLocked) {
			return ErrOlder
		}
		if err != nil {
			return fmt.Errorf("lock %s: %w", path, err)
		}
		return unlock() // a signer of this release that starts now would write the same
	})
}

// open opens a memory. It asks before it changes the schema.
func open(ctx context.Context, path string, mayMigrate func() error) (*File, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return nil, fmt.Errorf("%w: %s", ErrMissing, path)
	}
	if err != nil {
		return nil, fmt.Errorf("open the signer's state file: %w", err)
	}
	f, err := connect(path)
	if err != nil {
		return nil, err
	}
	err = f.do(ctx, func(tx *sqlTx) error {
		at, err := version(ctx, tx.tx)
		if err == nil && at == 0 {
			err = fmt.Errorf("%w: %s is empty", ErrMissing, path)
		}
		if err != nil || at == len(migrations) {
			return err
		}
		if at < len(migrations) {
			if err := mayMigrate(); err != nil {
				return err
			}
		}
		return migrate(ctx, tx.tx, at)
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the signer's state file: %w", err), f.Close())
	}
	return f, nil
}

func connect(path string) (*File, error) {
	options := url.Values{
		"mode":    {"rw"},
		"_txlock": {"immediate"},
		"_pragma": {"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)"},
	}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+options.Encode())
	if err != nil {
		return nil, fmt.Errorf("open the signer's state file: %w", err)
	}
	db.SetMaxOpenConns(1)
	return &File{path: path, db: db, gate: &Gate{marker: path + markerSuffix}}, nil
}

// OnStep sets what is called before each statement that writes, and before ("commit") and after ("committed") each
// commit; its error ends the transaction there. For tests of crashes.
func (f *File) OnStep(step func(what string) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.step = step
}

// Do implements Keeper.
func (f *File) Do(ctx context.Context, work func(tx Tx) error) error {
	return f.do(ctx, func(tx *sqlTx) error { return work(tx) })
}

func (f *File) do(ctx context.Context, work func(tx *sqlTx) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	tx, err := f.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("use the signer's state file: %w", err)
	}
	defer tx.Rollback()
	t := &sqlTx{tx: tx, file: f, step: f.step}
	defer t.release()
	if f.owes { // nothing that was committed may be used before
		if err := t.settle(ctx, f.counter); err != nil {
			return err
		}
		f.owes = false
	}
	if err := work(t); err != nil {
		return err
	}
	if err := f.at("commit"); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("write the signer's state file: %w", err)
	}
	f.owes = t.raiseTo > 0
	if err := f.at("committed"); err != nil || !f.owes {
		return err
	}
	if err := raise(context.WithoutCancel(ctx), f.counter, t.raiseTo); err != nil {
		return err
	}
	f.owes = false
	return nil
}

func (f *File) at(what string) error {
	if f.step == nil {
		return nil
	}
	return f.step(what)
}

// Gate implements Keeper.
func (f *File) Gate() *Gate { return f.gate }

// Close implements Keeper.
func (f *File) Close() error {
	err := errors.Join(f.db.Close(), f.gate.close())
	if f.unlock != nil {
		err = errors.Join(err, f.unlock())
		f.unlock = nil
	}
	return err
}

// BeginAgain says that the memory at a path may be incomplete, because it was set back to an older copy or because its
// clock was wrong: it gets a new instance, its latest time is begin.At, and with begin.Cold every window counts as full
// until it has passed. What was counted while the clock was ahead of begin.At counts from begin.At on: it was signed
// before, so it leaves no window too early. No signer may use the memory meanwhile.
func BeginAgain(ctx context.Context, path string, begin Init, who, why string) (err error) {
	f, err := Open(ctx, path, begin.Fingerprint)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return f.do(ctx, func(tx *sqlTx) error {
		if err := tx.setState(ctx, begin, newInstance()); err != nil {
			return err
		}
		// What waits or is in force was for the state before; the freeze stays.
		if err := errors.Join(tx.endCompromise(ctx, begin.At), tx.EndWaitingThaw(ctx)); err != nil {
			return err
		}
		dated, err := tx.datedBack(ctx, begin.At)
		if err != nil {
			return err
		}
		_, err = tx.Append(ctx, begin.At, KindBegin,
			detail(map[string]any{"who": who, "why": why, "cold": begin.Cold, "dated": dated}))
		return err
	})
}

// newInstance returns a random name.
func newInstance() string { return rand.Text() }

func detail(of map[string]any) string {
	text, err := json.Marshal(of)
	if err != nil {
		panic("signer/memory: " + err.Error()) // maps of texts and numbers
	}
	return string(text)
}

func stateOf(ctx context.Context, k Keeper) (s State, err error) {
	err = k.Do(ctx, func(tx Tx) error {
		s, err = tx.State(ctx)
		return err
	})
	return s, err
}
