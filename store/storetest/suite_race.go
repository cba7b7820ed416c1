package storetest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// What two processes do at the same moment, each in a transaction of its own.

// errLate is what a transaction ends with that found its work done by another.
var errLate = errors.New("too late")

// queuedWithdrawals inserts a number of withdrawals of an account that wait to be paid, and returns their IDs.
func queuedWithdrawals(t *testing.T, db *store.DB, account bursar.ID, number int) []bursar.ID {
	t.Helper()
	ids := make([]bursar.ID, number)
	do(t, db, func(tx *store.Tx) error {
		for i := range ids {
			ids[i] = bursar.ID{1, byte(i)}
			w := bursar.Withdrawal{
				ID:        ids[i],
				AccountID: account,
				Currency:  "BTC",
				Amount:    bursar.Units(1),
				Status:    bursar.WithdrawalQueued,
				CreatedAt: tx.Now(),
			}
			if err := tx.Withdrawals().Insert(ctx, bursar.Bitcoin, w); err != nil {
				return err
			}
		}
		return nil
	})
	return ids
}

// takenOrCancelled has withdrawals taken up and cancelled at the same time: each is one of the two.
func takenOrCancelled(t *testing.T, db *store.DB) {
	ids := queuedWithdrawals(t, db, newAccount(t, db, 1), 40)
	var group sync.WaitGroup
	var taken, cancelled atomic.Int64
	take := func() (n int) {
		do(t, db, func(tx *store.Tx) error {
			queued, err := tx.Withdrawals().Queued(ctx, bursar.Bitcoin, []bursar.CurrencyCode{"BTC"}, false, 3)
			for _, w := range queued {
				err = errors.Join(err, tx.Withdrawals().AssignOutgoing(ctx, w, bursar.ID{2}))
			}
			n = len(queued)
			return err
		})
		return n
	}
	group.Go(func() {
		for n := take(); n > 0; n = take() {
			taken.Add(int64(n))
		}
	})
	for i := len(ids) - 1; i >= 0; i -= 2 {
		group.Go(func() {
			err := db.Do(ctx, func(tx *store.Tx) error {
				w, err := tx.Withdrawals().Lock(ctx, ids[i])
				if err == nil && !w.OutgoingID.IsZero() {
					err = errLate
				}
				if err != nil {
					return err
				}
				return tx.Withdrawals().SetStatus(ctx, w, bursar.WithdrawalCancelled)
			})
			if err == nil {
				cancelled.Add(1)
			} else if !errors.Is(err, errLate) {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if taken.Load()+cancelled.Load() != int64(len(ids)) {
		t.Errorf("%d were taken up and %d cancelled, of %d", taken.Load(), cancelled.Load(), len(ids))
	}
	do(t, db, func(tx *store.Tx) error {
		paid, err := tx.Withdrawals().PaidBy(ctx, bursar.ID{2})
		for _, w := range paid {
			if w.Status != bursar.WithdrawalQueued {
				t.Errorf("%s was taken up and is %s, want %v", w.ID, w.Status, bursar.WithdrawalQueued)
			}
		}
		return err
	})
}

// confirmedDeposit records a confirmed deposit on a chain.
func confirmedDeposit(
	t *testing.T, db *store.DB, account bursar.ID, w bursar.Wallet, id bursar.ChainID, n byte,
) bursar.ID {
	d := bursar.Deposit{
		ID:        bursar.ID{3, n},
		Purpose:   bursar.ForWallet,
		AccountID: account,
		WalletID:  w.ID,
		Currency:  "BTC",
		Chain:     id,
		TxID:      fmt.Sprint("tx", n),
		Address:   w.Address,
		Amount:    bursar.Units(5),
		Height:    9,
		BlockHash: "h",
		SeenAt:    db.Now(),
	}
	do(t, db, func(tx *store.Tx) error {
		_, _, err := tx.Deposits().Record(ctx, store.NewDeposit{Deposit: d, Wallet: w.Number})
		if err != nil {
			return err
		}
		got, err := tx.Deposits().ByID(ctx, d.ID)
		if err != nil {
			return err
		}
		return tx.Deposits().SetStatus(ctx, got, bursar.DepositConfirmed)
	})
	return d.ID
}

// freezes has deposits of one account, each on a chain of its own, leave and come back at the same time: while one is
// gone, the account is frozen.
func freezes(t *testing.T, db *store.DB) {
	account := newAccount(t, db, 1)
	wallets := newWallets(t, db, account, "BTC", 2)
	var group sync.WaitGroup
	for i, id := range []bursar.ChainID{bursar.Bitcoin, bursar.Litecoin} {
		d := confirmedDeposit(t, db, account, wallets[i], id, byte(i))
		group.Go(func() {
			for range 60 {
				leave(t, db, account, d)
				var now bursar.Account
				do(t, db, func(tx *store.Tx) (err error) {
					now, err = tx.Accounts().Get(ctx, account)
					return err
				})
				if now.Frozen == "" {
					t.Error("a deposit is gone and the account is not frozen")
				}
				comeBack(t, db, account, d)
			}
		})
	}
	group.Wait()
	do(t, db, func(tx *store.Tx) error {
		now, err := tx.Accounts().Get(ctx, account)
		if now.Frozen != "" {
			t.Errorf("everything came back and the account is frozen: %s, want none", now.Frozen)
		}
		return err
	})
}

func leave(t *testing.T, db *store.DB, account, id bursar.ID) {
	do(t, db, func(tx *store.Tx) error {
		if err := tx.Halts().Put(ctx, store.Halt{
			Scope:  store.HaltAccount(account),
			Kind:   store.HaltByReversal,
			Reason: bursar.FrozenByReversal,
		}); err != nil {
			return err
		}
		d, err := tx.Deposits().ByID(ctx, id)
		if err != nil {
			return err
		}
		d.Reversals++
		return tx.Deposits().SetStatus(ctx, d, bursar.DepositReversed)
	})
}

func comeBack(t *testing.T, db *store.DB, account, id bursar.ID) {
	do(t, db, func(tx *store.Tx) error {
		d, err := tx.Deposits().ByID(ctx, id)
		if err != nil {
			return err
		}
		if err := tx.Deposits().SetStatus(ctx, d, bursar.DepositPending); err != nil {
			return err
		}
		d.Status = bursar.DepositPending
		if err := tx.Deposits().SetStatus(ctx, d, bursar.DepositConfirmed); err != nil {
			return err
		}
		return tx.Accounts().LiftReversal(ctx, account)
	})
}

// paidOnce has many pay a charge at the same time: one of them pays it.
func paidOnce(t *testing.T, db *store.DB) {
	account := newAccount(t, db, 1)
	w := newWallets(t, db, account, "BTC", 1)[0]
	do(t, db, func(tx *store.Tx) error {
		return tx.Charges().Insert(ctx, bursar.Charge{
			Number:    w.Number,
			ID:        w.ID,
			AccountID: account,
			Minimum:   bursar.Units(1),
			Expires:   tx.Now(),
		})
	})
	var group sync.WaitGroup
	var paid atomic.Int64
	for i := range byte(12) {
		group.Go(func() {
			err := db.Do(ctx, func(tx *store.Tx) error {
				c, err := tx.Charges().Lock(ctx, w.ID)
				if err == nil && !c.PaidBy.IsZero() {
					err = errLate
				}
				if err != nil {
					return err
				}
				return tx.Charges().SetPaidBy(ctx, c.ID, bursar.ID{7, i})
			})
			if err == nil {
				paid.Add(1)
			} else if !errors.Is(err, errLate) {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if paid.Load() != 1 {
		t.Errorf("%d have paid the charge, want 1", paid.Load())
	}
}
