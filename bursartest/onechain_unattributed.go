package bursartest

import (
	"context"
	"errors"
	"log/slog"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/unattributed"
)

// Unattributed refunds the handler of unattributed deposits over a harness's database.
func (r *OneChain) Unattributed() *unattributed.Service {
	return r.UnattributedOver(r.DB)
}

// UnattributedOver is Unattributed over another handle of the database.
func (r *OneChain) UnattributedOver(db *store.DB) *unattributed.Service {
	at := unattributed.ChainContext{Chain: r.Chain, Creditor: r.Follower.Deposits, Hot: r.Hot.Base}
	return &unattributed.Service{DB: db,
		Chains:   map[bursar.ChainID]unattributed.ChainContext{r.Chain.Capabilities().ID: at},
		Registry: r.Registry, IDs: r.IDs, Log: slog.New(slog.DiscardHandler)}
}

// StrandedBy returns the unattributed deposit of a transaction.
func (r *OneChain) StrandedBy(txID string) (d bursar.Deposit) {
	r.T.Helper()
	r.View(func(tx *store.Tx) error {
		list, err := tx.Deposits().Unattributed(ctx, true, store.Page{Limit: 1000})
		for _, found := range list {
			if found.TxID == txID {
				d = found
			}
		}
		return err
	})
	if d.ID.IsZero() {
		r.T.Fatalf("nothing unattributed came by %s", txID)
	}
	return d
}

// FirstDeposit returns a deposit of a wallet; the zero one where there is none.
func (r *OneChain) FirstDeposit(w bursar.Wallet) (d bursar.Deposit) {
	r.T.Helper()
	r.View(func(tx *store.Tx) error {
		list, err := tx.Deposits().List(ctx, w.AccountID, w.ID, store.Page{Limit: 1})
		if len(list) == 1 {
			d = list[0]
		}
		return err
	})
	return d
}

// Resolution returns the newest resolution about a deposit.
func (r *OneChain) Resolution(d bursar.Deposit) bursar.Resolution {
	r.T.Helper()
	var found map[bursar.ID]bursar.Resolution
	r.View(func(tx *store.Tx) (err error) {
		found, err = tx.Resolutions().About(ctx, []bursar.Deposit{d})
		return err
	})
	return found[d.ID]
}

// SendBack requests a refund to an outside address.
func (r *OneChain) SendBack(d bursar.Deposit, to string) bursar.Resolution {
	r.T.Helper()
	n, err := r.Unattributed().Refund(ctx, unattributed.RefundRequest{Deposit: d.ID, To: r.Chain.Named(to)})
	r.Must(err)
	return n
}

// HoldBack steps with a chain that builds nothing, or with a signer that is unavailable.
func (r *OneChain) HoldBack(method sim.Method) {
	r.T.Helper()
	if method != "" {
		r.Chain.Fail(method, 9, nil)
	} else {
		r.Sender.Signer = SignerFunc(func(context.Context, bursar.ChainID, chain.TxRequest, chain.UnsignedTx) (chain.SignedTx,
			error) {
			return chain.SignedTx{}, errors.New("the signer is unavailable")
		})
	}
	r.Step()
}

// Astray makes an unattributed deposit, inferred or with a memo that no wallet has, beside operator funds that were
// kept.
func (r *OneChain) Astray() bursar.Deposit {
	r.T.Helper()
	r.Step()
	to := r.Wallet(0).Address
	capital := r.Pay(bursar.Address{Base: r.Hot.Base}, 900_000_000)
	r.Chain.Mine(3)
	r.Step()
	if r.Chain.Capabilities().SharedAddress {
		if _, err := r.Unattributed().Keep(ctx, r.StrandedBy(capital).ID, "capital"); err != nil {
			r.T.Fatal(err)
		}
		to.Memo = 4_000_000_000
	}
	id := r.Chain.Send(sim.Outside{Payments: []chain.Payment{{Address: to, Amount: bursar.Units(80_000_000)}},
		Inferred: !to.HasMemo})
	r.Chain.Mine(3)
	r.Step()
	return r.StrandedBy(id)
}

// PayUnproven pays a wallet in a way that no single transaction proves: it is unattributed.
func (r *OneChain) PayUnproven(to bursar.Wallet, units uint64) string {
	return r.Chain.Send(sim.Outside{Payments: []chain.Payment{{Address: to.Address, Amount: bursar.Units(units)}},
		Inferred: true})
}
