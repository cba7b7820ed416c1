package store

import (
	"context"
	"crypto/hmac"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/bursar/bursar"
)

// ForgottenPayment is an outgoing transaction that was signed and that the database has forgotten, as the journal
// outside it says.
type ForgottenPayment struct {
	Chain      bursar.ChainID
	Number     int64 // of the signature
	OutgoingID bursar.ID
	Content    []byte // of the journal's entry
	Sure       bool   // nobody else can have signed another one that pays the same
	Error      string // why it could not be signed again yet
	Altered    bool   // somebody without the key of the books wrote or changed it: it must not be signed
	// KnownAs is the outgoing transaction that it became: itself if it was put back, another one if a block had it before
	// that. It is zero if it was given up, or put back by an earlier release.
	KnownAs bursar.ID
}

// sealForgotten returns the code that goes with a forgotten outgoing transaction, and covers whether it was put back.
// Every replica has the key.
func (k sealKey) sealForgotten(f ForgottenPayment, putBack bool) []byte {
	sum := k.sum("bursar forgotten spend v2")
	sum.text(string(f.Chain))
	sum.number(f.Number)
	sum.bytes(f.OutgoingID[:])
	sum.bytes(f.Content)
	sum.text(strconv.FormatBool(f.Sure))
	sum.text(strconv.FormatBool(putBack))
	sum.bytes(f.KnownAs[:])
	return sum.Sum([]byte(k.id))
}

// sealForgottenEarlier is sealForgotten of an earlier release. It does not say whether the transaction was put back,
// except where it is known as another one.
func (k sealKey) sealForgottenEarlier(f ForgottenPayment) []byte {
	sum := k.sum("bursar forgotten spend v1")
	sum.text(string(f.Chain))
	sum.number(f.Number)
	sum.bytes(f.OutgoingID[:])
	sum.bytes(f.Content)
	sum.text(strconv.FormatBool(f.Sure))
	if !f.KnownAs.IsZero() {
		sum.bytes(f.KnownAs[:])
	}
	return sum.Sum([]byte(k.id))
}

// Note keeps an outgoing transaction that is to be signed again and put back.
func (tx ForgottenPayments) Note(ctx context.Context, f ForgottenPayment) error {
	query, args := values{
		{"chain", string(f.Chain)},
		{"number", f.Number},
		{"outgoing_id", f.OutgoingID},
		{"content", string(f.Content)},
		{"noted_at", micros(tx.now)},
		{"sure", f.Sure},
		{"seal", tx.seal.sealForgotten(f, false)},
	}.insertInto("forgotten_payments")
	_, err := tx.exec(ctx, "note a forgotten outgoing transaction", query+` ON CONFLICT (chain, number) DO UPDATE SET
		outgoing_id = excluded.outgoing_id, content = excluded.content, noted_at = excluded.noted_at, sure = excluded.sure,
		seal = excluded.seal, put_back_at = 0, known_as = NULL`, args...)
	return err
}

// List returns what waits to be put back on a chain, in the order in which it was signed.
func (tx ForgottenPayments) List(ctx context.Context, chain bursar.ChainID, limit int) ([]ForgottenPayment, error) {
	return tx.After(ctx, chain, math.MinInt64, limit)
}

// After is List after a number.
func (tx ForgottenPayments) After(
	ctx context.Context, chain bursar.ChainID, number int64, limit int,
) ([]ForgottenPayment, error) {
	return rows(ctx, tx.Tx, "list forgotten outgoing transactions", tx.forgotten, forgottenPaymentColumns.query+
		`FROM forgotten_payments WHERE chain = $1 AND put_back_at = 0 AND number > $2 ORDER BY number LIMIT $3`,
		string(chain), number, limit)
}

// All is List without a limit: there is no more than the journals of all marks have.
func (tx ForgottenPayments) All(ctx context.Context, chain bursar.ChainID) ([]ForgottenPayment, error) {
	return tx.List(ctx, chain, math.MaxInt32)
}

// Name names a forgotten transaction by its place in the journal.
func (f ForgottenPayment) Name() string { return fmt.Sprintf("%s/%d", f.Chain, f.Number) }

// Ever names what was to be put back once, on any chain, whether it was since or not.
func (tx ForgottenPayments) Ever(ctx context.Context) ([]string, error) {
	return rows(ctx, tx.Tx, "list what was to be put back", func(s scanner) (name string, err error) {
		var f ForgottenPayment
		err = s.Scan(&f.Chain, &f.Number)
		return f.Name(), err
	}, `SELECT chain, number FROM forgotten_payments`)
}

// forgottenPayment is a forgotten transaction as the database keeps it.
type forgottenPayment struct {
	ForgottenPayment
	putBackAt int64
	seal      []byte
}

// verify notes whether somebody without the key wrote or changed a row. What an earlier release sealed counts as
// waiting: to put it back again harms nothing, unless what it paid is removed from the database. So it does not count
// as sure. As put back it counts only where the seal proves that it was.
func (f *forgottenPayment) verify(k sealKey) {
	putBack := f.putBackAt > 0
	if hmac.Equal(f.seal, k.sealForgotten(f.ForgottenPayment, putBack)) {
		return
	}
	f.Altered = putBack && f.KnownAs.IsZero() || !hmac.Equal(f.seal, k.sealForgottenEarlier(f.ForgottenPayment))
	f.Sure = false
}

