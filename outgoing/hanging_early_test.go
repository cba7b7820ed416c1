package outgoing_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
)

// A sweep that is final before a deposit at its address is booked is settled after that deposit. A sweep that failed on
// the chain, and a payment, wait for no deposit.
func TestASweepIsSettledAfterTheDepositThatItCollected(t *testing.T) {
	for name, waits := range map[string]bool{"sweep": true, "failed sweep": false, "payment": false} {
		t.Run(name, func(t *testing.T) {
			each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
				r.Forged = true // a deposit that no block brought
				attack := intruder(t, r.DB)
				w := r.Wallet(2)
				r.Step()
				r.Pay(bursar.Address{Base: r.Hot.Base}, 900_000_000)
				r.Pay(w.Address, 900_000_000)
				r.Blocks(4)
				base, kind := w.Address.Base, chain.KindSweep
				if name == "payment" {
					r.Settle()
					_, err := r.Withdraw(2, 1_000_000, r.Chain.Named("outside"))
					r.Must(err)
					r.Step()
					base, kind = r.Hot.Base, chain.KindWithdrawal
				}
				list := r.Open()
				if len(list) != 1 || list[0].Kind != string(kind) {
					t.Fatalf("open are %+v, want 1 of them and %v", list, string(kind))
				}
				r.Chain.Mine(4)
				r.CatchUp()
				if name == "failed sweep" {
					attack(`UPDATE outgoing_txs SET failed = TRUE WHERE id = $1`, list[0].ID)
				}
				attack(`INSERT INTO deposits(id, purpose, account_id, wallet, currency, chain, tx_id, output, base, memo, contract,
					amount, fee, status, height, block_hash, seen_at)
					VALUES (RANDOMBLOB(16), 'wallet', $1, $2, 'COIN', $3, 'forged', 0, $4, -1, '', '900000000', '0', 'pending', 1,
						'x', 1)`,
					r.Accounts[2], w.Number, string(r.Chain.Capabilities().ID), base)
				r.Must(r.Sender.Step(ctx, r.Lease))
				if got := r.spendNow(list[0].ID).Status; (got == bursar.OutgoingFinal) == waits {
					t.Errorf("before the deposit is booked it is %s", got)
				}
				attack(`DELETE FROM deposits WHERE tx_id = 'forged'`)
				r.Must(r.Sender.Step(ctx, r.Lease))
				if got := r.spendNow(list[0].ID).Status; got != bursar.OutgoingFinal {
					t.Errorf("after that the outgoing transaction is %s, want %s", got, bursar.OutgoingFinal)
				}
			})
		})
	}
}
