package memory

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// Touch is one approval that a passkey gave, which counted for a payment.
type Touch struct {
	Passkey string // its key, as package passkey writes it
	Nonce   string // of the approval
	Made    time.Time
	Counter uint32 // of the passkey, never 0
}

// MostTouches is how many approvals of one passkey are remembered, the newest ones, besides the one with the highest
// counter. That one and the newest contradict whatever one of the forgotten would contradict, unless so many approvals
// of one passkey count within minutes of each other: what counts together rises, so a counter that is too low for one
// that was forgotten is too low for one that is remembered. Without the highest, two states that were merged could lose
// the very approval which shows that the passkey was copied.
const MostTouches = 1000

// touchesSchema is a migration of the file.
const touchesSchema = `
CREATE TABLE touches (
	passkey TEXT NOT NULL,
	nonce TEXT NOT NULL,
	made INTEGER NOT NULL,
	counter INTEGER NOT NULL,
	PRIMARY KEY (passkey, nonce)
) STRICT, WITHOUT ROWID;
`

// Touches implements Tx.
func (tx *sqlTx) Touches(ctx context.Context, passkey string) (list []Touch, err error) {
	err = tx.all(ctx, `SELECT nonce, made, counter FROM touches WHERE passkey = ? ORDER BY made, nonce`, []any{passkey},
		func(r rows) error {
			t := Touch{Passkey: passkey}
			var made int64
			err := r.Scan(&t.Nonce, &made, &t.Counter)
			t.Made = timeOf(made)
			list = append(list, t)
			return err
		})
	return list, err
}

// AddTouch implements Tx.
func (tx *sqlTx) AddTouch(ctx context.Context, t Touch) error {
	_, err := tx.exec(ctx, `INSERT INTO touches(passkey, nonce, made, counter) VALUES (?, ?, ?, ?)
		ON CONFLICT DO NOTHING`, t.Passkey, t.Nonce, millis(t.Made), int64(t.Counter))
	if err != nil {
		return err
	}
	_, err = tx.exec(ctx, `DELETE FROM touches WHERE passkey = ?1 AND nonce NOT IN
		(SELECT nonce FROM touches WHERE passkey = ?1 ORDER BY made DESC, nonce DESC LIMIT ?2) AND nonce <>
		(SELECT nonce FROM touches WHERE passkey = ?1 ORDER BY counter DESC, made DESC, nonce DESC LIMIT 1)`,
		t.Passkey, MostTouches)
	return err
}

// Touches implements Tx.
func (m ramTx) Touches(_ context.Context, passkey string) ([]Touch, error) {
	return slices.Clone(m.people.touches[passkey]), nil
}

// AddTouch implements Tx.
func (m ramTx) AddTouch(_ context.Context, t Touch) error {
	if m.people.touches == nil {
		m.people.touches = map[string][]Touch{}
	}
	list := m.people.touches[t.Passkey]
	if slices.ContainsFunc(list, func(one Touch) bool { return one.Nonce == t.Nonce }) {
		return nil
	}
	list = append(list, t)
	slices.SortFunc(list, func(a, b Touch) int { return cmp.Or(a.Made.Compare(b.Made), cmp.Compare(a.Nonce, b.Nonce)) })
	m.people.touches[t.Passkey] = remembered(list)
	return nil
}

// remembered returns what is remembered of approvals, oldest first.
func remembered(list []Touch) []Touch {
	from := max(0, len(list)-MostTouches)
	highest := 0
	for i, t := range list {
		if t.Counter >= list[highest].Counter { // of two, the later one
			highest = i
		}
	}
	if highest < from {
		return append([]Touch{list[highest]}, list[from:]...)
	}
	return list[from:]
}
