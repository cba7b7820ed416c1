package xrpl

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// scanner walks one ledger. Each address is asked about once.
type scanner struct {
	watch chain.Watch
	known map[string]bool
	out   chain.Block
}

// scan tells what a ledger did to watched addresses. An error is a contradiction in the node's answer.
func scan(l *ledger, watch chain.Watch) (chain.Block, error) {
	w := &scanner{watch: watch, known: map[string]bool{}, out: chain.Block{Ref: l.ref(), Parent: l.Parent.String(), Time: l.time()}}
	for i := range l.Txs {
		tx := &l.Txs[i]
		w.own(tx)
		if !tx.succeeded() {
			continue // a tec result takes the fee and delivers nothing
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

// own tells a transaction of ours from one that somebody else made with a key of ours.
func (w *scanner) own(tx *transaction) {
	id := tx.Hash.String()
	if w.watch.Sent(id) {
		w.out.Included = append(w.out.Included, chain.Inclusion{TxID: id, Failed: !tx.succeeded(), Fee: tx.Fee.Amount})
	} else if w.pays(tx.Account) {
		w.out.Foreign = append(w.out.Foreign, chain.Foreign{TxID: id, Base: tx.Account})
	}
}

var (
	errNoDelivered = errors.New("a payment does not say what it delivered")
	errDelivered   = errors.New("what was delivered is not what the balance gained")
)

// gains adds the XRP that each watched account gained, whatever the transaction's type: payments, checks, escrows, payment
// channels, deleted accounts, and types that are yet to come.
func (w *scanner) gains(tx *transaction) error {
	accounted := false
	for _, node := range tx.Meta.Nodes {
		base, gain, err := w.gain(tx, node)
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
		if address.Memo, address.HasMemo, err = tx.tagFor(base); err != nil {
			return err
		}
		w.out.Transfers = append(w.out.Transfers, chain.Transfer{TxID: tx.Hash.String(), Address: address, Amount: gain})
	}
	if to := string(tx.Destination); tx.Type == "Payment" && !accounted && to != tx.Account && w.pays(to) {
		return tx.delivered(bursar.Amount{}) // its balance stayed the same
	}
	return nil
}

// delivered compares a payment's delivered_amount with the receiver's gain. An object is an issued currency or an MPT, of
// which the receiver gains no XRP. Amount and DeliverMax may say more: a partial payment delivers less.
func (tx *transaction) delivered(gain bursar.Amount) error {
	told := tx.Meta.Delivered
	switch told.Kind() {
	case jsontext.KindBeginObject:
		if gain.IsZero() {
			return nil
		}
	case jsontext.KindString:
		amount, err := dropsOf(told)
		if err != nil {
			return fmt.Errorf("%w: %.40q", errNoDelivered, told)
		}
		if amount == gain {
			return nil
		}
	default:
		return errNoDelivered
	}
	return fmt.Errorf("%w: %.80s and %s", errDelivered, told, gain)
}

// accountRoot is what is used of an AccountRoot entry.
type accountRoot struct {
	Account string `json:"Account"`
	Balance *drops `json:"Balance"`
}

// gain returns a watched account that an entry is of, and how much its balance rose through others: the fee that it paid
// itself is no loss to what came in. Base is empty for every other entry.
func (w *scanner) gain(tx *transaction, node change) (base string, gain bursar.Amount, err error) {
	var before, after accountRoot
	switch {
	case node.Created != nil && node.Created.Type == "AccountRoot":
		after, err = read[accountRoot](node.Created.New)
	case node.Modified != nil && node.Modified.Type == "AccountRoot":
		after, before, err = node.Modified.twoSides()
	case node.Deleted != nil && node.Deleted.Type == "AccountRoot":
		after, before, err = node.Deleted.twoSides()
	}
	if err != nil || !w.pays(after.Account) {
		return "", gain, err
	}
	if after.Balance == nil {
		return after.Account, gain, fmt.Errorf("%w: an account without a balance", errPartial)
	}
	if before.Balance == nil {
		before.Balance = after.Balance // it did not change
		if node.Created != nil {
			before.Balance = new(drops)
		}
	}
	had, have := before.Balance.Amount, after.Balance.Amount
	if tx.feePayer() == after.Account {
		if have, err = have.Add(tx.Fee.Amount); err != nil {
			return "", gain, err
		}
	}
	return after.Account, have.SubOrZero(had), nil
}

func (tx *transaction) feePayer() string {
	if tx.Delegate != "" {
		return string(tx.Delegate)
	}
	return tx.Account
}

func (e *entry) twoSides() (after, before accountRoot, err error) {
	if after, err = read[accountRoot](e.Final); err != nil || len(e.Previous) == 0 {
		return after, before, err
	}
	before, err = read[accountRoot](e.Previous)
	return after, before, err
}

func read[T any](fields jsontext.Value) (out T, err error) {
	if len(fields) == 0 {
		return out, nil // a threaded entry, of which nothing changed
	}
	if err := json.Unmarshal(fields, &out); err != nil {
		return out, fmt.Errorf("%w: %w", errAnswer, err)
	}
	return out, nil
}

// promise is what is used of a Check, an Escrow or a PayChannel: who gets it, under which tag.
type promise struct {
	Destination word    `json:"Destination"`
	Tag         *uint32 `json:"DestinationTag"`
}

// tagFor returns the tag under which an account was paid: the transaction's own, or that of the check, escrow or channel
// that it cashed.
func (tx *transaction) tagFor(base string) (tag uint32, has bool, err error) {
	if string(tx.Destination) == base {
		return tagOf(tx.Tag)
	}
	for _, node := range tx.Meta.Nodes {
		cashed := node.Deleted
		if cashed == nil {
			cashed = node.Modified
		}
		if cashed == nil || cashed.Type != "Check" && cashed.Type != "Escrow" && cashed.Type != "PayChannel" {
			continue
		}
		p, err := read[promise](cashed.Final)
		if err != nil {
			return 0, false, err
		}
		if string(p.Destination) == base {
			return tagOf(p.Tag)
		}
	}
	return 0, false, nil
}

func tagOf(tag *uint32) (uint32, bool, error) {
	if tag == nil {
		return 0, false, nil
	}
	return *tag, true, nil
}
