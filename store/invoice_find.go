package store

import (
	"context"
	"errors"
	"time"

	"github.com/bursar/bursar"
)

// ErrReference is returned where an account has another charge with the same reference.
var ErrReference = errors.New("the account has a charge with this reference")

const invoiceFrom = `FROM invoices i`

// Get returns an account's invoice; another account's is ErrNotFound.
func (tx Invoices) Get(ctx context.Context, account, id bursar.ID) (bursar.Invoice, error) {
	return invoiceColumns.one(ctx, tx.Tx, "read invoice",
		invoiceFrom+` WHERE i.id = $1 AND i.account_id = $2`, id, account)
}

// ByReference returns the account's invoice with a reference, or ErrNotFound.
func (tx Invoices) ByReference(ctx context.Context, account bursar.ID, reference string) (bursar.Invoice, error) {
	return invoiceColumns.one(ctx, tx.Tx, "read invoice by reference",
		invoiceFrom+` WHERE i.account_id = $1 AND i.reference = $2 AND i.reference <> ''`, account, reference)
}

// ByToken returns the invoice whose payer's page a token opens, or ErrNotFound.
func (tx Invoices) ByToken(ctx context.Context, token bursar.ID) (bursar.Invoice, error) {
	return invoiceColumns.one(ctx, tx.Tx, "read invoice by token", invoiceFrom+` WHERE i.token = $1`, token)
}

// LockAll returns invoices by their numbers, in the order of these, and keeps them unchanged until the transaction
// ends.
func (tx Invoices) LockAll(ctx context.Context, numbers []int64) (list []bursar.Invoice, err error) {
	for part := range parts(tx.Tx, numbers) {
		if tx.postgres {
			those, args := among(tx.Tx, "number", part)
			if _, err := tx.exec(ctx, "lock invoices",
				`SELECT number FROM invoices WHERE `+those+` ORDER BY number FOR UPDATE`, args...); err != nil {
				return nil, err
			}
		}
		those, args := among(tx.Tx, "i.number", part)
		some, err := invoiceColumns.rows(ctx, tx.Tx, "read invoices",
			invoiceFrom+` WHERE `+those+` ORDER BY i.number`, args...)
		if err != nil {
			return nil, err
		}
		list = append(list, some...)
	}
	return list, nil
}

