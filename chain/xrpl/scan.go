package xrpl

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// scanner evaluates one ledger. It looks up each address once.
type scanner struct {
	watch chain.Watch
	known map[string]bool
	out   chain.Block
}

// scan returns a ledger's effects on watched addresses. An error means a contradiction in the node's answer.
func scan(l *ledger, watch chain.Watch) (chain.Block, error) {
	w := &scanner{watch: watch, known: map[string]bool{},
		out: chain.Block{Ref: l.ref(), Parent: l.Parent.String(), Time: l.time()}}
	for i := range l.Txs {
		tx := &l.Txs[i]
		if err := w.own(tx); err != nil {
			return chain.Block{}, fmt.Errorf("transaction %s: %w", tx.Hash, err)
		}
		if !tx.succeeded() {
			continue // a tec result costs the fee and delivers nothing
		}
		if err := w.gains(tx); err != nil {
			return chain.Block{}, fmt.Errorf("transaction %s: %w", tx.Hash, err)
		}
	}
	return w.out, nil
}

func (w *scanner) pays(base string) bool {
	pays, asked := w.known[base]
	if !asked && base != "" {
		pays = w.watch.Pays(base)
		w.known[base] = pays
	}
	return pays
}

var (
	errNoDelivered = errors.New("a payment has no delivered_amount")
	errDelivered   = errors.New("the delivered amount differs from the balance change")
)

// gains adds the XRP that each watched account gained, whatever the transaction's type: payments, checks, escrows,
// payment channels, deleted accounts, and future types.
func (w *scanner) gains(tx *transaction) error {
	accounted := false
	for _, node := range tx.Meta.Nodes {
		base, gain, _, err := w.moved(tx, node)
		if err != nil {
			return err
		}
		if base == "" {
			continue
		}
		if tx.Type == "Payment" && string(tx.Destination) == base && base != tx.Account {
			accounted = true
			if err := tx.delivered(gain); err != nil {
				return err
			}
		}
		if gain.IsZero() {
			continue
		}
		address := bursar.Address{Base: base}
		address.Memo, address.HasMemo = tx.tagFor(base)
		w.out.Transfers = append(w.out.Transfers, chain.Transfer{TxID: tx.Hash.String(), Address: address, Amount: gain})
	}
	if to := string(tx.Destination); tx.Type == "Payment" && !accounted && to != tx.Account && w.pays(to) {
		return tx.delivered(bursar.Amount{}) // its balance stayed the same
	}
	return nil
}

// delivered compares a payment's delivered_amount with the receiver's gain. An object is an issued currency or an MPT,
// which brings the receiver no XRP. Amount and DeliverMax may be higher: a partial payment delivers less.
func (tx *transaction) delivered(gain bursar.Amount) error {
	delivered := tx.Meta.Delivered
	switch delivered.Kind() {
	case jsontext.KindBeginObject:
		if gain.IsZero() {
			return nil
		}
	case jsontext.KindString:
		amount, err := dropsOf(delivered)
		if err != nil {
			return fmt.Errorf("%w: %.40q", errNoDelivered, delivered)
		}
		if amount == gain {
			return nil
		}
	default:
		return errNoDelivered
	}
	return fmt.Errorf("%w: %.80s and %s", errDelivered, delivered, gain)
}

// moved returns the watched account of an entry, and how much its balance rose or fell because of others: the fee that
// the account itself paid does not reduce what it received. Base is empty for every other entry.
func (w *scanner) moved(tx *transaction, node change) (base string, gain, loss bursar.Amount, err error) {
	after, before := node.account()
	base = string(after.Account)
	if !w.pays(base) {
		return "", gain, loss, nil
	}
	switch {
	case !after.Balance.there:
		return base, gain, loss, fmt.Errorf("%w: the balance of an account", errPartial)
	case after.Balance.bad || before.Balance.bad:
		return base, gain, loss, fmt.Errorf("%w: account %s", errDrops, base)
	}
	had, have := before.Balance.Amount, after.Balance.Amount
	if tx.feePayer() == base {
		if have, err = have.Add(tx.Fee.Amount); err != nil {
			return "", gain, loss, err
		}
	}
	return base, have.SubOrZero(had), had.SubOrZero(have), nil
}

// account returns an AccountRoot after and before the transaction. Both are empty for an entry of another type.
func (node change) account() (after, before fields) {
	switch {
	case node.Created != nil && node.Created.Type == "AccountRoot":
		after, before.Balance.there = node.Created.New, true
	case node.Modified != nil && node.Modified.Type == "AccountRoot":
		after, before = node.Modified.Final, node.Modified.Previous
	case node.Deleted != nil && node.Deleted.Type == "AccountRoot":
		after, before = node.Deleted.Final, node.Deleted.Previous
	}
	if !before.Balance.there {
		before.Balance = after.Balance // it did not change
	}
	return after, before
}

func (tx *transaction) feePayer() string {
	if tx.Delegate != "" {
		return string(tx.Delegate)
	}
	return tx.Account
}

// tagFor returns the tag under which an account was paid: that of the transaction, or that of the check, escrow or
// channel that it cashed.
func (tx *transaction) tagFor(base string) (tag uint32, has bool) {
	if string(tx.Destination) == base {
		return tx.Tag.value, tx.Tag.there
	}
	for _, node := range tx.Meta.Nodes {
		cashed := node.Deleted
		if cashed == nil {
			cashed = node.Modified
		}
		if cashed == nil || cashed.Type != "Check" && cashed.Type != "Escrow" && cashed.Type != "PayChannel" {
			continue
		}
		if p := cashed.Final; string(p.Destination) == base {
			return p.Tag.value, p.Tag.there
		}
	}
	return 0, false
}
