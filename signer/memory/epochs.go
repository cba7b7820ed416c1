package memory

import (
	"context"
	"time"
)

// Epochs is the part of a transaction about the seeds that followed the first.
type Epochs interface {
	// Epochs returns the epochs that have begun after the first, oldest first. BeginAgain keeps them.
	Epochs(ctx context.Context) ([]Epoch, error)
	// AddEpoch remembers that an epoch has begun. One that is remembered already is an error.
	AddEpoch(ctx context.Context, e Epoch) error
	// EpochEntries returns the entries of the log about epochs that have begun, oldest first. After BeginAgain the log
	// has none of those before.
	EpochEntries(ctx context.Context) ([]Entry, error)
}

// Epoch is a seed that took over the hot wallet.
type Epoch struct {
	Number      uint32    `json:"number"`      // from 1 on
	Fingerprint string    `json:"fingerprint"` // of its seed
	Begun       time.Time `json:"begun"`
}

// epochsSchema is a migration of the file. Of earlier flows it is not known what they pay: none of them can be replaced
// once their epoch has ended.
const epochsSchema = `
CREATE TABLE epochs (
	number INTEGER PRIMARY KEY CHECK (number > 0),
	fingerprint TEXT NOT NULL,
	at INTEGER NOT NULL
) STRICT;
ALTER TABLE flows ADD COLUMN pays TEXT NOT NULL DEFAULT '';
`

// epochEntriesSchema is a migration of the file: each service asks for these entries whenever it asks which keys there
// are, and of a log of millions they are a few.
const epochEntriesSchema = `
CREATE INDEX log_of_epochs ON log(number) WHERE kind = 'epoch';
`

// epochEntries names the kind, so that the index of it serves (SQLite, partialindex.html, 2).
const epochEntries = ` FROM log WHERE kind = '` + KindEpoch + `' ORDER BY number`

// Epochs implements Tx.
func (tx *sqlTx) Epochs(ctx context.Context) (list []Epoch, err error) {
	err = tx.all(ctx, `SELECT number, fingerprint, at FROM epochs ORDER BY number`, nil, func(r rows) error {
		var e Epoch
		var at int64
		err := r.Scan(&e.Number, &e.Fingerprint, &at)
		e.Begun = timeOf(at)
		list = append(list, e)
		return err
	})
	return list, err
}

// AddEpoch implements Tx.
func (tx *sqlTx) AddEpoch(ctx context.Context, e Epoch) error {
	_, err := tx.exec(ctx, `INSERT INTO epochs(number, fingerprint, at) VALUES (?, ?, ?)`, e.Number, e.Fingerprint,
		millis(e.Begun))
	return err
}

// EpochEntries implements Tx.
func (tx *sqlTx) EpochEntries(ctx context.Context) (list []Entry, err error) {
	err = tx.all(ctx, `SELECT `+entryColumns+epochEntries, nil, func(r rows) error {
		var e Entry
		var at int64
		var hash []byte
		err := r.Scan(scanEntry(&e, &at, &hash)...)
		e.At = timeOf(at)
		copy(e.Hash[:], hash)
		list = append(list, e)
		return err
	})
	return list, err
}

// Epochs implements Tx.
func (m ramTx) Epochs(context.Context) ([]Epoch, error) {
	return append([]Epoch(nil), m.epochs...), nil
}

// AddEpoch implements Tx.
func (m ramTx) AddEpoch(_ context.Context, e Epoch) error {
	m.epochs = append(m.epochs, e)
	return nil
}

// EpochEntries implements Tx.
func (m ramTx) EpochEntries(context.Context) (list []Entry, err error) {
	for _, e := range m.log {
		if e.Kind == KindEpoch {
			list = append(list, e)
		}
	}
	return list, nil
}
