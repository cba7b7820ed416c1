package deposit

import (
	"context"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/follow"
	"github.com/bursar/bursar/store"
)

// Apply records a block's transfers as deposits. A transfer made by an outgoing transaction of the service (change, a
// sweep, a gas top-up) is never a deposit.
func (h *Handler) Apply(ctx context.Context, tx *store.Tx, b *follow.Block) error {
	made, err := readOwn(ctx, tx, b)
	if err != nil {
		return err
	}
	weights := weigh(b.Transfers)
	var list []store.NewDeposit
	for _, t := range b.Transfers {
		w, known := b.Wallets[t.Address]
		cold := h.Cold[t.Address.Base]
		if !known && !h.isHot(t.Address.Base) && !h.Capabilities.SharedAddress && !cold {
			continue // the watch matched an address that is not of this service
		}
		if t.Amount.IsZero() {
			continue // a zero transfer: the books allow no posting of zero
		}
		if cold && b.Cold[t.TxID] || !cold && made.isInternal(b.Ours[t.TxID], known) {
			continue
		}
		currency, configured := h.Registry.Asset(h.Capabilities.ID, t.Contract)
		if !configured {
			h.ignore(tx, b, t)
			continue
		}
		if cold {
			w, known = bursar.Wallet{}, false
		}
		d := h.newDeposit(tx, b, t, w, currency, weights)
		if purpose, is := h.coldPurpose(b, t, made, known); is {
			d.Purpose = purpose
		}
		list = append(list, d)
	}
	return h.recordAll(ctx, tx, list)
}

func (h *Handler) newDeposit(
	tx *store.Tx, b *follow.Block, t chain.Transfer, w bursar.Wallet, currency bursar.Currency, weights weights,
) store.NewDeposit {
	purpose := h.purpose(t, w, currency)
	required, opinions := needs(currency, weights.of(t))
	a := store.NewDeposit{CountsFrom: t.CountsFrom, Opinions: opinions, Deposit: bursar.Deposit{
		ID:        h.IDs.Next(),
		Purpose:   purpose,
		Currency:  currency.Code,
		Chain:     h.Capabilities.ID,
		TxID:      t.TxID,
		Output:    t.Output,
		Address:   t.Address,
		Contract:  t.Contract,
		Amount:    t.Amount,
		Height:    b.Ref.Height,
		BlockHash: b.Ref.Hash,
		SeenAt:    tx.Now(),
		Required:  required,
	}}
	if !b.Time.IsZero() && b.Time.Before(a.SeenAt) {
		a.SeenAt = b.Time // while catching up, a payment counts from the time of its block
	}
	if w.Number != 0 && purpose != bursar.ForUnattributed {
		a.Wallet, a.AccountID, a.Webhook, a.Metadata, a.WalletID = w.Number, w.AccountID, w.Webhook, w.Metadata, w.ID
	}
	return a
}

// ignore counts a transfer of an asset that the registry does not contain: an adapter that reports more than is
// configured, or another spelling of a contract, stops nothing.
func (h *Handler) ignore(tx *store.Tx, b *follow.Block, t chain.Transfer) {
	tx.After(func() {
		h.ignored.Add(1)
		h.Log.Warn("transfer of an asset that is not configured ignored", "chain", h.Capabilities.ID, "contract", t.Contract,
			"hash", t.TxID,
			"height", b.Ref.Height, "address", t.Address.String())
	})
}

// Ignored returns how many transfers of assets that are not in the registry were ignored since the start.
func (h *Handler) Ignored() uint64 { return h.ignored.Load() }

// own is what the database knows of the outgoing transactions that a block includes.
type own struct {
	kinds   map[bursar.ID]string
	settled map[bursar.ID]bool // external spends that an operator has settled
}

func readOwn(ctx context.Context, tx *store.Tx, b *follow.Block) (made own, err error) {
	seen := map[bursar.ID]bool{}
	var ids []bursar.ID
	for _, t := range b.Transfers {
		if id := b.Ours[t.TxID]; !id.IsZero() && !seen[id] {
			seen[id], ids = true, append(ids, id)
		}
	}
	if len(ids) == 0 {
		return made, nil
	}
	if made.settled, err = tx.ExternalSpends().SettledBehind(ctx, ids); err != nil {
		return made, err
	}
	if made.kinds, err = tx.Outgoing().KindsOf(ctx, ids); err == nil && len(made.kinds) < len(ids) {
		err = fmt.Errorf("%d of %d outgoing transactions of block %d are not recorded", len(ids)-len(made.kinds), len(ids),
			b.Ref.Height)
	}
	return made, err
}

