package outgoing_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
)

// Withdrawals that are together too much for an hour are paid in smaller company, up to the limit; the rest waits,
// nothing of it is lost, and the operator knows why.
func TestTheHourlyLimitHoldsBackTheRest(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		var err error
		r.signer, err = signer.New(r.keys.Keys,
			map[bursar.ChainID]signer.Policy{r.chain.Capabilities().ID: {Capabilities: r.chain.Capabilities(), Signable: r.chain,
				MaxFee: bursar.Units(1 << 30), Hourly: map[string]bursar.Amount{"": bursar.Units(1_000_000)}}})
		r.must(err)
		r.restart()
		r.step()
		for range 6 { // UTXOs enough for many drafts at once
			r.pay(r.wallet(0).Address, 1_000_000_000)
			r.pay(bursar.Address{Base: r.hot.Base}, 1_000_000_000)
		}
		r.chain.Mine(3)
		r.step()
		to := r.chain.Named("outside")
		for range 5 {
			if _, err := r.withdraw(0, 300_000, to); err != nil {
				t.Fatal(err)
			}
		}
		r.trouble = true // what is refused is an error of the step
		for range 20 {
			r.step()
			r.chain.Mine(1)
		}
		if got := r.chain.Balance(to, ""); got != bursar.Units(900_000) {
			t.Fatalf("%s left within the hour", got)
		}
		r.view(func(tx *store.Tx) error {
			list, err := tx.Withdrawals().List(ctx, r.accounts[0], store.Page{Limit: 10})
			if err != nil {
				return err
			}
			states := map[bursar.WithdrawalStatus]int{}
			for _, w := range list {
				states[w.Status]++
			}
			if states[bursar.WithdrawalConfirmed] != 3 || states[bursar.WithdrawalQueued] != 2 {
				t.Errorf("the withdrawals are %v", states)
			}
			alarms, err := tx.Alarms().List(ctx, 10)
			if len(alarms) == 0 || alarms[0].Kind != "signer_refused" {
				t.Errorf("the alarms are %+v", alarms)
			}
			return err
		})
		r.signer, err = signer.New(r.keys.Keys,
			map[bursar.ChainID]signer.Policy{r.chain.Capabilities().ID: {Capabilities: r.chain.Capabilities(), Signable: r.chain,
				MaxFee: bursar.Units(1 << 30)}})
		r.must(err)
		r.restart() // the hour is over
		r.trouble = false
		r.settle()
		if got := r.chain.Balance(to, ""); got != bursar.Units(1_500_000) {
			t.Fatalf("the receiver has %s", got)
		}
		r.view(func(tx *store.Tx) error {
			alarms, err := tx.Alarms().List(ctx, 10)
			if len(alarms) != 0 {
				t.Errorf("alarms stay open: %+v", alarms)
			}
			return err
		})
		r.must(r.audit())
	})
}