var forgottenPaymentColumns = columnsOf([]column[forgottenPayment]{
	{"chain", func(f *forgottenPayment) any { return &f.Chain }},
	{"number", func(f *forgottenPayment) any { return &f.Number }},
	{"outgoing_id", func(f *forgottenPayment) any { return &f.OutgoingID }},
	{"content", func(f *forgottenPayment) any { return &f.Content }},
	{"sure", func(f *forgottenPayment) any { return &f.Sure }},
	{"error", func(f *forgottenPayment) any { return &f.Error }},
	{"known_as", func(f *forgottenPayment) any { return &f.KnownAs }},
	{"put_back_at", func(f *forgottenPayment) any { return &f.putBackAt }},
	{"seal", func(f *forgottenPayment) any { return &f.seal }},
})

func (tx *Tx) forgotten(s scanner) (ForgottenPayment, error) {
	f, err := forgottenPaymentColumns.scan(s)
	f.verify(tx.seal)
	return f.ForgottenPayment, err
}

// Any reports whether anything waits to be put back on a chain.
func (tx ForgottenPayments) Any(ctx context.Context, chain bursar.ChainID) (found bool, err error) {
	err = tx.row(ctx, "look for forgotten outgoing transactions",
		`SELECT EXISTS (SELECT 1 FROM forgotten_payments WHERE chain = $1 AND put_back_at = 0)`,
		[]any{string(chain)}, &found)
	return found, err
}

// ChainOf returns the chain of an outgoing transaction that waits to be put back, or ErrNotFound.
func (tx ForgottenPayments) ChainOf(ctx context.Context, outgoing bursar.ID) (chain bursar.ChainID, err error) {
	err = tx.row(ctx, "look up a forgotten outgoing transaction",
		`SELECT chain FROM forgotten_payments WHERE outgoing_id = $1 AND put_back_at = 0`, []any{outgoing}, &chain)
	return chain, err
}

// Left reports whether a forgotten outgoing transaction was dealt with, and as which other one it is known, if it is.
func (tx ForgottenPayments) Left(
	ctx context.Context, chain bursar.ChainID, number int64,
) (left bool, knownAs bursar.ID, err error) {
	found, err := rows(ctx, tx.Tx, "look up a forgotten outgoing transaction", tx.forgotten,
		forgottenPaymentColumns.query+`FROM forgotten_payments WHERE chain = $1 AND number = $2 AND put_back_at > 0`,
		string(chain), number)
	if err != nil || len(found) != 1 || found[0].Altered {
		return false, knownAs, err
	}
	return true, found[0].KnownAs, nil
}

// Behind returns what the journal said of an outgoing transaction that was put back, or that a forgotten one became:
// more than one entry if it was forgotten more than once.
func (tx ForgottenPayments) Behind(
	ctx context.Context, chain bursar.ChainID, outgoing bursar.ID,
) ([]ForgottenPayment, error) {
	return rows(ctx, tx.Tx, "read what the journal said of an outgoing transaction", tx.forgotten,
		forgottenPaymentColumns.query+`FROM forgotten_payments WHERE chain = $1 AND put_back_at > 0
		AND COALESCE(known_as, outgoing_id) = $2 ORDER BY number`, string(chain), outgoing)
}

// PaidAs returns the external spend that paid a withdrawal or made a refund, as the journal says, of which an operator
// has not said so: a forgotten transaction for it became one, or was put back under its own ID, and something that it
// paid is booked otherwise. One whose block was reorged out may be included again until it is abandoned, and one that
// failed may pay in another block until that is final. It returns ErrNotFound if there is none.
func (tx ForgottenPayments) PaidAs(ctx context.Context, order bursar.ID) (ExternalSpend, error) {
	return tx.paidAs(ctx, `content LIKE $1`, quoted(order))
}

// RefundedAs is PaidAs for the refund of a deposit. The journal has the refund by the deposit's ID, or by the
// transaction and output by which the deposit came: an older database reads the deposit again under another ID. An
// output is one of its asset: a transfer of a token may have the number of one of the native asset.
func (tx ForgottenPayments) RefundedAs(ctx context.Context, d bursar.Deposit) (ExternalSpend, error) {
	came := fmt.Sprintf(`%%"came":"%s/%d","currency":"%s"%%`, d.TxID, d.Output, d.Currency)
	return tx.paidAs(ctx, `(content LIKE $1 OR chain = $2 AND content LIKE $3)`, quoted(d.ID), string(d.Chain), came)
}

// quoted is the pattern of a content that names an order or a deposit.
func quoted(id bursar.ID) string { return `%"` + id.String() + `"%` }

