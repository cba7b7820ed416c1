package storetest

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

func posting(t *testing.T, db *store.DB) {
	id := bursar.ID{1}
	d := bursar.Deposit{ID: id, AccountID: id, Currency: "BTC", Amount: bursar.Units(100), Fee: bursar.Units(1)}
	do(t, db, func(tx *store.Tx) error { return tx.Ledger().Post(ctx, ledger.DepositCredited(d, tx.Now())) })
	want(t, db.Do(ctx, func(tx *store.Tx) error {
		return tx.Ledger().Post(ctx, ledger.DepositCredited(d, tx.Now()))
	}), store.ErrPosted)
	w := bursar.Withdrawal{ID: id, AccountID: id, Currency: "BTC", Amount: bursar.Units(100)}
	want(t, db.Do(ctx, func(tx *store.Tx) error {
		return tx.Ledger().Post(ctx, ledger.WithdrawalHeld(w, tx.Now()))
	}), ledger.ErrInsufficient)
	small, large := w, w
	small.Amount, large.ID, large.Amount = bursar.Units(60), bursar.ID{2}, bursar.Units(60)
	do(t, db, func(tx *store.Tx) error {
		errs, err := tx.Ledger().PostEach(ctx, []ledger.Entry{
			ledger.WithdrawalHeld(small, tx.Now()),
			ledger.WithdrawalHeld(large, tx.Now()),
			ledger.WithdrawalHeld(small, tx.Now()),
		})
		if err == nil && (errs[0] != nil || !errors.Is(errs[1], ledger.ErrInsufficient) ||
			!errors.Is(errs[2], store.ErrPosted)) {
			t.Errorf("posting each gave %v", errs)
		}
		return err
	})
	do(t, db, func(tx *store.Tx) error {
		b, err := tx.Ledger().Balance(ctx, ledger.Available(id), "BTC")
		if amount, _ := b.Net(ledger.Liability); amount != bursar.Units(39) {
			t.Errorf("available is %s", amount)
		}
		lines, _ := tx.Statements().List(
			ctx, store.LineQuery{Accounts: []ledger.Account{ledger.Available(id), ledger.Held(id)}}, store.Page{Limit: 10})
		if len(lines) != 3 || lines[0].Kind != ledger.KindWithdrawalHeld || lines[1].Amount != bursar.Units(1) {
			t.Errorf("the account's lines are %+v", lines)
		}
		return err
	})
	// What was refused may be posted once it can be.
	d.ID = bursar.ID{5}
	do(t, db, func(tx *store.Tx) error {
		return tx.Ledger().Post(ctx, ledger.DepositCredited(d, tx.Now()), ledger.WithdrawalHeld(large, tx.Now()))
	})
}

func concurrentPosting(t *testing.T, db *store.DB) {
	customers := []bursar.ID{{1}, {2}, {3}}
	var group sync.WaitGroup
	for worker := range 8 {
		group.Go(func() {
			for i := range 25 {
				d := bursar.Deposit{
					ID:        bursar.ID{byte(worker), byte(i)},
					AccountID: customers[i%3],
					Currency:  "BTC",
					Amount:    bursar.Units(2),
				}
				if err := db.Do(ctx, func(tx *store.Tx) error {
					return tx.Ledger().Post(ctx, ledger.DepositCredited(d, tx.Now()))
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	do(t, db, func(tx *store.Tx) error {
		b, err := tx.Ledger().Balance(ctx, ledger.Custody, "BTC")
		if b.Debits != bursar.Units(8*25*2) {
			t.Errorf("custody is %s", b.Debits)
		}
		return err
	})
}

func batches(t *testing.T, db *store.DB) {
	batch := store.NewBatch(db, func(ctx context.Context, tx *store.Tx, items []byte) ([]store.Result[byte], error) {
		results := make([]store.Result[byte], len(items))
		for i, n := range items {
			if n == 13 {
				results[i].Err = store.ErrNotFound
				continue
			}
			if err := tx.Accounts().Insert(ctx, bursar.Account{
				ID:        bursar.ID{n, 1},
				Name:      "b",
				CreatedAt: tx.Now(),
			}); err != nil {
				return nil, err
			}
			results[i].Value = n
		}
		return results, nil
	})
	var group sync.WaitGroup
	for n := range byte(40) {
		group.Go(func() {
			id := n
			if n == 39 {
				id = 1 // taken: fails with the database's error, alone
			}
			_, err := batch.Do(ctx, id)
			switch {
			case n == 13 && !errors.Is(err, store.ErrNotFound):
				t.Errorf("the refused item got %v", err)
			case n != 13 && n != 39 && n != 1 && err != nil:
				t.Errorf("item %d: %v", n, err)
			}
		})
	}
	group.Wait()
	do(t, db, func(tx *store.Tx) error {
		all, err := tx.Accounts().All(ctx)
		if len(all) != 38 {
			t.Errorf("%d accounts of 38, want 38", len(all))
		}
		return err
	})
}
