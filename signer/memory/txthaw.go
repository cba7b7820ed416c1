package memory

import "context"

// thawsSchema is a migration of the file.
const thawsSchema = `
CREATE TABLE waiting_thaw (
	one INTEGER PRIMARY KEY CHECK (one = 1),
	since INTEGER NOT NULL,
	at INTEGER NOT NULL,
	who TEXT NOT NULL,
	why TEXT NOT NULL,
	mark TEXT NOT NULL
) STRICT;
CREATE TABLE thawed_mark (
	one INTEGER PRIMARY KEY CHECK (one = 1),
	mark TEXT NOT NULL
) STRICT;
`

// WaitingThaw implements Tx.
func (tx *sqlTx) WaitingThaw(ctx context.Context) (t WaitingThaw, found bool, err error) {
	var since, at int64
	found, err = tx.one(ctx, `SELECT since, at, who, why, mark FROM waiting_thaw`, nil, &since, &at, &t.Who, &t.Why,
		&t.Mark)
	t.Since, t.At = timeOf(since), timeOf(at)
	return t, found, err
}

// AddWaitingThaw implements Tx.
func (tx *sqlTx) AddWaitingThaw(ctx context.Context, t WaitingThaw) error {
	_, err := tx.exec(ctx, `INSERT INTO waiting_thaw(one, since, at, who, why, mark) VALUES (1, ?, ?, ?, ?, ?)`,
		millis(t.Since), millis(t.At), t.Who, t.Why, t.Mark)
	return err
}

// EndWaitingThaw implements Tx.
func (tx *sqlTx) EndWaitingThaw(ctx context.Context) error {
	_, err := tx.exec(ctx, `DELETE FROM waiting_thaw`)
	return err
}

// ThawedMark implements Tx.
func (tx *sqlTx) ThawedMark(ctx context.Context) (mark string, err error) {
	_, err = tx.one(ctx, `SELECT mark FROM thawed_mark`, nil, &mark)
	return mark, err
}

// SetThawedMark implements Tx.
func (tx *sqlTx) SetThawedMark(ctx context.Context, mark string) error {
	_, err := tx.exec(ctx, `INSERT OR REPLACE INTO thawed_mark(one, mark) VALUES (1, ?)`, mark)
	return err
}

// ramThaws is what a RAM remembers of thaws.
type ramThaws struct {
	waiting *WaitingThaw
	mark    string
}

// WaitingThaw implements Tx.
func (m ramTx) WaitingThaw(context.Context) (t WaitingThaw, found bool, err error) {
	if m.thaws.waiting == nil {
		return t, false, nil
	}
	return *m.thaws.waiting, true, nil
}

// AddWaitingThaw implements Tx.
func (m ramTx) AddWaitingThaw(_ context.Context, t WaitingThaw) error {
	m.RAM.thaws.waiting = &t
	return nil
}

// EndWaitingThaw implements Tx.
func (m ramTx) EndWaitingThaw(context.Context) error {
	m.RAM.thaws.waiting = nil
	return nil
}

// ThawedMark implements Tx.
func (m ramTx) ThawedMark(context.Context) (string, error) { return m.thaws.mark, nil }

// SetThawedMark implements Tx.
func (m ramTx) SetThawedMark(_ context.Context, mark string) error {
	m.RAM.thaws.mark = mark
	return nil
}
