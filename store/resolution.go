package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
)

// ErrResolved is returned when a deposit has a resolution that stands.
var ErrResolved = errors.New("the deposit is resolved already")

var resolutionColumns = columnsOf([]column[bursar.Resolution]{
	{"number", func(n *bursar.Resolution) any { return &n.Number }},
	{"id", func(n *bursar.Resolution) any { return &n.ID }},
	{"deposit_id", func(n *bursar.Resolution) any { return &n.DepositID }},
	{"chain", func(n *bursar.Resolution) any { return &n.Chain }},
	{"currency", func(n *bursar.Resolution) any { return &n.Currency }},
	{"kind", func(n *bursar.Resolution) any { return &n.Kind }},
	{"status", func(n *bursar.Resolution) any { return &n.Status }},
	{"note", func(n *bursar.Resolution) any { return &n.Note }},
	{"requested_by", func(n *bursar.Resolution) any { return &n.RequestedBy }},
	{"account_id", func(n *bursar.Resolution) any { return &n.AccountID }},
	{"wallet_id", func(n *bursar.Resolution) any { return &n.WalletID }},
	{"base", func(n *bursar.Resolution) any { return &n.Address.Base }},
	{"memo", func(n *bursar.Resolution) any { return memo{&n.Address} }},
	{"amount", func(n *bursar.Resolution) any { return &n.Amount }},
	{"fee", func(n *bursar.Resolution) any { return &n.Fee }},
	{"outgoing_id", func(n *bursar.Resolution) any { return &n.OutgoingID }},
	{"tx_id", func(n *bursar.Resolution) any { return &n.TxID }},
	{"error", func(n *bursar.Resolution) any { return &n.Error }},
	{"decided_at", func(n *bursar.Resolution) any { return instant{&n.ResolvedAt} }},
	{"completed_at", func(n *bursar.Resolution) any { return instant{&n.CompletedAt} }},
})

// Insert records a resolution, or returns ErrResolved when one of the same deposit stands. Anyone who decides, or
// changes a resolution, has locked the deposit's chain in the same transaction: by Chains.Lock, or by Leases.Fence.
func (tx Resolutions) Insert(ctx context.Context, n bursar.Resolution) error {
	order := refundFacts(n)
	tx.sealing.noteOrder(order)
	query, args := values{
		{"id", n.ID},
		{"deposit_id", n.DepositID},
		{"chain", string(n.Chain)},
		{"currency", string(n.Currency)},
		{"kind", string(n.Kind)},
		{"status", string(n.Status)},
		{"note", n.Note},
		{"requested_by", n.RequestedBy},
		{"account_id", n.AccountID},
		{"wallet_id", n.WalletID},
		{"base", n.Address.Base},
		{"memo", memoValue(n.Address)},
		{"amount", n.Amount},
		{"fee", n.Fee},
		{"decided_at", micros(n.ResolvedAt)},
		{"completed_at", micros(n.CompletedAt)},
		{"seal", tx.seal.sealOrder(order)},
	}.insertInto("resolutions")
	return tx.changeOr(ctx, "insert resolution", ErrResolved,
		query+` ON CONFLICT (deposit_id) WHERE status <> 'failed' DO NOTHING`, args...)
}

// Standing returns the resolution of a deposit that has not failed, or ErrNotFound.
func (tx Resolutions) Standing(ctx context.Context, deposit bursar.ID) (bursar.Resolution, error) {
	return resolutionColumns.one(ctx, tx.Tx, "read resolution",
		`FROM resolutions WHERE deposit_id = $1 AND status <> 'failed'`, deposit)
}

// StandingAmong returns those of some deposits that have a resolution which has not failed.
func (tx Resolutions) StandingAmong(ctx context.Context, deposits []bursar.Deposit) (map[bursar.ID]bool, error) {
	standing := map[bursar.ID]bool{}
	for part := range parts(tx.Tx, deposits) {
		those, args := among(tx.Tx, "deposit_id", idsOf(part))
		found, err := rows(ctx, tx.Tx, "look for resolutions", scanOne[bursar.ID],
			`SELECT deposit_id FROM resolutions WHERE status <> 'failed' AND `+those, args...)
		if err != nil {
			return nil, err
		}
		for _, id := range found {
			standing[id] = true
		}
	}
	return standing, nil
}

// About returns the newest resolution of each of the deposits that have one, by the deposit's ID.
func (tx Resolutions) About(ctx context.Context, deposits []bursar.Deposit) (map[bursar.ID]bursar.Resolution, error) {
	newest := map[bursar.ID]bursar.Resolution{}
	for part := range parts(tx.Tx, deposits) {
		those, args := among(tx.Tx, "deposit_id", idsOf(part))
		found, err := resolutionColumns.rows(ctx, tx.Tx, "list resolutions",
			`FROM resolutions WHERE `+those+` ORDER BY number`, args...)
		if err != nil {
			return nil, err
		}
		for _, d := range found {
			newest[d.DepositID] = d
		}
	}
	return newest, nil
}

