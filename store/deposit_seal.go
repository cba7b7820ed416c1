package store

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"

	"github.com/bursar/bursar"
)

// sealDeposit returns the code of a deposit: it covers what came, in which block, whose it is, and how often it was
// reversed. A deposit is credited once for each count, and one that left its chain has another code than one that
// stands.
func (k sealKey) sealDeposit(d bursar.Deposit, wallet int64) []byte {
	f := k.sum("bursar arrival v1")
	f.bytes(d.ID[:])
	f.text(string(d.Purpose))
	f.bytes(d.AccountID[:])
	f.number(wallet)
	f.text(string(d.Chain))
	f.text(d.TxID)
	f.number(int64(d.Output))
	f.text(d.Address.Base)
	f.number(memoValue(d.Address))
	f.text(d.Contract)
	f.text(string(d.Currency))
	f.text(d.Amount.String())
	f.number(int64(d.Height))
	f.text(d.BlockHash)
	f.number(int64(d.Reversals))
	if d.Status == bursar.DepositOrphaned || d.Status == bursar.DepositReversed {
		f.text("gone")
	} else {
		f.text("stands")
	}
	return f.Sum([]byte(k.id))
}

// sealedDeposit is a deposit with its code.
type sealedDeposit struct {
	bursar.Deposit
	wallet  int64
	seal    []byte
	altered bool
	old     bool // it has no code, as before deposits had any
}

var sealedDepositColumns = columnsWithin(depositColumns, func(a *sealedDeposit) *bursar.Deposit { return &a.Deposit },
	column[sealedDeposit]{"COALESCE(d.wallet, 0)", func(a *sealedDeposit) any { return &a.wallet }},
	column[sealedDeposit]{"d.seal", func(a *sealedDeposit) any { return &a.seal }})

func (tx *Tx) scanSealed(s scanner) (sealedDeposit, error) {
	a, err := sealedDepositColumns.scan(s)
	if err == nil {
		a.old = a.seal == nil
		keyed := tx.seal.id == "" && len(a.seal) > sha256.Size // by a key that is not here
		a.altered = !keyed && !hmac.Equal(a.seal, tx.seal.sealDeposit(a.Deposit, a.wallet))
	}
	return a, err
}

// sealedDeposit returns a deposit as it is now, and whether it is as this service recorded it.
func (tx *Tx) sealedDeposit(ctx context.Context, id bursar.ID) (sealedDeposit, error) {
	return one(ctx, tx, "check deposit", tx.scanSealed, sealedDepositColumns.query+depositFrom+` WHERE d.id = $1`, id)
}

// Altered reports whether a deposit is not what a block brought and this service recorded.
func (tx Deposits) Altered(ctx context.Context, id bursar.ID) (bool, error) {
	a, err := tx.sealedDeposit(ctx, id)
	return a.altered, err
}

// ListAltered returns the pending deposits of one page that this service did not record so, and where the next page
// begins: 0 after the last.
func (tx Deposits) ListAltered(ctx context.Context, after int64,
	limit int) (altered []bursar.Deposit, next int64, err error) {
	found, err := rows(ctx, tx.Tx, "look through pending deposits", tx.scanSealed, sealedDepositColumns.query+depositFrom+
		` WHERE d.status = 'pending' AND d.number > $1 ORDER BY d.number LIMIT $2`, after, limit)
	for _, a := range found {
		if a.altered {
			altered = append(altered, a.Deposit)
		}
	}
	if len(found) == limit {
		next = found[limit-1].Number
	}
	return altered, next, err
}

// resealed returns the code that a deposit gets by a change, made of what its code covered before and not of what
// somebody else may write meanwhile. One whose code did not hold gets one that never does; one without a code gets
// none: SealOld gives it one, or nothing does.
func (tx *Tx) resealed(a sealedDeposit, change func(*sealedDeposit)) []byte {
	switch {
	case a.old:
		return nil
	case a.altered:
		return []byte{}
	}
	change(&a)
	return tx.seal.sealDeposit(a.Deposit, a.wallet)
}

// sealedDeposits returns those deposits that are there, by their IDs.
func (tx *Tx) sealedDeposits(ctx context.Context, ids []bursar.ID) (map[bursar.ID]sealedDeposit, error) {
	found := make(map[bursar.ID]sealedDeposit, len(ids))
	for part := range parts(tx, ids) {
		those, args := among(tx, "d.id", part)
		list, err := rows(ctx, tx, "check deposits", tx.scanSealed,
			sealedDepositColumns.query+depositFrom+` WHERE `+those, args...)
		if err != nil {
			return nil, err
		}
		for _, a := range list {
			found[a.ID] = a
		}
	}
	return found, nil
}

