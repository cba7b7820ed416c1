package main

import (
	"bufio"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/big"

	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// formatCamt is a statement by ISO 20022, camt.053.001.08. It knows the currencies of ISO 4217 only, so its amounts are
// what each movement was worth when it was posted.
const (
	formatCamt    = "camt.053"
	camtNamespace = "urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"
)

// camtStatement is the part of a statement before its entries.
type camtStatement struct {
	number  int
	opening *big.Int // in the minor units
	closing *big.Int
	left    int // movements before the period without a value
}

// camt writes the account's statement of a period in one fiat currency. Every movement of the period must have a value:
// a statement that leaves some out would not add up.
func (x *export) camt(ctx context.Context, to io.Writer) error {
	s, err := x.camtSums(ctx)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(to)
	w := &camtWriter{out: out, xml: xml.NewEncoder(out), x: x}
	w.xml.Indent("", " ")
	w.head(s)
	q := store.LineQuery{Accounts: x.sides(), Since: x.since, Until: x.until}
	err = x.movements(ctx, q, func(m camtMovement) error {
		w.entry(m)
		return w.err
	})
	if err != nil {
		return err
	}
	w.end(s)
	return errors.Join(w.err, out.Flush())
}

// sides are the accounts in the books of the owner.
func (x *export) sides() []ledger.Account {
	return []ledger.Account{ledger.Available(x.owner), ledger.Held(x.owner)}
}

// camtSums reads the whole history for the balances before and after the period.
func (x *export) camtSums(ctx context.Context) (s camtStatement, err error) {
	if err := x.ownsAll(ctx); err != nil {
		return s, err
	}
	s.opening = new(big.Int)
	err = x.movements(ctx, store.LineQuery{Accounts: x.sides(), Until: x.since}, func(m camtMovement) error {
		if m.value == nil {
			s.left++
			return nil
		}
		s.opening.Add(s.opening, m.value)
		return nil
	})
	if err != nil {
		return s, err
	}
	s.closing, s.number, err = x.worthOfPeriod(ctx)
	if err == nil {
		s.closing.Add(s.closing, s.opening)
	}
	return s, err
}

// ownsAll fails if the owner is unknown, or has entries in archives that are not named.
func (x *export) ownsAll(ctx context.Context) error {
	err := x.db.View(ctx, func(tx *store.Tx) error {
		_, err := tx.Accounts().Get(ctx, x.owner)
		return err
	})
	if err != nil {
		return err
	}
	archived, err := x.begin(ctx, x.sides())
	if err == nil && len(archived) > 0 {
		err = errors.New("the account has entries in archives of the books: name all of these with --archive FILE")
	}
	return err
}

// worthOfPeriod returns what the movements of the period come to, in the minor units, and how many they are. It
// fails where one of them has no value, since what leaves some out does not add up.
func (x *export) worthOfPeriod(ctx context.Context) (sum *big.Int, number int, err error) {
	sum = new(big.Int)
	missing, first := 0, ""
	period := store.LineQuery{Accounts: x.sides(), Since: x.since, Until: x.until}
	err = x.movements(ctx, period, func(m camtMovement) error {
		if m.value == nil {
			if missing++; missing == 1 {
				first = fmt.Sprintf("%s %s of %s", m.Kind, m.Ref, instant(m.At))
			}
			return nil
		}
		sum.Add(sum, m.value)
		number++
		return nil
	})
	if err == nil && missing > 0 {
		err = fmt.Errorf("%d movements of the period have no value in %s, because no rate counted when they were posted, so "+
			"a statement would not add up; the first is %s. Export as CSV, where their value is empty", missing,
			x.value.Code, first)
	}
	return sum, number, err
}

// camtMovement is a line that changes what the account owns.
type camtMovement struct {
	store.Line
	ledger.Movement
	detail
	value *big.Int // with its sign, in the minor units; nil: not known
	text  string   // the amount with its currency
}

// movements calls f with the lines of a query that change what the account owns: not with those that only hold some.
func (x *export) movements(ctx context.Context, q store.LineQuery, f func(camtMovement) error) error {
	return x.each(ctx, q, func(ctx context.Context, lines []store.Line) error {
		k, err := x.details(ctx, lines)
		if err != nil {
			return err
		}
		for _, l := range lines {
			m, err := x.movement(l, k)
			if err != nil {
				return err
			}
			if m.text == "" {
				continue
			}
			if err := f(m); err != nil {
				return err
			}
		}
		return nil
	})
}

// movement returns a line as a movement, without text where the account owns the same after it.
func (x *export) movement(l store.Line, k facts) (m camtMovement, err error) {
	m.Line = l
	if m.Movement, err = ledger.MovementOf(x.owner, l.Kind, l.Ref, l.Place, l.Posting); err != nil {
		return m, err
	}
	running := ledger.Running{}
	owned, err := running.Add(l.Asset, m.Movement)
	if err != nil {
		return m, err
	}
	available, minus := owned.Available.Net(ledger.Liability)
	held, heldMinus := owned.Held.Net(ledger.Liability)
	if available == held && minus != heldMinus {
		return m, nil
	}
	currency, err := x.currency(l.Asset)
	if err != nil {
		return m, err
	}
	if m.detail, err = x.detail(l, k); err != nil {
		return m, err
	}
	m.text = currency.Exact(l.Amount) + " " + string(l.Asset)
	if m.value, _, err = x.worth(l, k); err == nil && m.value != nil && (minus || heldMinus) {
		m.value.Neg(m.value)
	}
	return m, err
}
