package deposit

import (
	"context"
	"errors"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/follow"
	"github.com/bursar/bursar/store"
)

// Apply records what a block's transfers bring. A transfer that a transaction of our own made (change, a sweep, a gas
// top-up) is never a deposit.
func (h *Handler) Apply(ctx context.Context, tx *store.Tx, b *follow.Block) error {
	weights := weigh(b.Transfers)
	for _, t := range b.Transfers {
		if err := h.recordTransfer(ctx, tx, b, t, weights); err != nil {
			return err
		}
	}
	return nil
}

func (h *Handler) recordTransfer(
	ctx context.Context, tx *store.Tx, b *follow.Block, t chain.Transfer, weights weights,
) error {
	w, known := b.Wallets[t.Address]
	if !known && t.Address.Base != h.Hot && !h.Capabilities.SharedAddress {
		return nil // the watch took a stranger's address for one of ours
	}
	if t.Amount.IsZero() {
		return nil // it moves nothing, and the books know no posting of nothing
	}
	if ours, err := staysOurs(ctx, tx, b.Ours[t.TxID], known); err != nil || ours {
		return err
	}
	currency, configured := h.Registry.Asset(h.Capabilities.ID, t.Contract)
	if !configured {
		h.ignore(tx, b, t)
		return nil
	}
	purpose := h.purpose(t, w, currency)
	required, opinions := needs(currency, weights.of(t))
	a := store.Arrival{CountsFrom: t.CountsFrom, Opinions: opinions, Deposit: bursar.Deposit{
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
		a.SeenAt = b.Time // while catching up, a payment counts from when it was made
	}
	if known && purpose != bursar.ForUnattributed {
		a.Wallet, a.AccountID, a.Webhook, a.Metadata, a.WalletID = w.Number, w.AccountID, w.Webhook, w.Metadata, w.ID
	}
	return h.recordDeposit(ctx, tx, a)
}

// ignore counts a transfer of an asset that the registry does not know: an adapter that watches for more than is
// configured, or another spelling of a contract, stops nothing.
func (h *Handler) ignore(tx *store.Tx, b *follow.Block, t chain.Transfer) {
	tx.After(func() {
		h.ignored.Add(1)
		h.Log.Warn("transfer of an asset that is not configured ignored", "chain", h.Capabilities.ID, "contract", t.Contract,
			"hash", t.TxID,
			"height", b.Ref.Height, "address", t.Address.String())
	})
}

// Ignored returns how many transfers of assets that the registry does not know were ignored since the start.
func (h *Handler) Ignored() uint64 { return h.ignored.Load() }

// staysOurs reports whether a transfer is change, a sweep or a gas top-up: made by a transaction of ours, and no
// customer's deposit. What a withdrawal pays to a wallet is one: the wallet was made after the order was taken.
func staysOurs(ctx context.Context, tx *store.Tx, by bursar.ID, wallet bool) (bool, error) {
	if by.IsZero() {
		return false, nil
	}
	if taken, err := isTaken(ctx, tx, by); err != nil || taken {
		return false, err // what returned to us has arrived, also after a reorg
	}
	if !wallet {
		return true, nil
	}
	p, err := tx.Outgoing().Get(ctx, by)
	return p.Kind != string(chain.KindWithdrawal), err
}

// isTaken reports whether an outgoing transaction is an external spend that an operator has settled: what our UTXOs in
// it were worth is booked as gone, its fee included.
func isTaken(ctx context.Context, tx *store.Tx, id bursar.ID) (bool, error) {
	x, err := tx.ExternalSpends().Behind(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return x.Status == store.ExternalSettled, err
}

// purpose says whose money a transfer is.
func (h *Handler) purpose(t chain.Transfer, w bursar.Wallet, currency bursar.Currency) bursar.DepositPurpose {
	switch {
	case w.Number == 0 && t.Address.Base == h.Hot && h.Hot != "":
		return bursar.ForCapital
	case w.Number == 0 || w.Currency != currency.Code || t.Inferred:
		return bursar.ForUnattributed
	case w.ForCharge:
		return bursar.ForCharge
	}
	return bursar.ForWallet
}

func (h *Handler) recordDeposit(ctx context.Context, tx *store.Tx, a store.Arrival) error {
	id, written, err := tx.Deposits().Record(ctx, a)
	if err != nil || !written {
		return err
	}
	d := a.Deposit
	d.Status = bursar.DepositPending
	if id != a.ID { // it was reorged out and is back; meanwhile an operator may have decided whose it is
		if d, err = tx.Deposits().ByID(ctx, id); err != nil {
			return err
		}
	}
	h.logSeen(tx, d)
	if d.Purpose == bursar.ForUnattributed {
		return h.askOperator(ctx, tx, d)
	}
	if !d.IsCustomers() {
		return nil
	}
	account, err := tx.Accounts().Get(ctx, d.AccountID)
	if err != nil || !account.NotifyPending {
		return err
	}
	return h.notify(ctx, tx, bursar.EventDepositPending, d, h.depth(d.Height))
}