// reseal moves deposits that leave their chain, and returns how many were as they were read.
func (tx *Tx) reseal(ctx context.Context, changes []DepositChange) (int64, error) {
	ids := make([]bursar.ID, len(changes))
	for i, c := range changes {
		ids[i] = c.ID
	}
	now, err := tx.sealedDeposits(ctx, ids)
	if err != nil {
		return 0, err
	}
	u := update{what: "set deposit status", table: "deposits", keys: 2}
	for _, c := range changes {
		is, there := now[c.ID]
		if !there {
			continue
		}
		u.add(values{
			{"id", c.ID},
			{"status", string(c.Status)},
			{"status", string(c.Next)},
			{"confirmed_at", tx.confirmedAt(c)},
			{"reversals", int64(c.Reversals)},
			{"fee", c.Fee},
			{"seal", tx.resealed(is, func(a *sealedDeposit) { a.Status, a.Reversals = c.Next, c.Reversals })},
		})
	}
	return tx.updateRows(ctx, u)
}

// depositValue names the value that a deposit is: no two deposits have the same.
type depositValue struct {
	chain    bursar.ChainID
	txID     string
	output   uint32
	address  bursar.Address
	contract string
}

func (d NewDeposit) value() depositValue {
	return depositValue{d.Chain, d.TxID, d.Output, d.Address, d.Contract}
}

// recordAgain has those deposits that had left their chain stand in another block, with what they deliver there, and
// returns their IDs.
func (tx *Tx) recordAgain(ctx context.Context, list []NewDeposit) (map[depositValue]bursar.ID, error) {
	again := map[depositValue]bursar.ID{}
	for part := range parts(tx, list) {
		gone, err := tx.gone(ctx, part)
		if err != nil {
			return nil, err
		}
		u := update{what: "record deposits again", table: "deposits", keys: 1}
		for _, a := range part {
			was, is := gone[a.value()]
			if _, twice := again[a.value()]; !is || twice {
				continue
			}
			again[a.value()] = was.ID
			u.add(values{
				{"id", was.ID},
				{"status", string(bursar.DepositPending)},
				{"amount", a.Amount},
				{"height", int64(a.Height)},
				{"block_hash", a.BlockHash},
				{"counts_from", int64(a.CountsFrom)},
				{"confirmed_at", 0},
				{"required", int64(a.Required)},
				{"opinions", int64(a.Opinions)},
				{"seal", tx.resealed(was, func(now *sealedDeposit) {
					now.Status, now.Amount, now.Height, now.BlockHash = bursar.DepositPending, a.Amount, a.Height, a.BlockHash
				})},
			})
		}
		if _, err := tx.updateRows(ctx, u); err != nil {
			return nil, err
		}
	}
	return again, nil
}

// gone returns those deposits that are recorded and have left their chain, and keeps them unchanged until the
// transaction ends.
func (tx *Tx) gone(ctx context.Context, list []NewDeposit) (map[depositValue]sealedDeposit, error) {
	var names []any
	for _, a := range list {
		names = append(names, string(a.Chain), a.TxID, int64(a.Output), a.Address.Base, memoValue(a.Address), a.Contract)
	}
	those, args, err := within(tx, "(d.chain, d.tx_id, d.output, d.base, d.memo, d.contract)", 6, names)
	if err != nil {
		return nil, err
	}
	lock := tx.forUpdate()
	if lock != "" {
		lock += " OF d" // the joined tables are read only
	}
	found, err := rows(ctx, tx, "look up deposits", tx.scanSealed, sealedDepositColumns.query+depositFrom+
		` WHERE d.status IN ('orphaned', 'reversed') AND `+those+` ORDER BY d.number`+lock, args...)
	gone := make(map[depositValue]sealedDeposit, len(found))
	for _, a := range found {
		gone[NewDeposit{Deposit: a.Deposit}.value()] = a
	}
	return gone, err
}

// sealOldDeposits seals up to limit deposits that were there before deposits had codes. Those in no block have none.
func (tx *Tx) sealOldDeposits(ctx context.Context, limit int) (int, error) {
	old, err := rows(ctx, tx, "list old deposits", tx.scanSealed, sealedDepositColumns.query+depositFrom+`
		WHERE d.seal IS NULL AND d.height > 0 LIMIT $1`, limit)
	for _, a := range old {
		if err == nil {
			_, err = tx.exec(ctx, "seal an old deposit",
				`UPDATE deposits SET seal = $2 WHERE id = $1`, a.ID, tx.seal.sealDeposit(a.Deposit, a.wallet))
		}
	}
	return len(old), err
}
