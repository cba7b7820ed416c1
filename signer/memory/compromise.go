package memory

import (
	"context"
	"time"
)

// Compromises is the part of a transaction about compromise orders. That an order was used is a nonce, which an export
// has; that one is in force allows something, so an export does not have it.
type Compromises interface {
	// Compromise returns the compromise order that is in force.
	Compromise(ctx context.Context) (c Compromise, found bool, err error)
	// BeginCompromise puts an order in force. A thaw ends it. While one is in force, another is an error.
	BeginCompromise(ctx context.Context, c Compromise) error
	// Drilled returns the compromise order that was drilled last.
	Drilled(ctx context.Context) (c Compromise, found bool, err error)
	// SetDrilled remembers which order was drilled, instead of the one before.
	SetDrilled(ctx context.Context, c Compromise) error
}

// Compromise is a compromise order that was used, or drilled.
type Compromise struct {
	Text string // without signatures: nobody can use it with what is here
	At   time.Time
}

// compromiseSchema is a migration of the file.
const compromiseSchema = `
CREATE TABLE compromises (
	id INTEGER PRIMARY KEY,
	text TEXT NOT NULL,
	at INTEGER NOT NULL,
	ended_at INTEGER
) STRICT;
CREATE UNIQUE INDEX compromise_in_force ON compromises((1)) WHERE ended_at IS NULL;
CREATE TABLE compromise_drill (
	one INTEGER PRIMARY KEY CHECK (one = 1),
	text TEXT NOT NULL,
	at INTEGER NOT NULL
) STRICT;
`

func (tx *sqlTx) compromise(ctx context.Context, query string) (c Compromise, found bool, err error) {
	var at int64
	found, err = tx.one(ctx, query, nil, &c.Text, &at)
	c.At = timeOf(at)
	return c, found, err
}

// Compromise implements Tx.
func (tx *sqlTx) Compromise(ctx context.Context) (Compromise, bool, error) {
	return tx.compromise(ctx, `SELECT text, at FROM compromises WHERE ended_at IS NULL`)
}

// BeginCompromise implements Tx.
func (tx *sqlTx) BeginCompromise(ctx context.Context, c Compromise) error {
	_, err := tx.exec(ctx, `INSERT INTO compromises(text, at) VALUES (?, ?)`, c.Text, millis(c.At))
	return err
}

// endCompromise ends the order that is in force.
func (tx *sqlTx) endCompromise(ctx context.Context, at time.Time) error {
	_, err := tx.exec(ctx, `UPDATE compromises SET ended_at = ? WHERE ended_at IS NULL`, millis(at))
	return err
}

// Drilled implements Tx.
func (tx *sqlTx) Drilled(ctx context.Context) (Compromise, bool, error) {
	return tx.compromise(ctx, `SELECT text, at FROM compromise_drill`)
}

// SetDrilled implements Tx.
func (tx *sqlTx) SetDrilled(ctx context.Context, c Compromise) error {
	_, err := tx.exec(ctx, `INSERT OR REPLACE INTO compromise_drill(one, text, at) VALUES (1, ?, ?)`, c.Text, millis(c.At))
	return err
}

// ramCompromises is what a RAM remembers of compromise orders.
type ramCompromises struct{ inForce, drilled *Compromise }

func known(c *Compromise) (Compromise, bool, error) {
	if c == nil {
		return Compromise{}, false, nil
	}
	return *c, true, nil
}

// Compromise implements Tx.
func (m ramTx) Compromise(context.Context) (Compromise, bool, error) {
	return known(m.compromises.inForce)
}

// BeginCompromise implements Tx.
func (m ramTx) BeginCompromise(_ context.Context, c Compromise) error {
	m.RAM.compromises.inForce = &c
	return nil
}

// Drilled implements Tx.
func (m ramTx) Drilled(context.Context) (Compromise, bool, error) {
	return known(m.compromises.drilled)
}

// SetDrilled implements Tx.
func (m ramTx) SetDrilled(_ context.Context, c Compromise) error {
	m.RAM.compromises.drilled = &c
	return nil
}
