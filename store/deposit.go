package store

import (
	"context"
	"fmt"

	"github.com/bursar/bursar"
)

var depositColumns = columnsOf([]column[bursar.Deposit]{
	{"d.number", func(d *bursar.Deposit) any { return &d.Number }},
	{"d.id", func(d *bursar.Deposit) any { return &d.ID }},
	{"d.purpose", func(d *bursar.Deposit) any { return &d.Purpose }},
	{"d.account_id", func(d *bursar.Deposit) any { return &d.AccountID }},
	{"w.id", func(d *bursar.Deposit) any { return &d.WalletID }},
	{"d.currency", func(d *bursar.Deposit) any { return &d.Currency }},
	{"d.chain", func(d *bursar.Deposit) any { return &d.Chain }},
	{"d.tx_id", func(d *bursar.Deposit) any { return &d.TxID }},
	{"d.output", func(d *bursar.Deposit) any { return &d.Output }},
	{"d.base", func(d *bursar.Deposit) any { return &d.Address.Base }},
	{"d.memo", func(d *bursar.Deposit) any { return memo{&d.Address} }},
	{"d.contract", func(d *bursar.Deposit) any { return &d.Contract }},
	{"d.amount", func(d *bursar.Deposit) any { return &d.Amount }},
	{"d.fee", func(d *bursar.Deposit) any { return &d.Fee }},
	{"d.status", func(d *bursar.Deposit) any { return &d.Status }},
	{"d.height", func(d *bursar.Deposit) any { return &d.Height }},
	{"d.block_hash", func(d *bursar.Deposit) any { return &d.BlockHash }},
	{"d.reversals", func(d *bursar.Deposit) any { return &d.Reversals }},
	{"d.required", func(d *bursar.Deposit) any { return &d.Required }},
	{"d.seen_at", func(d *bursar.Deposit) any { return instant{&d.SeenAt} }},
	{"d.confirmed_at", func(d *bursar.Deposit) any { return instant{&d.ConfirmedAt} }},
	{"COALESCE(w.metadata, '')", func(d *bursar.Deposit) any { return &d.Metadata }},
	{"COALESCE(" + effectiveWebhook + ", '')", func(d *bursar.Deposit) any { return &d.Webhook }},
})

const depositFrom = `FROM deposits d` + depositJoins

// depositJoins adds to deposits d what else is read of each, a row at most.
const depositJoins = ` LEFT JOIN wallets w ON w.number = d.wallet
	LEFT JOIN webhook_rules rc ON rc.account_id = w.account_id AND rc.currency = w.currency
	LEFT JOIN webhook_rules ra ON ra.account_id = w.account_id AND ra.currency = ''`

// NewDeposit is a deposit to be recorded, with the number of its wallet (0: none), the height from which it counts, and
// how many endpoints have to report it before it is credited (0: none).
type NewDeposit struct {
	bursar.Deposit
	Wallet     int64
	CountsFrom uint64
	Opinions   int
}

// Recorded is what became of a deposit that was to be recorded.
type Recorded struct {
	ID      bursar.ID // of what was written: the first one's where it had been recorded before
	Written bool
	Again   bool // it had been recorded before, had left its chain, and is pending again
}

// Record is RecordAll for one deposit.
func (tx Deposits) Record(ctx context.Context, d NewDeposit) (id bursar.ID, written bool, err error) {
	results, err := tx.RecordAll(ctx, []NewDeposit{d})
	if err != nil {
		return bursar.ID{}, false, err
	}
	return results[0].ID, results[0].Written, nil
}

// RecordAll records value seen in blocks, in a few statements whatever its number. The same value again, from a rescan
// or in another block, is the same deposit: one that had been reorged out is pending again there, with what it delivers
// there (a contract may send another amount in another block), any other is left as it is.
func (tx Deposits) RecordAll(ctx context.Context, list []NewDeposit) ([]Recorded, error) {
	in := insertion{what: "record deposits", table: "deposits", rows: len(list),
		after: ` ON CONFLICT (chain, tx_id, output, base, memo, contract) DO NOTHING RETURNING id`}
	for _, a := range list {
		in.add(tx.recorded(a))
	}
	asked, err := insertReturning(ctx, tx.Tx, in, scanOne[bursar.ID])
	if err != nil {
		return nil, err
	}
	ids, err := asked.Get(ctx)
	if err != nil {
		return nil, err
	}
	inserted := make(map[bursar.ID]bool, len(list))
	for _, id := range ids {
		inserted[id] = true
	}
	results := make([]Recorded, len(list))
	var known []NewDeposit
	for i, a := range list {
		if inserted[a.ID] {
			results[i] = Recorded{ID: a.ID, Written: true}
		} else {
			known = append(known, a)
		}
	}
	again, err := tx.recordAgain(ctx, known)
	for i, a := range list {
		if id, is := again[a.value()]; is && !results[i].Written {
			results[i] = Recorded{ID: id, Written: true, Again: true}
			delete(again, a.value()) // a value that is named twice is there once
		}
	}
	return results, err
}

