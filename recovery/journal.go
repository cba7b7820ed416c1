package recovery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/marks"
	"github.com/bursar/bursar/store"
)

// content is the journal's record of an outgoing transaction: enough to sign the very same bytes again, because
// signatures are deterministic (RFC 6979, RFC 8032), and to say whom it pays if that is missing from the database as
// well.
type content struct {
	Kind        string               `json:"kind"`
	Currency    bursar.CurrencyCode  `json:"currency"`
	Share       bursar.OutgoingShare `json:"share"`
	Base        string               `json:"base"`
	Request     json.RawMessage      `json:"order"`
	Unsigned    json.RawMessage      `json:"draft"`
	Withdrawals []journaled          `json:"withdrawals,omitempty"`
	Refund      *journaled           `json:"refund,omitempty"`
}

// journaled is a withdrawal, or a refund to a sender, that an outgoing transaction pays.
type journaled struct {
	ID      bursar.ID `json:"id"`
	Account bursar.ID `json:"account,omitzero"`
	Deposit bursar.ID `json:"deposit,omitzero"` // of a refund
	// Came is the transaction and output of that deposit: an older database reads it again under another ID. Empty in
	// entries of earlier releases.
	Came     string              `json:"came,omitempty"`
	Currency bursar.CurrencyCode `json:"currency"`
	Address  bursar.Address      `json:"address"`
	Amount   bursar.Amount       `json:"amount"`
}

// isFor reports whether a payment is the one that was made for a journaled withdrawal. The asset of a currency that is
// not configured any more is not known, and not compared.
func (a Assessor) isFor(p chain.Payment, j journaled) bool {
	currency, err := a.Registry.Get(j.Currency)
	return p.Address == j.Address && p.Amount == j.Amount && (err != nil || p.Contract == currency.Contract)
}

// entryOf describes an outgoing transaction for the journal, as of the database transaction that counts its signature.
func entryOf(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx) (e marks.Entry, err error) {
	c := content{
		Kind:     p.Kind,
		Currency: p.Currency,
		Share:    p.Share,
		Base:     p.Base,
		Request:  p.Request,
		Unsigned: p.Unsigned,
	}
	e = marks.Entry{Chain: string(p.Chain), OutgoingID: p.ID.String()}
	withdrawals, err := tx.Withdrawals().PaidBy(ctx, p.ID)
	if err != nil {
		return e, err
	}
	for _, w := range withdrawals {
		c.Withdrawals = append(c.Withdrawals, journaled{
			ID:       w.ID,
			Account:  w.AccountID,
			Currency: w.Currency,
			Address:  w.Address,
			Amount:   w.Amount,
		})
		e.Pays = append(e.Pays, w.ID.String())
	}
	n, err := tx.Resolutions().RefundPaidBy(ctx, p.ID)
	if err == nil {
		d, err := tx.Deposits().ByID(ctx, n.DepositID)
		if err != nil {
			return e, err
		}
		c.Refund = &journaled{ID: n.ID, Deposit: d.ID, Came: fmt.Sprintf("%s/%d", d.TxID, d.Output), Currency: n.Currency,
			Address: n.Address, Amount: n.Amount}
		e.Pays = append(e.Pays, n.ID.String())
	} else if !errors.Is(err, store.ErrNotFound) {
		return e, err
	}
	if e.Content, err = json.Marshal(c); err != nil {
		return e, fmt.Errorf("encode outgoing transaction %s for the journal: %w", p.ID, err)
	}
	return e, nil
}

// fates are the outcomes that a database has for the transactions in the journal.
type fates struct {
	ended   []marks.Ended // need not be put back any more
	claimed []marks.Entry // may be signed or not: the commit that stored the bytes may be lost
	lost    []marks.Entry // the database has lost that they were signed
}

func fatesOf(ctx context.Context, tx *store.Tx, kept marks.State, counted map[string]int64) (f fates, err error) {
	journal := kept.Journal
	ids := make([]bursar.ID, len(journal))
	for i, e := range journal {
		if ids[i], err = bursar.ParseID(e.OutgoingID); err != nil {
			return f, fmt.Errorf("%w: read the journal: %w", marks.ErrUnusable, err)
		}
	}
	statuses, err := tx.Outgoing().Statuses(ctx, ids)
	if err != nil {
		return f, err
	}
	unpaid, err := unpaidOf(ctx, tx, journal, ids, statuses)
	if err != nil {
		return f, err
	}
	signed, err := tx.ForgottenPayments().Ever(ctx)
	if err != nil {
		return f, err
	}
	for i, e := range journal {
		status, known := statuses[ids[i]]
		ever := slices.Contains(signed, store.ForgottenPayment{Chain: bursar.ChainID(e.Chain), Number: e.Number}.Name())
		pays := slices.ContainsFunc(e.Pays, func(id string) bool { return slices.Contains(unpaid, id) })
		stands, err := standsIn(ctx, tx, kept, e, status, ever)
		if err != nil {
			return f, err
		}
		switch {
		case status == bursar.OutgoingFinal && pays, status == bursar.OutgoingAbandoned && pays && stands:
			// It has paid something that the database does not count as paid, or still may: it stays in the journal, so that
			// nothing else pays it.
		case status == bursar.OutgoingNew && ever:
			// It was signed, although its outgoing transaction is new again: the entry is needed if the database is
			// restored once more.
		case status == bursar.OutgoingNew && stands && e.Number <= counted[e.Chain]:
			f.claimed = append(f.claimed, e) // the signer has refused nothing that is in the journal
		case status == bursar.OutgoingFinal || status == bursar.OutgoingAbandoned, !known && ever && !stands,
			status == bursar.OutgoingNew && e.Number <= counted[e.Chain]:
			f.ended = append(f.ended, marks.Ended{Chain: e.Chain, Number: e.Number}) // the signer refused a new one
		case status == bursar.OutgoingReserved && e.Number <= counted[e.Chain]:
			f.claimed = append(f.claimed, e)
		case !known, status == bursar.OutgoingNew, status == bursar.OutgoingReserved:
			f.lost = append(f.lost, e)
		}
	}
	return f, nil
}

