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
func (k Assessor) isFor(p chain.Payment, j journaled) bool {
	currency, err := k.Registry.Get(j.Currency)
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

func fatesOf(ctx context.Context, tx *store.Tx, journal []marks.Entry, counted map[string]int64) (f fates, err error) {
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
		switch {
		case status == bursar.OutgoingFinal && slices.ContainsFunc(e.Pays, func(id string) bool {
			return slices.Contains(unpaid, id)
		}):
			// It has paid something that the database does not count as paid: it stays in the journal, so that nothing
			// else pays it.
		case status == bursar.OutgoingNew && slices.Contains(signed,
			store.ForgottenPayment{Chain: bursar.ChainID(e.Chain), Number: e.Number}.Name()):
			// It was signed, although its outgoing transaction is new again: the entry is needed if the database is
			// restored once more.
		case status == bursar.OutgoingFinal || status == bursar.OutgoingAbandoned,
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

// unpaidOf returns what final transactions in the journal have paid and the database does not count as paid, which
// means that it was changed there: a transaction becomes final in the commit that settles its payments.
func unpaidOf(ctx context.Context, tx *store.Tx, journal []marks.Entry, ids []bursar.ID,
	statuses map[bursar.ID]bursar.OutgoingStatus) ([]string, error) {
	var orders []bursar.ID
	for i, e := range journal {
		if statuses[ids[i]] != bursar.OutgoingFinal {
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
	unpaid := make([]string, len(found))
	for i, id := range found {
		unpaid[i] = id.String()
	}
	return unpaid, err
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