// recorded is the row of a deposit that is pending.
func (tx *Tx) recorded(d NewDeposit) values {
	fresh := d.Deposit
	fresh.Status, fresh.Reversals = bursar.DepositPending, 0
	var wallet *int64
	if d.Wallet != 0 {
		wallet = &d.Wallet
	}
	return values{
		{"id", d.ID},
		{"purpose", string(d.Purpose)},
		{"account_id", d.AccountID},
		{"wallet", wallet},
		{"currency", string(d.Currency)},
		{"chain", string(d.Chain)},
		{"tx_id", d.TxID},
		{"output", int64(d.Output)},
		{"base", d.Address.Base},
		{"memo", memoValue(d.Address)},
		{"contract", d.Contract},
		{"amount", d.Amount},
		{"fee", d.Fee},
		{"status", string(bursar.DepositPending)},
		{"height", int64(d.Height)},
		{"block_hash", d.BlockHash},
		{"counts_from", int64(d.CountsFrom)},
		{"seen_at", micros(d.SeenAt)},
		{"required", int64(d.Required)},
		{"opinions", int64(d.Opinions)},
		{"seal", tx.seal.sealDeposit(fresh, d.Wallet)},
	}
}

// InsertInternal records deposits that came from other accounts of this service, in one statement: confirmed at once,
// in no block.
func (tx Deposits) InsertInternal(ctx context.Context, list ...NewDeposit) error {
	in := insertion{what: "insert internal deposits", table: "deposits", rows: len(list)}
	for _, d := range list {
		in.add(values{
			{"id", d.ID},
			{"purpose", string(d.Purpose)},
			{"account_id", d.AccountID},
			{"wallet", d.Wallet},
			{"currency", string(d.Currency)},
			{"chain", string(d.Chain)},
			{"tx_id", d.TxID},
			{"output", 0},
			{"base", d.Address.Base},
			{"memo", memoValue(d.Address)},
			{"contract", d.Contract},
			{"amount", d.Amount},
			{"fee", d.Fee},
			{"status", string(bursar.DepositConfirmed)},
			{"height", 0},
			{"block_hash", ""},
			{"seen_at", micros(tx.now)},
			{"confirmed_at", micros(tx.now)},
		})
	}
	return tx.insertRows(ctx, in)
}

// InBlock returns every deposit that stands in the block at a height: none that is orphaned or reversed.
func (tx Deposits) InBlock(ctx context.Context, chain bursar.ChainID, height uint64) ([]bursar.Deposit, error) {
	return depositColumns.rows(ctx, tx.Tx, "list block's deposits", depositFrom+
		` WHERE d.chain = $1 AND d.height = $2 AND d.height > 0 AND d.status <> 'orphaned' AND d.status <> 'reversed' `+
		`ORDER BY d.number`,
		string(chain), int64(height))
}

// DepositChange is a deposit, as it was read in this transaction, and its next status.
type DepositChange struct {
	bursar.Deposit
	Next bursar.DepositStatus
}

// SetStatus moves a deposit along its transition table; d is as it was read in this transaction.
func (tx Deposits) SetStatus(ctx context.Context, d bursar.Deposit, next bursar.DepositStatus) error {
	return tx.SetStatuses(ctx, []DepositChange{{d, next}})
}

// SetStatuses is SetStatus for several deposits, in a few statements whatever their number.
func (tx Deposits) SetStatuses(ctx context.Context, changes []DepositChange) error {
	stay := update{what: "set deposit status", table: "deposits", keys: 2}
	var leave []DepositChange
	for _, c := range changes {
		if !c.Status.MayBecome(c.Next) {
			return fmt.Errorf("deposit %s may not go from %s to %s", c.ID, c.Status, c.Next)
		}
		if c.Next != bursar.DepositConfirmed && c.Next != bursar.DepositBelowMinimum {
			leave = append(leave, c)
			continue
		}
		stay.add(values{ // its code holds: the deposit stands where it stood
			{"id", c.ID},
			{"status", string(c.Status)},
			{"status", string(c.Next)},
			{"confirmed_at", tx.confirmedAt(c)},
			{"fee", c.Fee},
		})
	}
	changed, err := tx.updateRows(ctx, stay)
	if err != nil {
		return err
	}
	left, err := tx.reseal(ctx, leave)
	if err == nil && changed+left < int64(len(changes)) {
		err = fmt.Errorf("%d of %d deposits (%s) are no longer as they were read", int64(len(changes))-changed-left,
			len(changes), changes[0].ID)
	}
	return err
}

func (tx *Tx) confirmedAt(c DepositChange) int64 {
	if c.Next == bursar.DepositConfirmed {
		return micros(tx.now)
	}
	return micros(c.ConfirmedAt)
}

func idsOf(deposits []bursar.Deposit) []bursar.ID {
	ids := make([]bursar.ID, len(deposits))
	for i, d := range deposits {
		ids[i] = d.ID
	}
	return ids
}
