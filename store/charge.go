package store

import (
	"context"
	"fmt"
	"time"

	"github.com/bursar/bursar"
)

var chargeColumns = columnsOf([]column[bursar.Charge]{
	{"w.number", func(c *bursar.Charge) any { return &c.Number }},
	{"w.id", func(c *bursar.Charge) any { return &c.ID }},
	{"w.account_id", func(c *bursar.Charge) any { return &c.AccountID }},
	{"w.currency", func(c *bursar.Charge) any { return &c.Currency }},
	{"w.base", func(c *bursar.Charge) any { return &c.Address.Base }},
	{"w.memo", func(c *bursar.Charge) any { return memo{&c.Address} }},
	{"c.minimum", func(c *bursar.Charge) any { return &c.Minimum }},
	{"w.webhook", func(c *bursar.Charge) any { return &c.Webhook }},
	{"w.metadata", func(c *bursar.Charge) any { return &c.Metadata }},
	{"w.created_at", func(c *bursar.Charge) any { return instant{&c.CreatedAt} }},
	{"c.expires_at", func(c *bursar.Charge) any { return instant{&c.Expires} }},
	{"c.paid_by", func(c *bursar.Charge) any { return &c.PaidBy }},
})

const chargeFrom = `FROM charges c JOIN wallets w ON w.number = c.number`

// Insert adds charges beside their wallets, which were inserted in this transaction.
func (tx Charges) Insert(ctx context.Context, charges ...bursar.Charge) error {
	in := insertion{what: "insert charges", table: "charges", rows: len(charges)}
	for _, c := range charges {
		in.add(values{
			{"number", c.Number},
			{"id", c.ID},
			{"account_id", c.AccountID},
			{"minimum", c.Minimum},
			{"expires_at", micros(c.Expires)},
			{"token", c.Token},
		})
	}
	return tx.insertRows(ctx, in)
}

// Get returns an account's charge with its confirmed deposits; another account's is ErrNotFound.
func (tx Charges) Get(ctx context.Context, account, id bursar.ID) (bursar.Charge, error) {
	c, err := chargeColumns.one(ctx, tx.Tx, "read charge",
		chargeFrom+` WHERE c.id = $1 AND c.account_id = $2`, id, account)
	if err != nil {
		return c, err
	}
	list := []bursar.Charge{c}
	err = tx.attachDeposits(ctx, list)
	return list[0], err
}

// Lock returns a charge of any account and keeps it unchanged until the transaction ends.
func (tx Charges) Lock(ctx context.Context, id bursar.ID) (bursar.Charge, error) {
	if tx.postgres {
		if _, err := tx.exec(ctx, "lock charge", `SELECT number FROM charges WHERE id = $1 FOR UPDATE`, id); err != nil {
			return bursar.Charge{}, err
		}
	}
	return chargeColumns.one(ctx, tx.Tx, "read charge", chargeFrom+` WHERE c.id = $1`, id)
}

// List returns an account's charges with their confirmed deposits, newest first.
func (tx Charges) List(ctx context.Context, account bursar.ID, page Page) ([]bursar.Charge, error) {
	list, _, err := tx.Select(ctx, account, ChargeFilter{}, page)
	return list, err
}

// Select is List for the charges that a filter selects by their currency, metadata and time; it has no status, labels
// and reference. It looks at a bounded number of charges: where these have no whole page, next is the number below
// which it continues; 0 at the end.
func (tx Charges) Select(ctx context.Context, account bursar.ID, f ChargeFilter, page Page) (charges []bursar.Charge,
	next int64, err error) {
	list := accountCharges
	if f.Metadata == "" { // the wallets are not needed to count
		list.table = "charges c"
	}
	charges, next, err = list.page(ctx, tx.Tx, account, f.single(), page)
	if err != nil {
		return nil, 0, err
	}
	return charges, next, tx.attachDeposits(ctx, charges)
}

var accountCharges = accountList[bursar.Charge]{what: "list charges", from: chargeFrom, alias: "c.",
	table: "charges c JOIN wallets w ON w.number = c.number", of: chargeColumns}

// single is the filter for charges that one deposit pays.
func (f ChargeFilter) single() (of filter) {
	if f.Metadata != "" {
		of.served(func(q *condition) {
			q.text += ` AND w.account_id = $1`
			q.metadata("w.metadata", f.Metadata)
		})
	}
	of.equals("w.currency", string(f.Currency))
	of.between("w.created_at", f.From, f.To)
	return of
}

