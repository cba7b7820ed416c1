package store

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"

	"github.com/bursar/bursar"
)

// sealDeposit returns the code of an arrival: it covers what came, in which block, whose it is, and how often it was
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
// somebody else may write meanwhile. One whose code did not hold gets one that never does.
func (tx *Tx) resealed(ctx context.Context, id bursar.ID, change func(*sealedDeposit)) ([]byte, error) {
	a, err := tx.sealedDeposit(ctx, id)
	if err != nil || a.old {
		return nil, err // SealOld gives it one, or nothing does
	}
	if a.altered {
		return []byte{}, nil
	}
	change(&a)
	return tx.seal.sealDeposit(a.Deposit, a.wallet), nil
}

// recordAgain has a deposit that had left its chain stand in another block, with what it delivers there, and returns
// its ID; or ErrNotFound where it has not left.
func (tx *Tx) recordAgain(ctx context.Context, a NewDeposit) (id bursar.ID, err error) {
	err = tx.row(ctx, "look up deposit",
		`SELECT id FROM deposits WHERE chain = $1 AND tx_id = $2 AND output = $3 AND base = $4 AND memo = $5
		AND contract = $6 AND status IN ('orphaned', 'reversed')`+tx.forUpdate(),
		[]any{string(a.Chain), a.TxID, int64(a.Output), a.Address.Base, memoValue(a.Address), a.Contract}, &id)
	if err != nil {
		return id, err
	}
	seal, err := tx.resealed(ctx, id, func(was *sealedDeposit) {
		was.Status, was.Amount, was.Height, was.BlockHash = bursar.DepositPending, a.Amount, a.Height, a.BlockHash
	})
	if err != nil {
		return id, err
	}
	query, args := values{
		{"status", string(bursar.DepositPending)},
		{"amount", a.Amount},
		{"height", int64(a.Height)},
		{"block_hash", a.BlockHash},
		{"counts_from", int64(a.CountsFrom)},
		{"confirmed_at", 0},
		{"required", int64(a.Required)},
		{"opinions", int64(a.Opinions)},
		{"seal", seal},
	}.update("deposits", `WHERE id = $1`, id)
	return id, tx.change(ctx, "record deposit again", query, args...)
}

// sealOldDeposits seals up to limit deposits that were there before deposits had codes.
func (tx *Tx) sealOldDeposits(ctx context.Context, limit int) (int, error) {
	old, err := rows(ctx, tx, "list old deposits", tx.scanSealed, sealedDepositColumns.query+depositFrom+`
		WHERE d.seal IS NULL LIMIT $1`, limit)
	for _, a := range old {
		if err == nil {
			_, err = tx.exec(ctx, "seal an old deposit",
				`UPDATE deposits SET seal = $2 WHERE id = $1`, a.ID, tx.seal.sealDeposit(a.Deposit, a.wallet))
		}
	}
	return len(old), err
}

// Unaltered returns those of some deposits, as they were read in this transaction, that are as this service recorded
// them.
func (tx Deposits) Unaltered(ctx context.Context, deposits []bursar.Deposit) ([]bursar.Deposit, error) {
	if len(deposits) == 0 {
		return nil, nil
	}
	ids := make([]bursar.ID, len(deposits))
	for i, d := range deposits {
		ids[i] = d.ID
	}
	those, args := among(tx.Tx, "d.id", ids)
	found, err := rows(ctx, tx.Tx, "check deposits", tx.scanSealed, sealedDepositColumns.query+depositFrom+` WHERE `+those, args...)
	if err != nil {
		return nil, err
	}
	is := map[bursar.ID]bursar.Deposit{}
	for _, a := range found {
		if !a.altered {
			is[a.ID] = a.Deposit
		}
	}
	var sound []bursar.Deposit
	for _, d := range deposits {
		if now, there := is[d.ID]; there && now == d {
			sound = append(sound, d)
		}
	}
	return sound, nil
}