// standsIn reports whether an entry stays whatever the database says of its outgoing transaction, which has ended
// there, is new, or is not known: it pays others, and may still be included. One that became another outgoing
// transaction in a restored database ends with that.
func standsIn(ctx context.Context, tx *store.Tx, kept marks.State, e marks.Entry, status bursar.OutgoingStatus,
	ever bool) (bool, error) {
	switch status {
	case bursar.OutgoingAbandoned, bursar.OutgoingNew:
		if len(e.Pays) == 0 {
			return false, nil
		}
	case "":
		if !ever {
			return true, nil
		}
	default:
		return true, nil
	}
	s, err := signedOf(ctx, tx, e)
	if err != nil {
		return true, err
	}
	if status == "" {
		ended, err := endedAs(ctx, tx, kept, s)
		return !ended, err
	}
	over, err := neverIncluded(ctx, tx, kept, s)
	return !over, err
}

// endedAs reports whether the outgoing transaction that a forgotten one became has ended: it is final, and what it paid
// is not paid again, or it can never be included.
func endedAs(ctx context.Context, tx *store.Tx, kept marks.State, s signedTx) (bool, error) {
	if !s.left || s.knownAs.IsZero() {
		return false, nil
	}
	statuses, err := tx.Outgoing().Statuses(ctx, []bursar.ID{s.knownAs})
	if err != nil || statuses[s.knownAs] != bursar.OutgoingFinal {
		if err == nil && statuses[s.knownAs] == bursar.OutgoingAbandoned {
			return neverIncludedAs(ctx, tx, kept, s)
		}
		return false, err
	}
	unpaid, err := unpaidOf(ctx, tx, []marks.Entry{s.Entry}, []bursar.ID{s.knownAs}, statuses)
	return len(unpaid) == 0, err
}

// unpaidOf returns what transactions in the journal that are final or have ended have paid, and the database does not
// count as paid, or the books still hold the money of. Of a final one that means that it was changed there: a
// transaction becomes final in the commit that settles its payments and ends their holds.
func unpaidOf(ctx context.Context, tx *store.Tx, journal []marks.Entry, ids []bursar.ID,
	statuses map[bursar.ID]bursar.OutgoingStatus) ([]string, error) {
	var orders []bursar.ID
	for i, e := range journal {
		if status := statuses[ids[i]]; status != bursar.OutgoingFinal && status != bursar.OutgoingAbandoned {
			continue
		}
		for _, pays := range e.Pays {
			id, err := bursar.ParseID(pays)
			if err != nil {
				return nil, fmt.Errorf("%w: read the journal: %w", marks.ErrUnusable, err)
			}
			orders = append(orders, id)
		}
	}
	found, err := tx.Withdrawals().UnpaidAmong(ctx, orders)
	if err != nil {
		return nil, err
	}
	var unpaid []string
	for some := range slices.Chunk(orders, 500) {
		notOwed, err := tx.Withdrawals().NotOwed(ctx, some, false)
		if err != nil {
			return nil, err
		}
		for _, id := range some {
			if _, not := notOwed[id]; !not || slices.Contains(found, id) {
				unpaid = append(unpaid, id.String())
			}
		}
	}
	return unpaid, nil
}

// noteForgotten records transactions that were signed, or may have been, to be put back by the next holder of the chain
// lease. sure says that no other marks were used: then an entry is the newest transaction for its payments.
func noteForgotten(ctx context.Context, tx *store.Tx, entries []marks.Entry, sure bool) error {
	for _, e := range entries {
		id, err := bursar.ParseID(e.OutgoingID)
		if err != nil {
			return fmt.Errorf("%w: read the journal: %w", marks.ErrUnusable, err)
		}
		f := store.ForgottenPayment{
			Chain:      bursar.ChainID(e.Chain),
			Number:     e.Number,
			OutgoingID: id,
			Content:    e.Content,
			Sure:       sure,
		}
		if err := tx.ForgottenPayments().Note(ctx, f); err != nil {
			return err
		}
	}
	return nil
}
