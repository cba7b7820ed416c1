package unattributed_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// A refund whose transaction is in a block and failed makes the deposit unresolved again, once the block is final.
func TestADepositWhoseRefundFailedIsResolvedAgain(t *testing.T) {
	bursartest.OnBoth(t, func(t *testing.T, r *bursartest.OneChain) {
		if r.Chain.Capabilities().Model == chain.UTXOModel {
			return // a transaction of UTXOs cannot fail in a block
		}
		r.Step()
		r.Pay(bursar.Address{Base: r.Hot.Base}, 90_000_000)
		w := r.Wallet(0)
		d := stranded(r, w, 80_000_000)
		r.SendBack(d, "closes its door")
		r.Step()
		r.Chain.Close(r.Chain.Named("closes its door"))
		r.Chain.Mine(1)
		r.Step()
		if n := r.Resolution(d); n.Status != bursar.ResolutionSigned {
			t.Fatalf("before it is final it is %s, want %s", n.Status, bursar.ResolutionSigned)
		}
		r.Settle()
		if n := r.Resolution(d); n.Status != bursar.ResolutionFailed || n.Error == "" {
			t.Errorf("the decision is %+v", n)
		}
		r.WantAlarms("unattributed")
		r.WantBooks("80000000", "0", "0")
		if _, err := r.Unattributed().AssignToWallet(ctx, d.ID, w.ID, ""); err != nil {
			t.Fatal(err)
		}
		if got := r.Available(0); got != bursar.Units(79_200_000) {
			t.Errorf("%s is available, want %s", got, bursar.Units(79_200_000))
		}
		r.WantAlarms()
		r.Must(r.Audit())
	})
}

// A refund that no node accepts and no block includes until it expires is requested again, and paid once.
func TestARefundThatExpiredIsMadeAgain(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := bursartest.NewOneChain(t, db, sim.Config{ID: bursar.Ethereum, Family: "evm", Spending: chain.AccountModel,
			Confirmations: 3,
			Expiry:        6})
		r.Step()
		r.Pay(bursar.Address{Base: r.Hot.Base}, 90_000_000)
		d := stranded(r, r.Wallet(0), 80_000_000)
		n := r.SendBack(d, "sender")
		r.Chain.FailBroadcasts(sim.LostUnknown, 20)
		r.Trouble = true
		r.Step()
		first := r.Resolution(d)
		for range 14 {
			r.Chain.Mine(1)
			r.Step()
		}
		again := r.Resolution(d)
		if first.TxID == "" || again.OutgoingID == first.OutgoingID {
			t.Fatalf("spend %s of transaction %q was not made again", first.OutgoingID, first.TxID)
		}
		r.Chain.ClearFaults()
		r.Trouble = false
		r.Settle()
		if got := r.Chain.Balance(r.Chain.Named("sender"), ""); got != n.Amount {
			t.Errorf("the sender got %s of %s", got, n.Amount)
		}
		r.Must(r.Audit())
	})
}

// A refund that can never be built makes its deposit unresolved again: here the destination requires a memo only since
// it was resolved.
func TestARefundThatCanNeverBeBuiltIsResolvedAgain(t *testing.T) {
	bursartest.OnBoth(t, func(t *testing.T, r *bursartest.OneChain) {
		r.Step()
		r.Pay(bursar.Address{Base: r.Hot.Base}, 90_000_000)
		d := stranded(r, r.Wallet(0), 80_000_000)
		r.SendBack(d, "sender")
		r.Chain.RequireMemo(r.Chain.Named("sender"))
		r.Step()
		if n := r.Resolution(d); n.Status != bursar.ResolutionFailed || n.Error != "the address needs a memo" {
			t.Errorf("the decision is %+v", n)
		}
		r.WantAlarms("unattributed")
		r.WantBooks("80000000", "0", "0")
		r.Must(r.Audit())
	})
}
