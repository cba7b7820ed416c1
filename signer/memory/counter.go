package memory

import (
	"context"
	"errors"
	"fmt"
)

// Counter is a counter outside of the file, as in a TPM, that only rises. No copy of the file takes it back.
type Counter interface {
	// Name says which it is.
	Name() string
	// Value returns what it holds.
	Value(ctx context.Context) (uint64, error)
	// Raise raises it by one and returns what it then holds.
	Raise(ctx context.Context) (uint64, error)
}

// Errors of a file that is bound to a counter.
var (
	ErrSetBack = errors.New("the signer's state file is older than the counter that it is bound to: an older copy was " +
		"put back, or another signer uses a copy of it, or the machine lost its power without shutting its TPM down")
	ErrCounter = errors.New("the signer's state file is bound to another counter than there is here: it is of another " +
		"machine, or the TPM was cleared or replaced")
	ErrUnbound = errors.New("the signer's state file is bound to no counter")
)

// counterSchema is a migration of the file. The value is what the counter must hold while the file is the newest.
const counterSchema = `
CREATE TABLE counter (
	one INTEGER PRIMARY KEY CHECK (one = 1),
	name TEXT NOT NULL,
	value INTEGER NOT NULL
) STRICT;
`

// counterSuffix names the lock under which the file and its counter move on together.
const counterSuffix = ".counter"

// mostAhead is how far the file may be ahead of its counter: as many entries were cut off before they raised it. What
// is ahead has forgotten nothing.
const mostAhead = 256

// binding is what a file says of its counter.
type binding struct {
	name  string
	value uint64
}

// Bound returns the name of the counter that a file is bound to; "" is none.
func (f *File) Bound(ctx context.Context) (name string, err error) {
	err = f.do(ctx, func(tx *sqlTx) error {
		b, _, err := tx.binding(ctx)
		name = b.name
		return err
	})
	return name, err
}

// Guard has a file that is bound to a counter raise it with each entry of the log from now on, and compares both: the
// file may not be behind. open returns the counter of a name. A file that is not bound stays as it is. The error is
// ErrSetBack, ErrCounter, or one of the counter or of the file.
//
// The attack: anyone who puts an older copy of the file back, in good faith too, makes the signer forget what it signed
// since. The log shows that only to a service that is honest and saw its newest entry; the counter shows it to the
// signer alone. Two signers on two copies are found as well: each raises what the other compares.
func (f *File) Guard(ctx context.Context, open func(name string) (Counter, error)) (err error) {
	name, err := f.Bound(ctx)
	if err != nil || name == "" {
		return err
	}
	counter, err := open(name)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCounter, err)
	}
	return f.do(ctx, func(tx *sqlTx) error {
		if err := tx.settle(ctx, counter); err != nil {
			return err
		}
		f.counter = counter // what runs do holds its lock
		return nil
	})
}

// settle compares the counter with the file, and raises it to what was committed before. It takes the locks in the
// order of every writer: first the file's, then the counter's.
//
// The attack: a TPM that fails, or a signer that is killed, after the commit and before the counter was raised. The
// same bytes are known then and are signed without another entry, while the copy from before the commit still opens.
func (tx *sqlTx) settle(ctx context.Context, counter Counter) (err error) {
	b, bound, err := tx.binding(ctx)
	if err != nil || !bound {
		return err
	}
	if tx.unlockCounter, err = tx.file.lockCounter(); err != nil {
		return err
	}
	holds, err := compare(ctx, counter, b.value)
	if err != nil || holds == b.value {
		return err
	}
	return raise(context.WithoutCancel(ctx), counter, b.value)
}

// compare refuses a counter that a file is behind, or too far ahead of.
func compare(ctx context.Context, counter Counter, value uint64) (holds uint64, err error) {
	holds, err = counter.Value(ctx)
	switch {
	case err != nil:
		return holds, fmt.Errorf("%w: %w", ErrCounter, err)
	case holds > value:
		return holds, fmt.Errorf("%w: the counter %s holds %d, the file says %d", ErrSetBack, counter.Name(), holds, value)
	case value-holds > mostAhead:
		return holds, fmt.Errorf("%w: the counter %s holds %d, the file says %d", ErrCounter, counter.Name(), holds, value)
	}
	return holds, nil
}

// raise raises the counter to what was committed. Nothing that was committed may be used before it has returned nil: a
// copy from before the commit is refused from then on.
func raise(ctx context.Context, counter Counter, value uint64) error {
	for range mostAhead + 1 {
		holds, err := counter.Raise(ctx)
		switch {
		case err != nil:
			return fmt.Errorf("%w: %w", ErrCounter, err)
		case holds == value:
			return nil
		case holds > value:
			return fmt.Errorf("%w: the counter %s holds %d, the file says %d", ErrSetBack, counter.Name(), holds, value)
		}
	}
	return fmt.Errorf("%w: the counter %s stays behind %d", ErrCounter, counter.Name(), value)
}

func (f *File) lockCounter() (unlock func() error, err error) {
	err = patiently(gateTime, func() error {
		unlock, err = lock(f.path + counterSuffix)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("lock the counter of the signer's state file: %w", err)
	}
	return unlock, nil
}

// binding returns what the file says of its counter, if it is bound to one.
func (tx *sqlTx) binding(ctx context.Context) (b binding, bound bool, err error) {
	var value int64
	bound, err = tx.one(ctx, `SELECT name, value FROM counter`, nil, &b.name, &value)
	b.value = uint64(value)
	return b, bound, err
}

// advance notes that the counter of a bound file is to be raised once the transaction is committed. It takes the
// counter's lock, so that what other processes commit to the file raises the counter in the order of the commits.
//
// What is written without the counter does not move the file's value: a copy that was set back by some entries would
// else be the newest again after as many freezes and thaws, whose commands go on where the counter refuses the file.
func (tx *sqlTx) advance(ctx context.Context) error {
	if tx.file.counter == nil {
		return nil
	}
	b, bound, err := tx.binding(ctx)
	if err != nil || !bound || tx.raiseTo > 0 {
		return err
	}
	if tx.unlockCounter == nil {
		if tx.unlockCounter, err = tx.file.lockCounter(); err != nil {
			return err
		}
	}
	tx.raiseTo = b.value + 1
	_, err = tx.exec(ctx, `UPDATE counter SET value = ?`, int64(tx.raiseTo))
	return err
}

// Bind binds a memory to a counter from now on, whatever it was bound to before; nil: to none. It says that the file is
// the newest there is, so it is for a file that was begun again or that no signer has used since. No signer may use it
// meanwhile. The error is as of Open, or one of the counter.
func Bind(ctx context.Context, path string, now Init, counter Counter, who, why string) (err error) {
	f, err := Open(ctx, path, now.Fingerprint)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	name := ""
	if counter != nil {
		name = counter.Name()
	}
	return f.do(ctx, func(tx *sqlTx) error {
		if _, err := tx.exec(ctx, `DELETE FROM counter`); err != nil {
			return err
		}
		_, err := tx.Append(ctx, now.At, KindCounter, detail(map[string]any{"who": who, "why": why, "counter": name}))
		if err != nil || counter == nil {
			return err
		}
		if tx.unlockCounter, err = f.lockCounter(); err != nil { // a command beside raises it too
			return err
		}
		value, err := counter.Value(ctx)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrCounter, err)
		}
		_, err = tx.exec(ctx, `INSERT INTO counter(one, name, value) VALUES (1, ?, ?)`, name, int64(value+1))
		f.counter, tx.raiseTo = counter, value+1
		return err
	})
}
