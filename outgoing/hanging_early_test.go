package outgoing_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// A sweep that is final before a deposit at its address is booked is settled after that. A sweep that failed on the
// chain, and a payment, wait for no deposit.
func TestASweepIsSettledAfterWhatItCollected(t *testing.T) {
	for name, waits := range map[string]bool{"sweep": true, "failed sweep": false, "payment": false} {
		t.Run(name, func(t *testing.T) {
			each(t, numbered, func(t *testing.T, r *harness) {
				r.forged = true // a deposit that no block brought
				attack := intruder(t, r.db)
				w := r.wallet(2)
				r.step()
				r.pay(bursar.Address{Base: r.hot.Base}, 900_000_000)
				r.pay(w.Address, 900_000_000)
				r.blocks(4)
				base, kind := w.Address.Base, chain.KindSweep
				if name == "payment" {
					r.settle()
					_, err := r.withdraw(2, 1_000_000, r.chain.Named("outside"))
					r.must(err)
					r.step()
					base, kind = r.hot.Base, chain.KindWithdrawal
				}
				list := r.open()
				if len(list) != 1 || list[0].Kind != string(kind) {
					t.Fatalf("open are %+v", list)
				}
				r.chain.Mine(4)
				r.catchUp()
				if name == "failed sweep" {
					attack(`UPDATE outgoing_txs SET failed = TRUE WHERE id = $1`, list[0].ID)
				}
				attack(`INSERT INTO deposits(id, purpose, account_id, wallet, currency, chain, tx_id, output, base, memo, contract,
					amount, fee, status, height, block_hash, seen_at)
					VALUES (RANDOMBLOB(16), 'wallet', $1, $2, 'COIN', $3, 'forged', 0, $4, -1, '', '900000000', '0', 'pending', 1,
						'x', 1)`,
					r.accounts[2], w.Number, string(r.chain.Capabilities().ID), base)
				r.must(r.sender.Step(ctx, r.lease))
				if got := r.spendNow(list[0].ID).Status; (got == bursar.OutgoingFinal) == waits {
					t.Errorf("before the deposit is booked it is %s", got)
				}
				attack(`DELETE FROM deposits WHERE tx_id = 'forged'`)
				r.must(r.sender.Step(ctx, r.lease))
				if got := r.spendNow(list[0].ID).Status; got != bursar.OutgoingFinal {
					t.Errorf("after that it is %s", got)
				}
			})
		})
	}
}
