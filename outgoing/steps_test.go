package outgoing_test

import (
	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/store"
)

// prepare gives account 0 a balance and the hot address some capital, and returns the account's balance.
func (r *harness) prepare() bursar.Amount {
	r.t.Helper()
	r.step()
	r.pay(r.wallet(0).Address, 1_000_000_000)
	r.pay(bursar.Address{Base: r.hot.Base}, 1_000_000_000)
	r.chain.Mine(3)
	r.step()
	return r.available(0)
}

// order takes an order of account 0 that must be accepted.
func (r *harness) order(units uint64, to string) bursar.Withdrawal {
	r.t.Helper()
	w, err := r.withdraw(0, units, to)
	r.must(err)
	return w
}

// now returns a withdrawal as it is now.
func (r *harness) now(w bursar.Withdrawal) bursar.Withdrawal {
	r.t.Helper()
	w, err := r.withdrawals.Get(ctx, w.AccountID, w.ID)
	r.must(err)
	return w
}

// undo replaces all blocks from the one that holds a transaction, and leaves out what is named.
func (r *harness) undo(txID string, drop ...string) {
	r.t.Helper()
	ref, err := r.chain.Find(ctx, txID)
	r.must(err)
	head, err := r.chain.Head(ctx)
	r.must(err)
	r.chain.Reorg(int(head.Latest.Height-ref.Height)+1, drop...)
}

// ends checks how a withdrawal ended: what its receiver holds, its status, what the customer has left, and the books.
func (r *harness) ends(w bursar.Withdrawal, to string, status bursar.WithdrawalStatus, before bursar.Amount) {
	r.t.Helper()
	held, left := bursar.Amount{}, before
	if status == bursar.WithdrawalConfirmed {
		held = w.Amount
		left = before.SubOrZero(w.Amount).SubOrZero(w.Fee)
	}
	if now := r.now(w); now.Status != status {
		r.t.Errorf("the withdrawal is %s, want %s", now.Status, status)
	}
	if got := r.chain.Balance(to, ""); got != held {
		r.t.Errorf("the receiver holds %s, want %s", got, held)
	}
	if got := r.available(0); got != left {
		r.t.Errorf("the customer has %s, want %s", got, left)
	}
	if err := r.audit(); err != nil {
		r.t.Error(err)
	}
}

// lose has blocks pass in which every broadcast seems to go well and reaches nobody.
func (r *harness) lose(blocks int) {
	r.t.Helper()
	r.chain.FailBroadcasts(sim.LostSilently, 1000)
	r.trouble = true
	for range blocks {
		r.step()
		r.chain.Mine(1)
	}
	r.trouble = false
	r.chain.ClearFaults()
}

// version returns the stored bytes of a transaction of ours.
func (r *harness) version(txID string) (found chain.SignedTx) {
	r.t.Helper()
	r.view(func(tx *store.Tx) error {
		outgoingIDs, err := tx.Outgoing().SentAmong(ctx, r.chain.Capabilities().ID, []string{txID})
		if err != nil {
			return err
		}
		versions, err := tx.Outgoing().Versions(ctx, outgoingIDs[txID])
		for _, v := range versions {
			if v.TxID == txID {
				found = chain.SignedTx{TxID: v.TxID, Raw: v.Raw}
			}
		}
		return err
	})
	return found
}

// open returns the open outgoing transactions, oldest first.
func (r *harness) open() (open []bursar.OutgoingTx) {
	r.t.Helper()
	r.view(func(tx *store.Tx) (err error) {
		open, err = tx.Outgoing().Open(ctx, r.chain.Capabilities().ID, 100)
		return err
	})
	return open
}
