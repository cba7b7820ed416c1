package main

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// strayHash is that of the transaction with all of them.
const strayHash = "9b0fc92260312ce44e74ef369f5c66bb85b66d1c0c4c3e4a1d4f5b3c8e8e6f01"

// stray records final unattributed deposits of 0.001 BTC each, with the alarms that they raised.
func stray(ctx context.Context, tx *store.Tx, address bursar.Address, n byte) (ids []bursar.ID, err error) {
	if err := tx.Chains().Ensure(ctx, "bitcoin"); err != nil {
		return nil, err
	}
	for i := range n {
		d := bursar.Deposit{ID: bursar.ID{8, 15: i}, Purpose: bursar.ForUnattributed, Currency: "BTC", Chain: "bitcoin",
			TxID: strayHash, Output: uint32(i),
			Address: address, Amount: bursar.Units(100_000), Height: 7, BlockHash: "b", SeenAt: tx.Now()}
		if _, _, err := tx.Deposits().Record(ctx, store.NewDeposit{Deposit: d}); err != nil {
			return nil, err
		}
		d.Status = bursar.DepositPending
		if i > 0 { // the first is not final yet
			if err := tx.Deposits().SetStatus(ctx, d, bursar.DepositConfirmed); err != nil {
				return nil, err
			}
			if err := tx.Ledger().Post(ctx, ledger.TransferReceived(d, ledger.Unattributed, tx.Now())); err != nil {
				return nil, err
			}
		}
		if err := tx.Alarms().Raise(ctx, store.Alarm{Chain: "bitcoin", Kind: "unattributed",
			Ref: d.ID.String()}); err != nil {
			return nil, err
		}
		ids = append(ids, d.ID)
	}
	return ids, nil
}

func TestUnattributedDepositsAreListedAndResolved(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t, away)
	account := parse[createdAccount](d, "account", "create", "--name", "shop", "--json").AccountID
	wallet := bursar.Wallet{ID: bursar.ID{5}, AccountID: account, Currency: "BTC", Family: "bitcoin",
		Address: bursar.Address{Base: "bcrt1q"}, Webhook: "https://shop.example"}
	var ids []bursar.ID
	d.change(func(ctx context.Context, tx *store.Tx) (err error) {
		if wallet.Number, err = tx.Wallets().TakeNumbers(ctx, 1); err != nil {
			return err
		}
		if err = tx.Wallets().Insert(ctx, []bursar.Wallet{wallet}); err == nil {
			ids, err = stray(ctx, tx, wallet.Address, 4)
		}
		return err
	})
	open := parse[[]listedUnattributed](d, "unattributed", "list", "--json")
	if len(open) != 4 || open[0].DepositID != ids[3] || open[0].Amount != "0.00100000" || open[0].Status != "confirmed" ||
		open[3].Status != "pending" || open[0].Resolution != nil ||
		open[0].WalletAtAddress == nil || open[0].WalletAtAddress.WalletID != wallet.ID ||
		!strings.Contains(open[0].Why, "difference of balances") {
		t.Fatalf("listed %+v", open)
	}
	d.fails(exitFailed, "the deposit can be resolved once it is final: its status is pending", "unattributed", "keep",
		ids[0].String())
	d.fails(exitFailed, "there is no deposit", "unattributed", "keep", account.String())
	d.fails(exitFailed, "the deposit can be resolved once it is final", "unattributed", "keep", ids[0].String(),
		"--dry-run")
	d.rehearses("unattributed", "keep", ids[1].String())
	d.rehearses("unattributed", "assign", ids[1].String(), "--wallet", wallet.ID.String())
	d.fails(exitFailed, "the deposit cannot be assigned to that wallet or account: there is no wallet",
		"unattributed", "assign", ids[1].String(),
		"--wallet", account.String())
	d.fails(exitFailed, "the deposit cannot be refunded to that address", "unattributed", "refund",
		ids[1].String(), "--to", "nowhere")
	d.fails(exitFailed, "the chain cannot be asked what it costs", "unattributed", "refund", ids[1].String(), "--to",
		"bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080")
	d.fails(exitFailed, "no refund to the sender is in progress", "unattributed", "cancel", ids[1].String())
	for i, c := range []struct{ line, want string }{
		{fmt.Sprintf("assign %s --wallet %s --note ticket", ids[1], wallet.ID),
			fmt.Sprintf("deposit %s: assigned to wallet %s\n", ids[1], wallet.ID)},
		{fmt.Sprintf("assign %s --account %s", ids[2], account),
			fmt.Sprintf("deposit %s: assigned to account %s\n", ids[2], account)},
		{fmt.Sprintf("keep %s", ids[3]), fmt.Sprintf("deposit %s: kept\n", ids[3])},
	} {
		args := append([]string{"unattributed"}, strings.Fields(c.line)...)
		if got := d.ok(args...); got != c.want {
			t.Errorf("bursar %s says %q, want %v", c.line, got, c.want)
		}
		d.fails(exitFailed, "the deposit is resolved already", args...)
		if left := parse[[]listedUnattributed](d, "unattributed", "list", "--json"); len(left) != 3-i {
			t.Errorf("%d are left after %s, want %v of them", len(left), c.line, 3-i)
		}
	}
	all := parse[[]listedUnattributed](d, "unattributed", "list", "--all", "--json")
	if len(all) != 4 || all[2].Resolution == nil || all[2].Resolution.Kind != "assign" ||
		*all[2].Resolution.WalletID != wallet.ID || all[2].Resolution.Note != "ticket" || all[2].Resolution.Status != "done" {
		t.Errorf("listed %+v", all)
	}
	if table := d.ok("unattributed", "list", "--all"); strings.Count(table, "\n") != 5 ||
		!strings.Contains(table, "kept") {
		t.Errorf("the table is\n%s, want 5 and %q in it", table, "kept")
	}
	d.change(func(ctx context.Context, tx *store.Tx) error {
		alarms, err := tx.Alarms().List(ctx, 10)
		if len(alarms) != 1 || alarms[0].Ref != ids[0].String() {
			t.Errorf("the open alarms are %+v, want 1 of them and %v", alarms, ids[0].String())
		}
		return err
	})
	unconfigured := newHarness(t)
	unconfigured.env = append(unconfigured.env, "BURSAR_DATABASE=sqlite:"+d.dir+"/bursar.db",
		"BURSAR_SEED_FILE="+d.dir+"/seed.age")
	d.change(func(ctx context.Context, tx *store.Tx) error {
		first, err := tx.Deposits().ByID(ctx, ids[0])
		if err != nil {
			return err
		}
		if err := tx.Ledger().Post(ctx, ledger.TransferReceived(first, ledger.Unattributed, tx.Now())); err != nil {
			return err
		}
		return tx.Deposits().SetStatus(ctx, first, bursar.DepositConfirmed)
	})
	unconfigured.fails(exitFailed, "chain bitcoin of this deposit is not configured", "unattributed", "assign",
		ids[0].String(), "--account", account.String())
	if got := parse[[]listedUnattributed](unconfigured, "unattributed", "list", "--json"); len(got) != 1 ||
		got[0].WalletAtAddress != nil {
		t.Errorf("without its chain: %+v", got)
	}
}