// paidAs looks at every row: there are as many as were ever forgotten, which are few, and it is called for what the
// journal outside the database has paid, for refunds and for the resolutions of operators.
func (tx ForgottenPayments) paidAs(ctx context.Context, is string, args ...any) (ExternalSpend, error) {
	return externalColumns.one(ctx, tx.Tx, "look up what paid an order", `FROM external_spends
		WHERE booked <> '' AND outgoing_id IN (SELECT COALESCE(known_as, outgoing_id) FROM forgotten_payments
		WHERE put_back_at > 0 AND `+is+`) AND `+mayHavePaid+` ORDER BY number LIMIT 1`, args...)
}

// mayHavePaid says of an external spend that its outgoing transaction has paid, or still may.
const mayHavePaid = `EXISTS (SELECT 1 FROM outgoing_txs o WHERE o.id = external_spends.outgoing_id
	AND (external_spends.height > 0 OR o.status <> 'abandoned') AND NOT (o.failed AND o.status = 'final'))`

// PutBack notes that a forgotten outgoing transaction is known again, as f.KnownAs, or given up.
func (tx ForgottenPayments) PutBack(ctx context.Context, f ForgottenPayment) error {
	var as *bursar.ID
	if !f.KnownAs.IsZero() {
		as = &f.KnownAs
	}
	return tx.change(ctx, "note an outgoing transaction as known again",
		`UPDATE forgotten_payments SET put_back_at = $3, error = '', known_as = $4, seal = $5, sure = $6
		WHERE chain = $1 AND number = $2`, string(f.Chain), f.Number, micros(tx.now), as,
		tx.seal.sealForgotten(f, true), f.Sure)
}

// CannotPutBack notes why a forgotten outgoing transaction is not signed again yet.
func (tx ForgottenPayments) CannotPutBack(ctx context.Context, f ForgottenPayment, reason string) error {
	_, err := tx.exec(ctx, "note an outgoing transaction that is not put back", `UPDATE forgotten_payments SET error = $3
		WHERE chain = $1 AND number = $2 AND put_back_at = 0 AND error <> $3`, string(f.Chain), f.Number, reason)
	return err
}

// Statuses returns the statuses of those outgoing transactions that the database knows.
func (tx Outgoing) Statuses(ctx context.Context, ids []bursar.ID) (map[bursar.ID]bursar.OutgoingStatus, error) {
	type known struct {
		id     bursar.ID
		status bursar.OutgoingStatus
	}
	statuses := map[bursar.ID]bursar.OutgoingStatus{}
	for len(ids) > 0 {
		n := min(len(ids), 500)
		args := make([]any, n)
		for i, id := range ids[:n] {
			args[i] = id
		}
		found, err := rows(ctx, tx.Tx, "look up outgoing transactions", func(s scanner) (k known, err error) {
			return k, s.Scan(&k.id, &k.status)
		}, `SELECT id, status FROM outgoing_txs WHERE id IN (`+list(n, 0)+`)`, args...)
		if err != nil {
			return nil, err
		}
		for _, k := range found {
			statuses[k.id] = k.status
		}
		ids = ids[n:]
	}
	return statuses, nil
}

// UnpaidAmong returns those of some withdrawals and returns that the database does not take for paid, or for ended
// otherwise.
func (tx Withdrawals) UnpaidAmong(ctx context.Context, orders []bursar.ID) (unpaid []bursar.ID, err error) {
	for chunk := range slices.Chunk(orders, 500) {
		args := make([]any, len(chunk))
		for i, id := range chunk {
			args[i] = id
		}
		in := `(` + list(len(chunk), 0) + `)`
		found, err := rows(ctx, tx.Tx, "look up unpaid orders", scanOne[bursar.ID],
			`SELECT id FROM withdrawals WHERE completed_at = 0 AND id IN `+in+` UNION ALL
			SELECT id FROM resolutions WHERE status IN ('queued', 'signed') AND id IN `+in, args...)
		if err != nil {
			return nil, err
		}
		unpaid = append(unpaid, found...)
	}
	return unpaid, nil
}

// settingKeeper begins the settings that name the marks that were used with the database.
const settingKeeper = "keeper:"

// NameKeeper notes that marks of a name are used with the database. ForgetKeepers forgets all others: they are lost.
func (tx Settings) NameKeeper(ctx context.Context, name string) error {
	_, err := tx.exec(ctx, "note marks",
		`INSERT INTO settings(name, value) VALUES ($1, 'used') ON CONFLICT (name) DO NOTHING`, settingKeeper+name)
	return err
}

// ForgetKeepers is described at NameKeeper.
func (tx Settings) ForgetKeepers(ctx context.Context, but string) error {
	_, err := tx.exec(ctx, "forget marks",
		`DELETE FROM settings WHERE name LIKE 'keeper:%' AND name <> $1`, settingKeeper+but)
	return err
}

func (tx *Tx) keepers(ctx context.Context) ([]string, error) {
	return rows(ctx, tx, "list marks", func(s scanner) (name string, err error) {
		err = s.Scan(&name)
		return name[min(len(name), len(settingKeeper)):], err
	}, `SELECT name FROM settings WHERE name LIKE 'keeper:%' ORDER BY name`)
}
