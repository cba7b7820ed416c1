package spend_test

import (
	"testing"

	"github.com/bursar/bursar"
)

// Of two equal withdrawals of one customer the first was sent before the backup and the second after it. What the database has
// forgotten is the second: taken for the first, which its own transaction pays, it would be paid once more.
func TestAForgottenPaymentIsNotTakenForAnEqualOneThatIsSent(t *testing.T) {
	for name, mined := range map[string]int{"waiting": 0, "in a block": 1} {
		t.Run(name, func(t *testing.T) {
			onModels(t, func(t *testing.T, r *rig) {
				r.prepare()
				exchange := r.chain.Named("exchange")
				one := r.order(200_000_000, exchange)
				r.step()
				r.chain.Mine(mined)
				r.step()
				two := r.order(200_000_000, exchange)
				before := r.backup()
				r.settle()
				r.restore(before)
				r.settle()
				r.recovered()
				r.settle()
				if got := r.chain.Balance(exchange, ""); got != bursar.Units(400_000_000) {
					t.Errorf("the receiver holds %s, two times 200000000 were ordered", got)
				}
				for _, w := range []bursar.Withdrawal{one, two} {
					if now := r.now(w); now.Status != bursar.WithdrawalConfirmed {
						t.Errorf("withdrawal %s is %s", w.ID, now.Status)
					}
				}
			})
		})
	}
}
