package storetest

import (
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

func deposits(t *testing.T, db *store.DB) {
	account := newAccount(t, db, 1)
	w := newWallets(t, db, account, "BTC", 1)[0]
	record := func(height uint64, hash string, id byte, units uint64) (got bursar.ID, written bool) {
		a := store.NewDeposit{Wallet: w.Number, Deposit: bursar.Deposit{
			ID:        bursar.ID{id},
			Purpose:   bursar.ForWallet,
			AccountID: account,
			Currency:  "BTC",
			Chain:     bursar.Bitcoin,
			TxID:      "t",
			Output:    1,
			Address:   w.Address,
			Amount:    bursar.Units(units),
			Height:    height,
			BlockHash: hash,
			SeenAt:    db.Now(),
		}}
		do(t, db, func(tx *store.Tx) (err error) {
			got, written, err = tx.Deposits().Record(ctx, a)
			return err
		})
		return got, written
	}
	if id, written := record(7, "a", 1, 5); !written || id != (bursar.ID{1}) {
		t.Fatal("the first sight was not recorded")
	}
	if _, written := record(7, "a", 2, 6); written {
		t.Fatal("the second sight was recorded")
	}
	do(t, db, func(tx *store.Tx) error {
		block, err := tx.Deposits().InBlock(ctx, bursar.Bitcoin, 7)
		if err != nil || len(block) != 1 {
			t.Fatalf("%d deposits in the block, %v", len(block), err)
		}
		sums, _ := tx.Ledger().OfAccounts(ctx, []bursar.ID{account})
		if sums[account].Pending["BTC"] != bursar.Units(5) {
			t.Errorf("pending is %s", sums[account].Pending["BTC"])
		}
		return tx.Deposits().SetStatus(ctx, block[0], bursar.DepositOrphaned)
	})
	if id, written := record(9, "b", 3, 4); !written || id != (bursar.ID{1}) {
		t.Fatalf("its return gave %v, %v", id, written)
	}
	wantFinalFrom(t, db, 9, bursar.Units(4), w.ID)
}

// wantFinalFrom wants one deposit, of an amount to a wallet, that is due once a block is final, and not before.
func wantFinalFrom(t *testing.T, db *store.DB, block uint64, amount bursar.Amount, wallet bursar.ID) {
	t.Helper()
	do(t, db, func(tx *store.Tx) error {
		query := store.CreditQuery{
			Chain:      bursar.Bitcoin,
			Currencies: []bursar.CurrencyCode{"LTC", "BTC"},
			Final:      block - 1,
			Latest:     20,
			Recorded:   20,
			Limit:      10,
		}
		early, _ := tx.Deposits().Final(ctx, query)
		query.Final = block
		due, err := tx.Deposits().Final(ctx, query)
		if len(early) != 0 || len(due) != 1 || due[0].Amount != amount || due[0].Webhook != "https://own.example" ||
			due[0].WalletID != wallet {
			t.Errorf("final too early %d, due %+v", len(early), due)
		}
		return err
	})
}

// needy records a deposit in block 10 that wants so many confirmations and opinions.
func needy(t *testing.T, db *store.DB, n byte, code bursar.CurrencyCode, required uint32, opinions int) {
	t.Helper()
	do(t, db, func(tx *store.Tx) error {
		_, _, err := tx.Deposits().Record(ctx, store.NewDeposit{Opinions: opinions, Deposit: bursar.Deposit{
			ID:        bursar.ID{7, n},
			Purpose:   bursar.ForOperatorFunds,
			Currency:  code,
			Chain:     bursar.Bitcoin,
			TxID:      string(rune('a' + n)),
			Address:   bursar.Address{Base: "hot"},
			Amount:    bursar.Units(5),
			Height:    10,
			BlockHash: "h",
			Required:  required,
			SeenAt:    tx.Now(),
		}})
		return err
	})
}

// Deposits of a currency that is not asked for, that want more confirmations or a second opinion fill no page.
func heldBack(t *testing.T, db *store.DB) {
	needy(t, db, 0, "GONE", 0, 0)
	needy(t, db, 1, "BTC", 30, 0)
	needy(t, db, 2, "BTC", 0, 2)
	needy(t, db, 3, "BTC", 6, 0)
	query := store.CreditQuery{
		Chain:      bursar.Bitcoin,
		Currencies: []bursar.CurrencyCode{"BTC"},
		Final:      10,
		Latest:     100,
		Recorded:   14,
		Limit:      1,
	}
	due := func() (list []bursar.Deposit) {
		do(t, db, func(tx *store.Tx) (err error) {
			list, err = tx.Deposits().Final(ctx, query)
			return err
		})
		return list
	}
	if list := due(); len(list) != 0 {
		t.Errorf("with five confirmations due: %+v", list)
	}
	query.Recorded = 15
	if list := due(); len(list) != 1 || list[0].ID != (bursar.ID{7, 3}) || list[0].Required != 6 {
		t.Errorf("with six confirmations due: %+v", list)
	}
	spendable := func() (n int) {
		do(t, db, func(tx *store.Tx) error {
			list, err := tx.UTXOs().Spendable(ctx, bursar.Bitcoin, 10, 100, bursar.ID{}, 10)
			n = len(list)
			return err
		})
		return n
	}
	c := store.UTXO{Outpoint: "c:0", Base: "hot", Amount: bursar.Units(5), Height: 10}
	do(t, db, func(tx *store.Tx) error { return tx.UTXOs().Put(ctx, bursar.Bitcoin, c) })
	if n := spendable(); n != 0 {
		t.Errorf("%d UTXOs can be spent that wait for a second opinion, want 0", n)
	}
	hearsOthers(t, db, query)
	if list := due(); len(list) != 1 || list[0].ID != (bursar.ID{7, 2}) {
		t.Errorf("after the second opinion due: %+v", list)
	} else if n := spendable(); n != 1 {
		t.Errorf("%d UTXOs can be spent after it, want 1", n)
	} else {
		do(t, db, func(tx *store.Tx) error { return tx.UTXOs().DropOf(ctx, list[0]) })
	}
	if n := spendable(); n != 0 {
		t.Errorf("%d UTXOs can be spent of what was refuted, want 0", n)
	}
	unfinished(t, db)
}

// hearsOthers ends the wait of the one deposit that waits for a second opinion.
func hearsOthers(t *testing.T, db *store.DB, query store.CreditQuery) {
	t.Helper()
	do(t, db, func(tx *store.Tx) error {
		waiting, err := tx.Deposits().AwaitingOpinions(ctx, query)
		if len(waiting) != 1 || waiting[0].ID != (bursar.ID{7, 2}) {
			t.Errorf("waiting for others: %+v", waiting)
			return err
		}
		waitsBehind(t, tx, query, waiting[0])
		elsewhere := waiting[0]
		elsewhere.BlockHash = "another"
		if changed, err := tx.Deposits().SetNeeds(ctx, elsewhere, 0); changed || err != nil {
			t.Errorf("what another block needs was changed: %v", err)
		}
		changed, err := tx.Deposits().SetNeeds(ctx, waiting[0], 0)
		if !changed {
			t.Error("what it needs was not changed")
		}
		return err
	})
}

// waitsBehind names the one deposit that waits from every place before it, and from none behind.
func waitsBehind(t *testing.T, tx *store.Tx, query store.CreditQuery, d bursar.Deposit) {
	t.Helper()
	for place, want := range map[store.DepositCursor]int{
		{Height: d.Height - 1, Number: d.Number + 1}: 1,
		{Height: d.Height, Number: d.Number - 1}:     1,
		{Height: d.Height, Number: d.Number}:         0,
		{Height: d.Height + 1}:                       0,
	} {
		query.After = place
		if list, err := tx.Deposits().AwaitingOpinions(ctx, query); err != nil || len(list) != want {
			t.Errorf("behind %+v wait %d, want %d (%v)", place, len(list), want, err)
		}
	}
}

// unfinished looks at what heldBack leaves pending.
func unfinished(t *testing.T, db *store.DB) {
	t.Helper()
	do(t, db, func(tx *store.Tx) error {
		chains, err := tx.Deposits().UnfinishedCurrencies(ctx)
		if len(chains) != 2 || chains["GONE"] != bursar.Bitcoin {
			t.Errorf("unfinished are %v", chains)
		}
		page, pageErr := tx.Deposits().PendingOn(ctx, bursar.Bitcoin, 0, 3)
		if len(page) != 3 || pageErr != nil {
			t.Errorf("a page of three has %d (%v)", len(page), pageErr)
		}
		return err
	})
}

func failing(t *testing.T, db *store.DB) {
	state := func() (s store.ChainState) {
		do(t, db, func(tx *store.Tx) (err error) {
			s, err = tx.Chains().State(ctx, bursar.Bitcoin)
			return err
		})
		return s
	}
	note := func(reason string) {
		do(t, db, func(tx *store.Tx) error { return tx.Chains().SetFailing(ctx, bursar.Bitcoin, reason) })
	}
	do(t, db, func(tx *store.Tx) error { return tx.Chains().Ensure(ctx, bursar.Bitcoin) })
	if s := state(); s.Failing != "" || !s.FailingSince.IsZero() || time.Since(s.AddedAt) > time.Hour {
		t.Errorf("a new chain is %+v", s)
	}
	note("one")
	first := state()
	note("two")
	if s := state(); s.Failing != "two" || s.FailingSince.IsZero() || !s.FailingSince.Equal(first.FailingSince) {
		t.Errorf("it fails since %v, the first time since %v: %q", s.FailingSince, first.FailingSince, s.Failing)
	}
	note("")
	if s := state(); s.Failing != "" || !s.FailingSince.IsZero() {
		t.Errorf("it is well, and says %q since %v", s.Failing, s.FailingSince)
	}
}

func pushedTogether(t *testing.T, db *store.DB) {
	do(t, db, func(tx *store.Tx) error { return tx.Chains().Ensure(ctx, bursar.Bitcoin) })
	hash := func(h uint64) string { return string(rune('a' + h)) }
	var blocks []store.Block
	for h := uint64(1); h <= 9; h++ {
		blocks = append(blocks, store.Block{Height: h, Hash: hash(h), Parent: hash(h - 1)})
	}
	do(t, db, func(tx *store.Tx) error { return tx.Blocks().PushAll(ctx, bursar.Bitcoin, blocks[:2], 3) })
	do(t, db, func(tx *store.Tx) error { return tx.Blocks().PushAll(ctx, bursar.Bitcoin, blocks[2:], 3) })
	do(t, db, func(tx *store.Tx) error {
		s, err := tx.Chains().State(ctx, bursar.Bitcoin)
		if s.Height != 9 || s.Hash != hash(9) {
			t.Errorf("the cursor is at %d %s", s.Height, s.Hash)
		}
		for h := uint64(1); h <= 9; h++ {
			b, err := tx.Blocks().At(ctx, bursar.Bitcoin, h)
			if kept := err == nil; kept != (h >= 6) || kept && (b.Hash != hash(h) || b.Parent != hash(h-1)) {
				t.Errorf("block %d is %+v, %v", h, b, err)
			}
		}
		return err
	})
}
