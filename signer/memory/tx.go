package memory

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/bursar/bursar"
)

// sqlTx is a transaction on a File.
type sqlTx struct {
	tx   *sql.Tx
	file *File
	step func(what string) error

	raiseTo       uint64 // what the counter of the file must hold after the commit; 0: it stays as it is
	unlockCounter func() error
}

// release gives up the counter's lock, once the transaction has ended.
func (tx *sqlTx) release() {
	if tx.unlockCounter != nil {
		_ = tx.unlockCounter() // which closes a file that was only locked
	}
}

// rows is what the scans below need of a row.
type rows interface{ Scan(to ...any) error }

func (tx *sqlTx) exec(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if tx.step != nil {
		if err := tx.step(query); err != nil {
			return nil, err
		}
	}
	done, err := tx.tx.ExecContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("write the signer's state: %w", err)
	}
	return done, nil
}

// one reads one row, and reports whether there is one.
func (tx *sqlTx) one(ctx context.Context, query string, args []any, to ...any) (bool, error) {
	err := tx.tx.QueryRowContext(ctx, query, args...).Scan(to...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read the signer's state: %w", err)
	}
	return true, nil
}

func (tx *sqlTx) all(ctx context.Context, query string, args []any, scan func(r rows) error) error {
	found, err := tx.tx.QueryContext(ctx, query, args...)
	if err != nil {
		return fmt.Errorf("read the signer's state: %w", err)
	}
	defer found.Close()
	for found.Next() {
		if err := scan(found); err != nil {
			return fmt.Errorf("read the signer's state: %w", err)
		}
	}
	if err := found.Err(); err != nil {
		return fmt.Errorf("read the signer's state: %w", err)
	}
	return nil
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func timeOf(millis int64) time.Time {
	if millis == 0 {
		return time.Time{}
	}
	return time.UnixMilli(millis).UTC()
}

// begin writes the first state and the first entry of the log.
func (tx *sqlTx) begin(ctx context.Context, begin Init) error {
	instance := newInstance()
	if err := tx.setState(ctx, begin, instance); err != nil {
		return err
	}
	_, err := tx.Append(ctx, begin.At, KindInit,
		detail(map[string]any{"instance": instance, "fingerprint": begin.Fingerprint, "cold": begin.Cold, "new": begin.New}))
	return err
}

func (tx *sqlTx) setState(ctx context.Context, begin Init, instance string) error {
	cold := int64(0)
	if begin.Cold {
		cold = millis(begin.At)
	}
	_, err := tx.exec(ctx, `INSERT OR REPLACE INTO state(one, instance, fingerprint, high_water, cold_since)
		VALUES (1, ?, ?, ?, ?)`, instance, begin.Fingerprint, millis(begin.At), cold)
	return err
}

// State implements Tx.
func (tx *sqlTx) State(ctx context.Context) (s State, err error) {
	var high, cold int64
	found, err := tx.one(ctx, `SELECT instance, fingerprint, high_water, cold_since FROM state`, nil, &s.Instance,
		&s.Fingerprint, &high, &cold)
	if err == nil && !found {
		err = fmt.Errorf("%w: the row of table state is missing", ErrOtherSigner)
	}
	s.HighWater, s.ColdSince = timeOf(high), timeOf(cold)
	return s, err
}

// SetHighWater implements Tx.
func (tx *sqlTx) SetHighWater(ctx context.Context, at time.Time) error {
	_, err := tx.exec(ctx, `UPDATE state SET high_water = max(high_water, ?)`, millis(at))
	return err
}

// UTXO implements Tx.
func (tx *sqlTx) UTXO(ctx context.Context, chain bursar.ChainID, outpoint string) (UTXO, bool, error) {
	u, seen := UTXO{Outpoint: outpoint}, int64(0)
	found, err := tx.one(ctx, `SELECT amount, script, first_seen FROM utxos WHERE chain = ? AND outpoint = ?`,
		[]any{string(chain), outpoint}, &u.Amount, &u.Script, &seen)
	u.FirstSeen = timeOf(seen)
	return u, found, err
}

// AddUTXO implements Tx.
func (tx *sqlTx) AddUTXO(ctx context.Context, chain bursar.ChainID, u UTXO) error {
	_, err := tx.exec(ctx, `INSERT INTO utxos(chain, outpoint, amount, script, first_seen) VALUES (?, ?, ?, ?, ?)`,
		string(chain), u.Outpoint, u.Amount, u.Script, millis(u.FirstSeen))
	return err
}

// Freezes implements Tx.
func (tx *sqlTx) Freezes(ctx context.Context) (list []Freeze, err error) {
	err = tx.all(ctx, `SELECT at, who, why FROM freezes WHERE thawed_at IS NULL ORDER BY id`, nil, func(r rows) error {
		var f Freeze
		var at int64
		err := r.Scan(&at, &f.Who, &f.Why)
		f.At = timeOf(at)
		list = append(list, f)
		return err
	})
	return list, err
}

// AddFreeze implements Tx.
func (tx *sqlTx) AddFreeze(ctx context.Context, f Freeze) error {
	_, err := tx.exec(ctx, `INSERT INTO freezes(at, who, why) VALUES (?, ?, ?)`, millis(f.At), f.Who, f.Why)
	return err
}

// Thaw implements Tx.
func (tx *sqlTx) Thaw(ctx context.Context, at time.Time, who, why string) (int, error) {
	done, err := tx.exec(ctx, `UPDATE freezes SET thawed_at = ?, thawed_who = ?, thawed_why = ? WHERE thawed_at IS NULL`,
		millis(at), who, why)
	if err == nil {
		err = tx.endCompromise(ctx, at)
	}
	if err != nil {
		return 0, err
	}
	n, err := done.RowsAffected()
	return int(n), err
}

const entryColumns = `number, at, kind, detail, hash`

func scanEntry(e *Entry, at *int64, hash *[]byte) []any {
	return []any{&e.Number, at, &e.Kind, &e.Detail, hash}
}

func (tx *sqlTx) entry(ctx context.Context, where string, args ...any) (e Entry, found bool, err error) {
	var at int64
	var hash []byte
	found, err = tx.one(ctx, `SELECT `+entryColumns+` FROM log `+where, args, scanEntry(&e, &at, &hash)...)
	if err != nil || !found {
		return e, found, err
	}
	if len(hash) != sha256.Size {
		return e, true, fmt.Errorf("%w: entry %d of its log has no hash", ErrOtherSigner, e.Number)
	}
	e.At, e.Hash = timeOf(at), [sha256.Size]byte(hash)
	return e, true, nil
}

// Head implements Tx.
func (tx *sqlTx) Head(ctx context.Context) (Entry, error) {
	e, _, err := tx.entry(ctx, `ORDER BY number DESC LIMIT 1`)
	return e, err
}

// Entry implements Tx.
func (tx *sqlTx) Entry(ctx context.Context, number int64) (Entry, bool, error) {
	return tx.entry(ctx, `WHERE number = ?`, number)
}

// Append implements Tx.
func (tx *sqlTx) Append(ctx context.Context, at time.Time, kind, detail string) (Entry, error) {
	head, err := tx.Head(ctx)
	if err != nil {
		return Entry{}, err
	}
	if err := tx.advance(ctx); err != nil {
		return Entry{}, err
	}
	e := head.Next(at, kind, detail)
	_, err = tx.exec(ctx, `INSERT INTO log(`+entryColumns+`) VALUES (?, ?, ?, ?, ?)`, e.Number, millis(e.At), e.Kind,
		e.Detail, e.Hash[:])
	return e, err
}
