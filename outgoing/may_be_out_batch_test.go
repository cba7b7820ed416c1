package outgoing_test

import (
	"fmt"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
)

// If a batch can never be included, all its withdrawals are requeued and paid once.
func TestEveryWithdrawalOfALostBatchIsPaidAgain(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		r.Step()
		r.Pay(r.Wallet(0).Address, 300_000_000)
		r.Pay(bursar.Address{Base: r.Hot.Base}, 700_000_000)
		r.Chain.Mine(3)
		r.Step()
		deposit := r.Pay(r.Wallet(1).Address, 900_000_000)
		r.Chain.Mine(3)
		r.Step()
		var list []bursar.Withdrawal
		for i := range 4 {
			list = append(list, r.Order(50_000_000, r.Chain.Named(fmt.Sprint(i))))
		}
		r.Step()
		first := r.only().ID
		r.Chain.Forget()
		r.Trouble = true
		r.Chain.Reorg(3, deposit)
		r.Step()
		r.Chain.DoubleSpend(deposit)
		r.Blocks(15)
		if got := r.spendNow(first).Status; got != bursar.OutgoingAbandoned {
			t.Errorf("the batch is %s, want %s", got, bursar.OutgoingAbandoned)
		}
		if got := r.statuses(list...); got[bursar.WithdrawalConfirmed] != len(list) {
			t.Errorf("the withdrawals are %v, want %v", got, len(list))
		}
		r.holdsOnce(list...)
	})
}
