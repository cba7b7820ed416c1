package main

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// Whatever support is asked about is found by any text that names it, and shown with where its money is.
func TestWhateverIsAskedAboutIsFound(t *testing.T) {
	t.Parallel()
	const hash = "4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b"
	d := newSeededHarness(t, away)
	account := parse[createdAccount](d, "account", "create", "--name", "shop", "--json").AccountID
	wallet := bursar.Wallet{ID: bursar.ID{5}, AccountID: account, Currency: "BTC", Family: "bitcoin",
		Address: bursar.Address{Base: "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080"}, Webhook: "https://shop.example"}
	deposit := bursar.Deposit{
		ID:        bursar.ID{8},
		AccountID: account,
		Purpose:   bursar.ForWallet,
		Currency:  "BTC",
		Chain:     "bitcoin",
		TxID:      hash,
		Amount:    bursar.Units(150_000),
		Address:   wallet.Address,
		Height:    7,
		BlockHash: "b",
	}
	d.change(func(ctx context.Context, tx *store.Tx) (err error) {
		if wallet.Number, err = tx.Wallets().TakeNumbers(ctx, 1); err != nil {
			return err
		}
		if err = tx.Wallets().Insert(ctx, []bursar.Wallet{wallet}); err != nil {
			return err
		}
		if err = tx.Chains().Ensure(ctx, "bitcoin"); err != nil {
			return err
		}
		deposit.WalletID, deposit.SeenAt = wallet.ID, tx.Now()
		_, _, err = tx.Deposits().Record(ctx, store.NewDeposit{Deposit: deposit, Wallet: wallet.Number})
		return err
	})
	for _, q := range []string{hash, strings.ToUpper(hash), deposit.ID.String(), strings.ToUpper(wallet.Address.Base),
		"0.0015 BTC"} {
		out := d.ok("find", q)
		if !strings.Contains(out, deposit.ID.String()) || !strings.Contains(out, "[>] Confirmations") {
			t.Errorf("find %s prints\n%s\nwant the deposit, waiting for confirmations", q, out)
		}
	}
	var found struct{ Ways []struct{ Kind string } }
	if err := json.Unmarshal([]byte(d.ok("find", hash, "--json")), &found); err != nil || len(found.Ways) != 1 ||
		found.Ways[0].Kind != "deposit" {
		t.Errorf("find --json gives %+v, %v, want the way of one deposit", found, err)
	}
	o := d.run("", "find", "nothing-has-this")
	if o.code != exitFailed || !strings.Contains(o.err, "nothing has exactly") {
		t.Errorf("find exits with %d: %s, want 1", o.code, o.err)
	}
	for _, args := range [][]string{{"deposit", "show", deposit.ID.String()}, {"wallet", "show", wallet.ID.String()},
		{"deposit", "list", "--account", "shop", "--status", "pending"}, {"wallet", "list", "--account", "shop"}} {
		if out := d.ok(args...); !strings.Contains(out, wallet.Address.Base) {
			t.Errorf("%s prints\n%s\nwant the address", args, out)
		}
	}
	if list := parse[[]map[string]string](d, "deposit", "list", "--status", "confirmed", "--json"); len(list) != 0 {
		t.Errorf("deposit list gives %v, want none that is confirmed", list)
	}
	if out := d.ok("account", "show", "shop"); !strings.Contains(out, account.String()) {
		t.Errorf("account show prints\n%s\nwant the account's ID", out)
	}
	d.fails(exitFailed, "there is no withdrawal", "withdrawal", "show", deposit.ID.String())
	d.fails(exitFailed, "there is no charge", "charge", "show", deposit.ID.String())
	if list := parse[[]map[string]string](d, "charge", "list", "--attention", "--json"); len(list) != 0 {
		t.Errorf("charge list gives %v, want none", list)
	}
	d.fails(exitFailed, "status must be one of", "deposit", "list", "--status", "lost")
}
