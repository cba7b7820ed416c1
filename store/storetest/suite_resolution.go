package storetest

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// strays records n deposits that fit no wallet, all of them final, and returns them.
func strays(t *testing.T, db *store.DB, n byte) []bursar.Deposit {
	t.Helper()
	list := make([]bursar.Deposit, n)
	do(t, db, func(tx *store.Tx) error {
		for i := range list {
			d := bursar.Deposit{
				ID:        bursar.ID{8, byte(i)},
				Purpose:   bursar.ForUnattributed,
				Currency:  "BTC",
				Chain:     bursar.Bitcoin,
				TxID:      "stray",
				Output:    uint32(i),
				Address:   bursar.Address{Base: "astray"},
				Amount:    bursar.Units(100),
				Height:    7,
				BlockHash: "b",
				SeenAt:    tx.Now(),
			}
			if _, _, err := tx.Deposits().Record(ctx, store.NewDeposit{Deposit: d}); err != nil {
				return err
			}
			d.Status = bursar.DepositPending
			if err := tx.Deposits().SetStatus(ctx, d, bursar.DepositConfirmed); err != nil {
				return err
			}
			var err error
			if list[i], err = tx.Deposits().ByID(ctx, d.ID); err != nil {
				return err
			}
		}
		return nil
	})
	return list
}

// queuedRefund returns the resolution to refund a deposit, as an operator requests it.
func queuedRefund(db *store.DB, found bursar.Deposit) bursar.Resolution {
	return bursar.Resolution{
		ID:        bursar.ID{9, 1},
		DepositID: found.ID,
		Chain:     bursar.Bitcoin,
		Currency:  "BTC",
		Kind:      bursar.ResolutionRefund,
		Status:    bursar.ResolutionQueued,
		Note:      "why",

		RequestedBy: "ann",
		Address:     bursar.Address{Base: "out", Memo: 7, HasMemo: true},
		Amount:      bursar.Units(90),
		Fee:         bursar.Units(10),
		ResolvedAt:  db.Now(),
	}
}

func resolutions(t *testing.T, db *store.DB) {
	found := strays(t, db, 3)
	first := queuedRefund(db, found[0])
	second := first
	second.ID, second.Kind, second.Status = bursar.ID{9, 2}, bursar.ResolutionKeep, bursar.ResolutionDone
	do(t, db, func(tx *store.Tx) error { return tx.Resolutions().Insert(ctx, first) })
	want(t, db.Do(ctx, func(tx *store.Tx) error { return tx.Resolutions().Insert(ctx, second) }), store.ErrResolved)
	p := newOutgoing(t, db, 1)
	do(t, db, func(tx *store.Tx) error {
		n, err := tx.Resolutions().NextRefund(ctx, bursar.Bitcoin, []bursar.CurrencyCode{"BTC"})
		if err != nil || n.ID != first.ID || n.Address != first.Address || n.Amount != first.Amount || n.Fee != first.Fee ||
			n.Note != "why" || !n.OutgoingID.IsZero() {
			t.Errorf("read back %+v, %v", n, err)
		}
		n.OutgoingID = p.ID
		if err := tx.Resolutions().SetStatus(ctx, n, bursar.ResolutionQueued); err != nil {
			return err
		}
		if waits, err := tx.Resolutions().AnyRefundQueued(ctx, bursar.Bitcoin, []bursar.CurrencyCode{"BTC"}); waits ||
			err != nil {
			t.Errorf("a refund with an outgoing transaction waits: %v, %v", waits, err)
		}
		_, err = tx.Resolutions().NextRefund(ctx, bursar.Bitcoin, []bursar.CurrencyCode{"BTC"})
		want(t, err, store.ErrNotFound)
		n.TxID = "tx"
		return tx.Resolutions().SetStatus(ctx, n, bursar.ResolutionSigned)
	})
	do(t, db, func(tx *store.Tx) error {
		n, err := tx.Resolutions().RefundPaidBy(ctx, p.ID)
		if err != nil || n.Status != bursar.ResolutionSigned || n.TxID != "tx" || !n.CompletedAt.IsZero() {
			t.Errorf("the outgoing transaction pays %+v, %v", n, err)
		}
		_, err = tx.Resolutions().RefundPaidBy(ctx, bursar.ID{1})
		want(t, err, store.ErrNotFound)
		n.Error = "no"
		if err := tx.Resolutions().SetStatus(ctx, n, bursar.ResolutionFailed); err != nil {
			return err
		}
		if err := tx.Resolutions().SetStatus(ctx, n, bursar.ResolutionDone); err == nil {
			t.Error("a resolution that has moved on was moved again")
		}
		_, err = tx.Resolutions().Standing(ctx, found[0].ID)
		want(t, err, store.ErrNotFound)
		return tx.Resolutions().Insert(ctx, second)
	})
	do(t, db, func(tx *store.Tx) error {
		newest, err := tx.Resolutions().About(ctx, found)
		if len(newest) != 1 || newest[found[0].ID].ID != second.ID {
			t.Errorf("the newest resolutions are %+v", newest)
		}
		return err
	})
}

func owners(t *testing.T, db *store.DB) {
	account := newAccount(t, db, 1)
	w := newWallets(t, db, account, "BTC", 1)[0]
	found := strays(t, db, 3)
	lists := func(wantOpen, wantAll int) {
		t.Helper()
		do(t, db, func(tx *store.Tx) error {
			open, err := tx.Deposits().Unattributed(ctx, false, store.Page{Limit: 10})
			if err != nil {
				return err
			}
			all, err := tx.Deposits().Unattributed(ctx, true, store.Page{Limit: 10})
			if len(open) != wantOpen || len(all) != wantAll {
				t.Errorf("%d are unresolved of %d, want %d of %d", len(open), len(all), wantOpen, wantAll)
			}
			return err
		})
	}
	lists(3, 3)
	mine := found[0]
	mine.Purpose, mine.AccountID, mine.Fee = bursar.ForWallet, account, bursar.Units(5)
	n := bursar.Resolution{
		ID:        bursar.ID{9},
		DepositID: mine.ID,
		Chain:     bursar.Bitcoin,
		Currency:  "BTC",
		Kind:      bursar.ResolutionAssign,
		Status:    bursar.ResolutionDone,
		AccountID: account,
		WalletID:  w.ID,
	}
	do(t, db, func(tx *store.Tx) error {
		if err := tx.Deposits().SetOwner(ctx, mine, w.Number, bursar.ForUnattributed); err != nil {
			return err
		}
		return tx.Resolutions().Insert(ctx, n)
	})
	if db.Do(ctx, func(tx *store.Tx) error {
		return tx.Deposits().SetOwner(ctx, mine, w.Number, bursar.ForUnattributed)
	}) == nil {
		t.Error("what is assigned was assigned again")
	}
	do(t, db, func(tx *store.Tx) error {
		list, err := tx.Deposits().List(ctx, account, w.ID, store.Page{Limit: 10})
		if len(list) != 1 || list[0].ID != mine.ID || list[0].WalletID != w.ID || list[0].AccountID != account ||
			list[0].Fee != bursar.Units(5) || list[0].Webhook != w.Webhook {
			t.Errorf("the wallet has %+v", list)
		}
		if err != nil {
			return err
		}
		gone := found[1]
		gone.Reversals++
		return tx.Deposits().SetStatus(ctx, gone, bursar.DepositReversed)
	})
	lists(1, 3)
}