// OfWallets returns the numbers of the invoices that wallets belong to, by the wallets' IDs.
func (tx Invoices) OfWallets(ctx context.Context, wallets []bursar.ID) (map[bursar.ID]int64, error) {
	found := map[bursar.ID]int64{}
	for part := range parts(tx.Tx, wallets) {
		those, args := among(tx.Tx, "w.id", part)
		_, err := rows(ctx, tx.Tx, "read the invoices of wallets", func(s scanner) (none struct{}, err error) {
			var id bursar.ID
			var number int64
			err = s.Scan(&id, &number)
			found[id] = number
			return none, err
		}, `SELECT w.id, o.invoice FROM wallets w JOIN invoice_options o ON o.wallet = w.number WHERE `+those, args...)
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// AskedPayment is a payment with the terms of its invoice that say whether it pays alone.
type AskedPayment struct {
	bursar.Payment // with Deposit.ID, Origin, Decimals and Rate
	bursar.Invoice // with Unit, Required and Under
}

// Asked returns payments with the terms of their invoices, by their deposits; a deposit that is none is left out.
func (tx Invoices) Asked(ctx context.Context, deposits []bursar.ID) (map[bursar.ID]AskedPayment, error) {
	found := map[bursar.ID]AskedPayment{}
	for part := range parts(tx.Tx, deposits) {
		those, args := among(tx.Tx, "p.deposit", part)
		_, err := rows(ctx, tx.Tx, "read the terms of payments", func(s scanner) (none struct{}, err error) {
			var a AskedPayment
			err = s.Scan(&a.Deposit.ID, &a.Origin, &a.Payment.Decimals, rateText{&a.Rate}, &a.Unit.Code, &a.Unit.Fiat,
				&a.Unit.Decimals, &a.Unit.Places, &a.Required, &a.Under)
			found[a.Deposit.ID] = a
			return none, err
		}, `SELECT
				p.deposit,
				p.origin,
				p.decimals,
				p.rate,
				i.unit,
				i.fiat,
				i.decimals,
				i.places,
				i.required,
				i.under
			FROM invoice_payments p JOIN invoices i ON i.number = p.invoice WHERE `+those, args...)
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// OfRefund returns the number of the invoice that a withdrawal refunds a payment of, 0 for any other withdrawal.
func (tx Invoices) OfRefund(ctx context.Context, withdrawal bursar.ID) (int64, error) {
	found, err := rows(ctx, tx.Tx, "read the invoice of a refund", scanOne[int64],
		`SELECT invoice FROM invoice_refunds WHERE withdrawal = $1`, withdrawal)
	if err != nil || len(found) == 0 {
		return 0, err
	}
	return found[0], nil
}

// Refunded returns the IDs of the invoices of which withdrawals refund payments, by the withdrawals' IDs; any other
// withdrawal is left out.
func (tx Invoices) Refunded(ctx context.Context, withdrawals []bursar.ID) (map[bursar.ID]bursar.ID, error) {
	found := map[bursar.ID]bursar.ID{}
	for part := range parts(tx.Tx, withdrawals) {
		those, args := among(tx.Tx, "r.withdrawal", part)
		_, err := rows(ctx, tx.Tx, "read the invoices of refunds", func(s scanner) (none struct{}, err error) {
			var withdrawal, invoice bursar.ID
			err = s.Scan(&withdrawal, &invoice)
			found[withdrawal] = invoice
			return none, err
		}, `SELECT r.withdrawal, i.id FROM invoice_refunds r JOIN invoices i ON i.number = r.invoice WHERE `+those, args...)
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// SecondRefunds returns the other withdrawals that refund the payment which a withdrawal refunds and that did not
// end unpaid, newest first, and by how much all of them exceed what the payment credited. A withdrawal that refunds
// none has none.
func (tx Invoices) SecondRefunds(ctx context.Context, withdrawal bursar.ID) (others []bursar.ID, excess bursar.Amount,
	err error) {
	var total, credited bursar.Amount
	_, err = rows(ctx, tx.Tx, "read the refunds of a payment", func(s scanner) (none struct{}, err error) {
		var r bursar.InvoiceRefund
		var amount, fee bursar.Amount
		if err := s.Scan(&r.Withdrawal, &r.Amount, &r.Status, &amount, &fee); err != nil {
			return none, err
		}
		credited = amount.SubOrZero(fee)
		if !r.Stands() {
			return none, nil
		}
		if total, err = total.Add(r.Amount); err == nil && r.Withdrawal != withdrawal {
			others = append(others, r.Withdrawal)
		}
		return none, err
	}, `SELECT r.withdrawal, r.amount, w.status, d.amount, d.fee
		FROM invoice_refunds f
		JOIN invoice_refunds r ON r.invoice = f.invoice AND r.deposit = f.deposit
		JOIN withdrawals w ON w.id = r.withdrawal
		JOIN deposits d ON d.id = r.deposit
		WHERE f.withdrawal = $1 ORDER BY w.number DESC`, withdrawal)
	return others, total.SubOrZero(credited), err
}

// Turning returns the numbers of invoices whose status has changed by itself and is not recorded so, up to a limit.
func (tx Invoices) Turning(ctx context.Context, now time.Time, limit int) ([]int64, error) {
	return rows(ctx, tx.Tx, "list turning invoices", scanOne[int64],
		`SELECT number FROM invoices WHERE turns_at > 0 AND turns_at <= $1 ORDER BY turns_at LIMIT $2`, micros(now), limit)
}
