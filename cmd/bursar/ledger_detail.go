package main

import (
	"context"
	"fmt"
	"math/big"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/oversight"
	"github.com/bursar/bursar/store"
)

// detail is what a line is about beside its amount, and what that was worth when it was posted.
type detail struct {
	HashID        string              `json:"hashID"`       // of the transaction; empty: none yet
	Address       string              `json:"address"`      // that received
	Counterparty  string              `json:"counterparty"` // what the account calls the other side
	Rate          string              `json:"rate"`         // empty: none counted, or no values are asked for
	Value         string              `json:"value"`        // of the amount, without a sign
	ValueCurrency bursar.CurrencyCode `json:"valueCurrency"`
}

func (detail) head() []string {
	return []string{"hashID", "address", "counterparty", "rate", "value", "valueCurrency"}
}

func (d detail) cells() []string {
	return []string{d.HashID, d.Address, oversight.Inert(d.Counterparty), d.Rate, d.Value, string(d.ValueCurrency)}
}

// facts is what the database has about some lines.
type facts struct {
	deposits    map[bursar.ID]bursar.Deposit
	withdrawals map[bursar.ID]bursar.Withdrawal
	rates       map[store.EntryAsset]bursar.PairRate
}

// valuedIn has values written in a fiat currency; an empty code: none.
func (x *export) valuedIn(code string) error {
	if code == "" {
		return nil
	}
	unit, is := bursar.FiatUnit(bursar.CurrencyCode(code))
	if !is {
		return wrong("--value %q is not a fiat currency by ISO 4217, such as EUR", code)
	}
	x.value = unit
	return nil
}

// details reads what is known about some lines, in one transaction.
func (x *export) details(ctx context.Context, lines []store.Line) (k facts, err error) {
	var deposits, withdrawals []bursar.ID
	for _, l := range oneOfEach(lines) {
		about := ledger.SubjectOf(l.Kind, l.Ref)
		if !about.Deposit.IsZero() {
			deposits = append(deposits, about.Deposit)
		}
		if !about.Withdrawal.IsZero() {
			withdrawals = append(withdrawals, about.Withdrawal)
		}
	}
	err = x.db.View(ctx, func(tx *store.Tx) (err error) {
		if k.deposits, err = tx.Deposits().ByIDs(ctx, deposits); err != nil {
			return err
		}
		if k.withdrawals, err = tx.Withdrawals().Recorded(ctx, withdrawals); err != nil {
			return err
		}
		k.rates, err = x.rates(ctx, tx, lines)
		return err
	})
	return k, err
}

// rates returns the rates of the entries of some lines; none where no values are asked for.
func (x *export) rates(ctx context.Context, tx *store.Tx, lines []store.Line) (
	map[store.EntryAsset]bursar.PairRate, error) {
	if x.value.Code == "" || len(lines) == 0 {
		return nil, nil
	}
	var entries []int64
	for _, l := range oneOfEach(lines) {
		entries = append(entries, l.Entry)
	}
	return tx.EntryRates().Of(ctx, x.value.Code, entries)
}

// oneOfEach returns a line of each entry.
func oneOfEach(lines []store.Line) (first []store.Line) {
	seen := map[int64]bool{}
	for _, l := range lines {
		if !seen[l.Entry] {
			seen[l.Entry] = true
			first = append(first, l)
		}
	}
	return first
}

// detail returns what a line is about.
func (x *export) detail(l store.Line, k facts) (d detail, err error) {
	about := ledger.SubjectOf(l.Kind, l.Ref)
	d.HashID = about.TxID
	if deposit, there := k.deposits[about.Deposit]; there {
		d.HashID, d.Address, d.Counterparty = deposit.TxID, deposit.Address.String(), deposit.Metadata
	}
	if w, there := k.withdrawals[about.Withdrawal]; there {
		d.HashID, d.Address = w.TxID, w.Address.String()
		if w.AccountID == x.owner || x.owner.IsZero() { // to another account it is not said
			d.Counterparty = w.Reference
		}
	}
	value, rate, err := x.worth(l, k)
	if err != nil || value == nil {
		return d, err
	}
	d.Rate, d.ValueCurrency = rate.String(), x.value.Code
	d.Value, err = x.fiat(value)
	return d, err
}

// worth returns what a line's amount was worth when it was posted, in the minor units of the fiat currency and
// rounded to the nearest; nil where that is not known.
func (x *export) worth(l store.Line, k facts) (*big.Int, bursar.Rate, error) {
	rate := k.rates[store.EntryAsset{Entry: l.Entry, Asset: l.Asset}].Rate
	if !rate.IsKnown() {
		return nil, rate, nil
	}
	currency, err := x.currency(l.Asset)
	if err != nil {
		return nil, rate, err
	}
	exact, err := rate.Value(l.Amount, currency, x.value)
	if err != nil {
		return nil, rate, fmt.Errorf("the value of entry %d: %w", l.Entry, err)
	}
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(x.value.Decimals-x.value.Places)), nil)
	value := new(big.Int).Add(exact.Big(), new(big.Int).Rsh(unit, 1)) // half of one is rounded up
	return value.Quo(value, unit), rate, nil
}

// fiat writes a number of the minor units, without its sign.
func (x *export) fiat(minorUnits *big.Int) (string, error) {
	amount, err := bursar.AmountFromBig(new(big.Int).Abs(minorUnits))
	if err != nil {
		return "", err
	}
	return amount.Decimal(x.value.Places, x.value.Places), nil
}
