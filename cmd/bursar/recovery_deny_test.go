package main

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// A payment is denied by its whole hash and with a reason, which the log of acts has.
func TestAPaymentThatWasAnotherOneIsDenied(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t, away)
	account := parse[createdAccount](d, "account", "create", "--name", "shop", "--json").AccountID
	var w bursar.Withdrawal
	d.change(func(ctx context.Context, tx *store.Tx) (err error) {
		w, err = heldWithdrawal(ctx, tx, account)
		return err
	})
	deny := func(hash string) []string {
		return []string{"recovery", "deny", w.ID.String(), hash, "--reason", "a supplier's bill"}
	}
	d.fails(exitUsage, "--reason", deny("ab01")[:4]...)
	d.fails(exitFailed, "name it by its whole hash", deny("ab")...)
	d.fails(exitFailed, "there is no withdrawal "+account.String(), "recovery", "deny", account.String(), "ab01",
		"--reason", "a supplier's bill")
	d.rehearses(deny("ab01")...)
	d.ok(deny("ab01")...)
	d.change(func(ctx context.Context, tx *store.Tx) error {
		x, err := tx.ExternalSpends().ByTx(ctx, "bitcoin", "ab01")
		if err != nil {
			return err
		}
		if denied, err := tx.ExternalSpends().IsDenied(ctx, w.ID, x.Number); err != nil || !denied {
			t.Errorf("it is denied: %t, %v; want true", denied, err)
		}
		acts, err := tx.Acts().List(ctx, store.ActFilter{}, store.Page{Limit: 1})
		if len(acts) != 1 || acts[0].Object != "bursar recovery deny "+w.ID.String()+" ab01" ||
			acts[0].Reason != "a supplier's bill" {
			t.Errorf("the log of acts has %+v", acts)
		}
		return err
	})
}

// heldWithdrawal records a withdrawal with a transaction, and an external spend that makes the same payment.
func heldWithdrawal(ctx context.Context, tx *store.Tx, account bursar.ID) (w bursar.Withdrawal, err error) {
	if err := tx.Chains().Ensure(ctx, "bitcoin"); err != nil {
		return w, err
	}
	w = bursar.Withdrawal{ID: bursar.ID{5}, AccountID: account, Currency: "BTC", Amount: bursar.Units(100_000),
		Address: bursar.Address{Base: "bcrt1qsomebody"}, Status: bursar.WithdrawalQueued, CreatedAt: tx.Now()}
	paid := bursar.Deposit{ID: bursar.ID{9}, AccountID: account, Currency: "BTC", Amount: bursar.Units(1e8)}
	if err := tx.Ledger().Post(ctx, ledger.DepositCredited(paid, tx.Now()),
		ledger.WithdrawalHeld(w, tx.Now())); err != nil {
		return w, err
	}
	if err := tx.Withdrawals().Insert(ctx, "bitcoin", w); err != nil {
		return w, err
	}
	payments := []chain.Payment{{Address: w.Address, Amount: w.Amount}}
	order, err := json.Marshal(chain.TxRequest{ID: bursar.ID{7}, Kind: chain.KindWithdrawal, Payments: payments})
	if err != nil {
		return w, err
	}
	p := bursar.OutgoingTx{ID: bursar.ID{7}, Chain: "bitcoin", Kind: "withdrawal", Currency: "BTC", Base: "hot",
		Request: order, Unsigned: []byte(`{"reservations":["cd:0"]}`), TxID: "cd01"}
	if err := tx.Outgoing().InsertAdopted(ctx, p, []string{"cd:0"}); err != nil {
		return w, err
	}
	if err := tx.Withdrawals().AssignOutgoing(ctx, w, p.ID); err != nil {
		return w, err
	}
	text, err := json.Marshal(payments)
	if err != nil {
		return w, err
	}
	return w, tx.ExternalSpends().Put(ctx, store.ExternalSpend{Chain: "bitcoin", TxID: "ab01", Base: "hot", Height: 7,
		MadeAt: tx.Now(), Reservations: []byte(`["ef:0"]`), Payments: text, Status: store.ExternalSettled})
}
