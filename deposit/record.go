package deposit

import (
	"context"
	"errors"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/follow"
	"github.com/bursar/bursar/store"
)

// Apply records a block's transfers as deposits. A transfer made by an outgoing transaction of the service (change, a
// sweep, a gas top-up) is never a deposit.
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
		return nil // the watch matched an address that is not of this service
	}
	if t.Amount.IsZero() {
		return nil // a zero transfer: the books allow no posting of zero
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
	if known && purpose != bursar.ForUnattributed {
		a.Wallet, a.AccountID, a.Webhook, a.Metadata, a.WalletID = w.Number, w.AccountID, w.Webhook, w.Metadata, w.ID
	}
	return h.recordDeposit(ctx, tx, a)
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

// staysOurs reports whether a transfer is change, a sweep or a gas top-up: made by an outgoing transaction, and no
// customer's deposit. A withdrawal's payment to a wallet is a deposit: the wallet was made after the withdrawal was
// requested.
func staysOurs(ctx context.Context, tx *store.Tx, by bursar.ID, wallet bool) (bool, error) {
	if by.IsZero() {
		return false, nil
	}
	if taken, err := isTaken(ctx, tx, by); err != nil || taken {
		return false, err // a refund that came back is a deposit, also after a reorg
	}
	if !wallet {
		return true, nil
	}
	p, err := tx.Outgoing().Get(ctx, by)
	return p.Kind != string(chain.KindWithdrawal), err
}

// isTaken reports whether an outgoing transaction is an external spend that an operator has settled: the value of its
// UTXOs of the service is booked as gone, its fee included.
func isTaken(ctx context.Context, tx *store.Tx, id bursar.ID) (bool, error) {
	x, err := tx.ExternalSpends().Behind(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return x.Status == store.ExternalSettled, err
}

// purpose returns to whom a transfer belongs.
func (h *Handler) purpose(t chain.Transfer, w bursar.Wallet, currency bursar.Currency) bursar.DepositPurpose {
	switch {
	case w.Number == 0 && t.Address.Base == h.Hot && h.Hot != "":
		return bursar.ForOperatorFunds
	case w.Number == 0 || w.Currency != currency.Code || t.Inferred:
		return bursar.ForUnattributed
	case w.ForCharge:
		return bursar.ForCharge
	}
	return bursar.ForWallet
}

func (h *Handler) recordDeposit(ctx context.Context, tx *store.Tx, a store.NewDeposit) error {
	id, written, err := tx.Deposits().Record(ctx, a)
	if err != nil || !written {
		return err
	}
	d := a.Deposit
	d.Status = bursar.DepositPending
	if id != a.ID { // it is back after a reorg; an operator may have assigned it in the meantime
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
