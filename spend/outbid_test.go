package spend_test

import (
	"testing"

	"github.com/bursar/bursar"
)

// A higher bid may need a further coin. When the lower one is mined after all, that coin is still there to be spent.
func TestACoinOfABidThatLostIsSpentLater(t *testing.T) {
	each(t, coined, func(t *testing.T, r *rig) {
		r.step()
		r.pay(bursar.Address{Base: r.hot.Base}, 300_000_000)
		r.pay(r.wallet(0).Address, 299_000_000)
		r.pay(r.wallet(0).Address, 298_000_000)
		r.chain.Mine(3)
		r.step()
		before, to := r.available(0), r.chain.Named("outside")
		w := r.order(299_998_000, to) // the largest coin carries no more than the first fee
		r.step()
		low := r.version(r.now(w).TxID)
		r.chain.SetRate(40)
		for range 5 {
			if r.now(w).TxID == low.TxID {
				r.chain.Mine(1)
				r.step()
			}
		}
		r.chain.SetRate(10)
		r.chain.Forget()
		r.must(r.chain.Broadcast(ctx, low))
		r.chain.Mine(1)
		r.step()
		r.settle()
		r.ends(w, to, bursar.WithdrawalConfirmed, before)
		if got := r.now(w).TxID; got != low.TxID {
			t.Errorf("it was paid by %s, not by %s", got, low.TxID)
		}
	})
}
