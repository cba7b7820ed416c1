package outgoing_test

import (
	"context"
	"slices"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
)

// recording is a chain that remembers what is sent.
type recording struct {
	*sim.Chain
	sent []string
}

func (c *recording) Broadcast(ctx context.Context, tx chain.SignedTx) error {
	c.sent = append(c.sent, tx.TxID)
	return c.Chain.Broadcast(ctx, tx)
}

// A hanging sweep of a token collects the native asset that is paid to its address.
func TestTheNativeAssetIsSweptWithAHangingTokenSweepsNonce(t *testing.T) {
	config := bursartest.Numbered
	config.BumpAfter = 1 << 40
	each(t, config, func(t *testing.T, r *harness) {
		r.WithTokens().Prepare()
		r.Settle()
		token, err := r.Registry.Get("TOKEN")
		r.Must(err)
		w := r.WalletOf(0, "TOKEN")
		deposit := r.Chain.Pay(chain.Payment{Address: w.Address, Contract: token.Contract,
			Amount: bursar.Units(2_000_000_000)})
		for n := 0; n < 20 && !r.sweeps(w, bursar.OutgoingSent); n++ {
			r.Chain.Mine(1)
			r.Step()
		}
		first := ""
		for _, p := range r.Open() {
			if p.Kind == string(chain.KindSweep) {
				first = p.TxID
			}
		}
		r.Chain.Forget()
		r.Undo(deposit, deposit)
		r.Chain.Forget()
		r.Trouble = true
		r.Blocks(5)
		if hang, _ := r.hanging(); hang != 1 {
			t.Fatalf("open are %+v, want 1", r.Open())
		}
		r.Pay(w.Address, 1_000_000_000)
		node := &recording{Chain: r.Chain}
		r.Sender.Chain = node
		r.Blocks(12)
		if got := r.Chain.Balance(w.Address.Base, ""); !got.Less(bursar.Units(10_000_000)) {
			r.LogOpen(5)
			t.Errorf("%s was not swept", got)
		}
		if first == "" || len(node.sent) == 0 || slices.Contains(node.sent, first) {
			t.Errorf("the sweep %q of what is not there is among what was sent: %q", first, node.sent)
		}
	})
}

// Gas for a token that a sweep is given is sent although the sweep's fee is never bumped.
func TestASweepThatIsGivenATokenHasGasSent(t *testing.T) {
	config := bursartest.Numbered
	config.BumpAfter = 1 << 40
	each(t, config, func(t *testing.T, r *harness) {
		r.WithTokens()
		w := r.hung()
		r.Pay(bursar.Address{Base: r.Hot.Base}, 1_000_000_000)
		r.Give("TOKEN", w.Address, 50_000)
		r.SettleAll()
		token, err := r.Registry.Get("TOKEN")
		r.Must(err)
		if got := r.Chain.Balance(w.Address.Base, token.Contract); !got.IsZero() {
			r.LogOpen(5)
			t.Errorf("%s TOKEN are left, want zero", got)
		}
	})
}

// sweeps reports whether a sweep of a wallet's address has a status.
func (r *harness) sweeps(w bursar.Wallet, status bursar.OutgoingStatus) bool {
	for _, p := range r.Open() {
		if p.Kind == string(chain.KindSweep) && p.Base == w.Address.Base && p.Status == status && p.Height == 0 {
			return true
		}
	}
	return false
}