// isInternal reports whether a transfer is change, a sweep or a gas top-up: made by an outgoing transaction, and no
// customer's deposit. A withdrawal's payment to a wallet is a deposit: the wallet was made after the withdrawal was
// requested. So is what an external spend brings that an operator has settled: the value of its UTXOs of the service is
// booked as gone, its fee included; a refund that came back is such a deposit, also after a reorg.
func (o own) isInternal(by bursar.ID, wallet bool) bool {
	if by.IsZero() || o.settled[by] {
		return false
	}
	return !wallet || o.kinds[by] != string(chain.KindWithdrawal)
}

// coldPurpose returns the purpose of a transfer to or from a cold wallet, and false for any other. One that our own
// transaction of that kind made has moved within custody. All else that arrives at a cold wallet is the operator's,
// even a customer's withdrawal to it: that left custody when it was settled. What a cold wallet pays to a customer's
// wallet is the customer's.
func (h *Handler) coldPurpose(b *follow.Block, t chain.Transfer, made own, known bool) (bursar.DepositPurpose, bool) {
	by := b.Ours[t.TxID]
	switch {
	case h.Cold[t.Address.Base] && !by.IsZero() && !made.settled[by] && made.kinds[by] == string(chain.KindToCold):
		return bursar.ForCold, true
	case h.Cold[t.Address.Base]:
		return bursar.ForColdFunds, true
	case b.Cold[t.TxID] && !known:
		return bursar.ForRefill, true
	}
	return "", false
}

// purpose returns to whom a transfer belongs.
func (h *Handler) purpose(t chain.Transfer, w bursar.Wallet, currency bursar.Currency) bursar.DepositPurpose {
	switch {
	case w.Number == 0 && h.isHot(t.Address.Base):
		return bursar.ForOperatorFunds
	case w.ForInvoice && !t.Inferred:
		return bursar.ForInvoice // credited in any currency; invoice.go decides what it counts towards the charge
	case w.Number == 0 || w.Currency != currency.Code || t.Inferred:
		return bursar.ForUnattributed
	case w.ForCharge:
		return bursar.ForCharge
	}
	return bursar.ForWallet
}

// recordAll records a block's deposits, and what follows from it: an operator is asked about those that belong to
// nobody, and the customers who want that are notified of theirs.
func (h *Handler) recordAll(ctx context.Context, tx *store.Tx, list []store.NewDeposit) error {
	if len(list) == 0 {
		return nil
	}
	results, err := tx.Deposits().RecordAll(ctx, list)
	if err != nil {
		return err
	}
	seen, err := h.seen(ctx, tx, list, results)
	if err != nil {
		return err
	}
	var unattributed []store.Alarm
	var customers []bursar.Deposit
	for _, d := range seen {
		h.logSeen(tx, d)
		if d.Purpose == bursar.ForUnattributed {
			unattributed = append(unattributed, h.unattributed(d))
		}
		if d.IsCustomers() {
			customers = append(customers, d)
		}
	}
	if err := h.holdForScreening(ctx, tx, seen); err != nil {
		return err
	}
	if err := tx.Alarms().RaiseAll(ctx, unattributed); err != nil {
		return err
	}
	if err := h.invoicesChanged(ctx, tx, sameMoment(bursar.MomentSeen), customers...); err != nil {
		return err
	}
	return h.notifyPending(ctx, tx, withoutInvoices(customers))
}

// seen returns the deposits that are new in this block, as they are recorded. One that is back after a reorg is read
// again: an operator may have assigned it in the meantime.
func (h *Handler) seen(
	ctx context.Context, tx *store.Tx, list []store.NewDeposit, results []store.Recorded,
) (seen []bursar.Deposit, err error) {
	var back []bursar.ID
	for _, r := range results {
		if r.Again {
			back = append(back, r.ID)
		}
	}
	now, err := tx.Deposits().ByIDs(ctx, back)
	if err != nil {
		return nil, err
	}
	for i, r := range results {
		switch {
		case r.Again:
			seen = append(seen, now[r.ID])
		case r.Written:
			d := list[i].Deposit
			d.Status = bursar.DepositPending
			seen = append(seen, d)
		}
	}
	return seen, nil
}

// notifyPending records the events of deposits that are only seen, for the accounts that asked for them.
func (h *Handler) notifyPending(ctx context.Context, tx *store.Tx, deposits []bursar.Deposit) error {
	notified, err := tx.Accounts().NotifiedOfPending(ctx, owners(deposits))
	if err != nil {
		return err
	}
	var notices []notice
	for _, d := range deposits {
		if notified[d.AccountID] {
			notices = append(notices, notice{bursar.EventDepositPending, d, h.depth(d.Height)})
		}
	}
	return h.notify(ctx, tx, notices...)
}