func (tx *Tx) attachDeposits(ctx context.Context, charges []bursar.Charge) error {
	if len(charges) == 0 {
		return nil
	}
	byNumber := map[int64]*bursar.Charge{}
	var numbers []int64
	for i := range charges {
		byNumber[charges[i].Number] = &charges[i]
		numbers = append(numbers, charges[i].Number)
	}
	type deposit struct {
		wallet int64
		id     bursar.ID
		status bursar.DepositStatus
		amount bursar.Amount
		seen   time.Time
	}
	those, args := among(tx, "wallet", numbers)
	deposits, err := rows(ctx, tx, "read charge deposits", func(s scanner) (d deposit, err error) {
		return d, s.Scan(&d.wallet, &d.id, &d.status, &d.amount, instant{&d.seen})
	}, `SELECT wallet, id, status, amount, seen_at FROM deposits WHERE `+those+`
		AND (status = 'confirmed' OR status = 'pending') ORDER BY number`, args...)
	for _, d := range deposits {
		c := byNumber[d.wallet]
		if d.status == bursar.DepositConfirmed {
			c.Deposits = append(c.Deposits, d.id)
		} else if c.PaidWith(d.amount, d.seen) {
			c.Awaited = true
		}
	}
	return err
}

// LockAll returns charges of any accounts by their IDs and keeps them unchanged until the transaction ends.
func (tx Charges) LockAll(ctx context.Context, ids []bursar.ID) (map[bursar.ID]bursar.Charge, error) {
	found := make(map[bursar.ID]bursar.Charge, len(ids))
	for part := range parts(tx.Tx, ids) {
		if tx.postgres {
			those, args := among(tx.Tx, "id", part)
			if _, err := tx.exec(ctx, "lock charges",
				`SELECT number FROM charges WHERE `+those+` ORDER BY number FOR UPDATE`, args...); err != nil {
				return nil, err
			}
		}
		those, args := among(tx.Tx, "c.id", part)
		list, err := chargeColumns.rows(ctx, tx.Tx, "read charges", chargeFrom+` WHERE `+those, args...)
		if err != nil {
			return nil, err
		}
		for _, c := range list {
			found[c.ID] = c
		}
	}
	return found, nil
}

// MarkPaid marks charges as paid, each by a deposit.
func (tx Charges) MarkPaid(ctx context.Context, charges []bursar.Charge) error {
	u := update{what: "mark charges", table: "charges", keys: 1}
	for _, c := range charges {
		u.add(values{{"id", c.ID}, {"paid_by", c.PaidBy}})
	}
	n, err := tx.updateRows(ctx, u)
	if err == nil && n < int64(len(charges)) {
		err = fmt.Errorf("%d of %d charges are there to be marked", n, len(charges))
	}
	return err
}

// Minimums returns what charges of any accounts ask for, by their IDs.
func (tx Charges) Minimums(ctx context.Context, ids []bursar.ID) (map[bursar.ID]bursar.Amount, error) {
	minimums := make(map[bursar.ID]bursar.Amount, len(ids))
	for part := range parts(tx.Tx, ids) {
		those, args := among(tx.Tx, "id", part)
		_, err := rows(ctx, tx.Tx, "read the minimums of charges", func(s scanner) (none struct{}, err error) {
			var id bursar.ID
			var minimum bursar.Amount
			err = s.Scan(&id, &minimum)
			minimums[id] = minimum
			return none, err
		}, `SELECT id, minimum FROM charges WHERE `+those, args...)
		if err != nil {
			return nil, err
		}
	}
	return minimums, nil
}

// CreditedDeposits returns the credited deposits to a charge's address, oldest first.
func (tx Charges) CreditedDeposits(ctx context.Context, number int64) ([]bursar.Deposit, error) {
	return depositColumns.rows(ctx, tx.Tx, "list charge's deposits", depositFrom+
		` WHERE d.wallet = $1 AND d.status = 'confirmed' ORDER BY d.height, d.number`, number)
}

// SetPaidBy marks a charge as paid by a deposit, or as unpaid for the zero ID.
func (tx Charges) SetPaidBy(ctx context.Context, charge, deposit bursar.ID) error {
	return tx.change(ctx, "mark charge", `UPDATE charges SET paid_by = $2 WHERE id = $1`, charge, deposit)
}
