package outgoing_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
)

// Withdrawals that together exceed the hourly limit are paid in smaller batches, up to the limit; the others wait,
// nothing of them is lost, and an alarm says why.
func TestTheHourlyLimitHoldsBackTheRest(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		var err error
		r.Signer, err = signer.New(r.Keys.Keys,
			map[bursar.ChainID]signer.Bounds{r.Chain.Capabilities().ID: {Capabilities: r.Chain.Capabilities(), Signable: r.Chain,
				MaxFee: bursar.Units(1 << 30), Payments: map[string]signer.Limits{"": {Hour: bursar.Units(1_000_000)}}}})
		r.Must(err)
		r.Restart()
		r.Step()
		for range 6 { // enough UTXOs for many transactions at once
			r.Pay(r.Wallet(0).Address, 1_000_000_000)
			r.Pay(bursar.Address{Base: r.Hot.Base}, 1_000_000_000)
		}
		r.Chain.Mine(3)
		r.Step()
		to := r.Chain.Named("outside")
		for range 5 {
			if _, err := r.Withdraw(0, 300_000, to); err != nil {
				t.Fatal(err)
			}
		}
		r.Trouble = true // the refusal is an error of the step
		for range 20 {
			r.Step()
			r.Chain.Mine(1)
		}
		if got := r.Chain.Balance(to, ""); got != bursar.Units(900_000) {
			t.Fatalf("%s left within the hour, want %s", got, bursar.Units(900_000))
		}
		r.View(func(tx *store.Tx) error {
			list, err := tx.Withdrawals().List(ctx, r.Accounts[0], store.Page{Limit: 10})
			if err != nil {
				return err
			}
			states := map[bursar.WithdrawalStatus]int{}
			for _, w := range list {
				states[w.Status]++
			}
			if states[bursar.WithdrawalConfirmed] != 3 || states[bursar.WithdrawalQueued] != 2 {
				t.Errorf("the withdrawals are %v, want 3 and 2", states)
			}
			alarms, err := tx.Alarms().List(ctx, 10)
			if len(alarms) == 0 || alarms[0].Kind != "signer_refused" {
				t.Errorf("the alarms are %+v, want some and %q", alarms, "signer_refused")
			}
			return err
		})
		r.Signer, err = signer.New(r.Keys.Keys,
			map[bursar.ChainID]signer.Bounds{r.Chain.Capabilities().ID: {Capabilities: r.Chain.Capabilities(), Signable: r.Chain,
				MaxFee: bursar.Units(1 << 30)}})
		r.Must(err)
		r.Restart() // the hour is over
		r.Trouble = false
		r.Settle()
		if got := r.Chain.Balance(to, ""); got != bursar.Units(1_500_000) {
			t.Fatalf("the receiver has %s, want %s", got, bursar.Units(1_500_000))
		}
		r.View(func(tx *store.Tx) error {
			alarms, err := tx.Alarms().List(ctx, 10)
			if len(alarms) != 0 {
				t.Errorf("alarms stay open: %+v, want none", alarms)
			}
			return err
		})
		r.Must(r.Audit())
	})
}
