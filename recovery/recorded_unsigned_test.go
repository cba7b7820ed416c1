package recovery_test

import (
	"path/filepath"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/withdrawal"
)

// A token moved nothing in the block that has a forgotten payment, and the older database had assigned the withdrawal
// to its transaction already. The recognised transaction takes the withdrawal over, and the one that was never built
// ends: it would wait for ever for payments that it does not have.
func TestAnAssignedPaymentThatMovedNothingIsRefunded(t *testing.T) {
	for name, config := range map[string]sim.Config{"nonce": bursartest.Numbered, "none": bursartest.Unnumbered} {
		t.Run(name, func(t *testing.T) {
			bursartest.On(t, config, func(t *testing.T, r *bursartest.OneChain) {
				file := filepath.Join(t.TempDir(), "seed.marks")
				token := r.WithToken()
				r.Guarded(file)
				r.Step()
				r.Pay(bursar.Address{Base: r.Hot.Base}, 900_000_000)
				for _, to := range []bursar.Address{r.WalletOf(0, token.Code).Address, {Base: r.Hot.Base}} {
					r.Chain.Pay(chain.Payment{Address: to, Contract: token.Contract, Amount: bursar.Units(80_000_000)})
				}
				r.Chain.Mine(5)
				r.Settle()
				w, err := r.Withdrawals.Request(ctx, withdrawal.Request{Account: r.Accounts[0], Currency: token.Code,
					Amount: "10", Address: r.Chain.Named("receiver")})
				r.Must(err)
				r.Trouble = true
				r.HoldBack(sim.Build)
				r.Trouble = false
				if assigned := r.Now(w); assigned.OutgoingID.IsZero() {
					t.Fatal("it is not assigned")
				}
				before := r.Backup()
				r.Chain.ClearFaults()
				r.Step()
				if r.Now(w).TxID == "" {
					t.Fatal("nothing was sent")
				}
				r.Chain.SetManners(token.Contract, sim.Manners{False: true})
				r.Chain.Mine(1)
				r.Chain.SetManners(token.Contract, sim.Manners{})
				r.Revive(before, file)
				r.Blocks(3)
				r.Settle()
				paid := r.Chain.Balance(r.Chain.Named("receiver"), token.Contract)
				if now := r.Now(w); now.Status == bursar.WithdrawalConfirmed || !paid.IsZero() {
					t.Errorf("the withdrawal is %s, and its receiver holds %s, want it refunded and 0", now.Status, paid)
				}
				r.NothingOpen()
				r.Must(r.Reconcile())
			})
		})
	}
}