// AnyRefundQueued reports whether a refund in some of a chain's currencies waits for an outgoing transaction.
func (tx Resolutions) AnyRefundQueued(ctx context.Context, chain bursar.ChainID,
	codes []bursar.CurrencyCode) (waits bool, err error) {
	if len(codes) == 0 {
		return false, nil
	}
	err = tx.row(ctx, "look for queued refunds",
		`SELECT EXISTS (SELECT 1 FROM resolutions WHERE chain = $1 AND status = 'queued' AND outgoing_id IS NULL
		AND currency IN (`+list(len(codes), 1)+`))`, codeArgs(codes, string(chain)), &waits)
	return waits, err
}

// NextRefund returns the oldest refund in some of a chain's currencies that no outgoing transaction pays yet, or
// ErrNotFound; ErrAltered where its facts are not those that were decided.
func (tx Resolutions) NextRefund(ctx context.Context, chain bursar.ChainID,
	codes []bursar.CurrencyCode) (bursar.Resolution, error) {
	if len(codes) == 0 {
		return bursar.Resolution{}, missing{what: "read queued refund"}
	}
	o, err := one(ctx, tx.Tx, "read queued refund", tx.refunded, refundColumns.query+`FROM resolutions
		WHERE chain = $1 AND status = 'queued' AND outgoing_id IS NULL AND currency IN (`+list(len(codes), 1)+`)
		ORDER BY number LIMIT 1`,
		codeArgs(codes, string(chain))...)
	return o.unaltered(err)
}

// RefundPaidBy returns the refund that an outgoing transaction pays, or ErrNotFound for an outgoing transaction of
// another kind; ErrAltered as of Resolutions.NextRefund.
func (tx Resolutions) RefundPaidBy(ctx context.Context, outgoing bursar.ID) (bursar.Resolution, error) {
	o, err := one(ctx, tx.Tx, "read paid refund", tx.refunded,
		refundColumns.query+`FROM resolutions WHERE outgoing_id = $1`, outgoing)
	return o.unaltered(err)
}

// OpenRefund reports whether a refund of a deposit has a transaction that may still be paid, other than that of a
// number.
func (tx Resolutions) OpenRefund(ctx context.Context, deposit bursar.ID, but int64) (open bool, err error) {
	err = tx.row(ctx, "look for an open refund",
		`SELECT EXISTS (SELECT 1 FROM resolutions n JOIN outgoing_txs s ON s.id = n.outgoing_id
		WHERE n.deposit_id = $1 AND n.number <> $2 AND s.status <> 'final' AND s.status <> 'abandoned')`,
		[]any{deposit, but}, &open)
	return open, err
}

// SetStatus moves a resolution along its table, or leaves it where it is; n is as it was read in this transaction, with
// OutgoingID, TxID and Error as they shall be.
func (tx Resolutions) SetStatus(ctx context.Context, n bursar.Resolution, next bursar.ResolutionStatus) error {
	if n.Status != next && !n.Status.MayBecome(next) {
		return fmt.Errorf("resolution %s may not go from %s to %s", n.ID, n.Status, next)
	}
	var completed int64
	if next == bursar.ResolutionDone || next == bursar.ResolutionFailed {
		completed = micros(tx.now)
	}
	query, args := values{
		{"status", string(next)},
		{"outgoing_id", n.OutgoingID},
		{"tx_id", n.TxID},
		{"error", n.Error},
		{"completed_at", completed},
	}.update("resolutions", `WHERE id = $1 AND status = $2`, n.ID, string(n.Status))
	return tx.changeOr(ctx, "set resolution", fmt.Errorf("resolution %s is no longer %s", n.ID, n.Status), query, args...)
}

// Unattributed returns value that fits no wallet and waits for the operator or for finality, newest first; all adds
// what left its chain and what was decided.
func (tx Deposits) Unattributed(ctx context.Context, all bool, page Page) ([]bursar.Deposit, error) {
	which := `d.purpose = 'unattributed' AND d.status IN ('pending', 'confirmed')`
	if all {
		which = `d.number IN (SELECT u.number FROM deposits u WHERE u.purpose = 'unattributed'
			UNION SELECT u.number FROM resolutions n JOIN deposits u ON u.id = n.deposit_id)`
	}
	return depositColumns.rows(ctx, tx.Tx, "list unattributed", depositFrom+
		` WHERE `+which+` AND d.number < $1 ORDER BY d.number DESC LIMIT $2`, page.bound(), page.Limit)
}

// SetOwner changes whose money a deposit is: its Purpose, AccountID and Fee become what d says, and wallet is
// the number of its wallet, 0 for none. from is the purpose that it had.
func (tx Deposits) SetOwner(ctx context.Context, d bursar.Deposit, wallet int64, from bursar.DepositPurpose) error {
	var number any
	if wallet != 0 {
		number = wallet
	}
	was, err := tx.sealedDeposit(ctx, d.ID)
	if err != nil {
		return err
	}
	seal := tx.resealed(was, func(a *sealedDeposit) {
		a.Purpose, a.AccountID, a.wallet = d.Purpose, d.AccountID, wallet
	})
	query, args := values{
		{"purpose", string(d.Purpose)},
		{"account_id", d.AccountID},
		{"wallet", number},
		{"fee", d.Fee},
		{"confirmed_at", micros(d.ConfirmedAt)},
		{"seal", seal},
	}.update("deposits", `WHERE id = $1 AND purpose = $2`, d.ID, string(from))
	return tx.changeOr(ctx, "set owner of deposit", fmt.Errorf("deposit %s is no longer %s", d.ID, from), query, args...)
}
