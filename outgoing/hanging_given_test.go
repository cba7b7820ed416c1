package outgoing_test

import (
	"context"
	"slices"
	"testing"

	"github.com/bursar/bursar"
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

// A sweep of a token that hangs collects the native asset that comes to its address.
func TestTheNativeAssetIsSweptByATokensNonceThatHangs(t *testing.T) {
	config := numbered
	config.BumpAfter = 1 << 40
	each(t, config, func(t *testing.T, r *harness) {
		r.withTokens().prepare()
		r.settle()
		token, err := r.registry.Get("TOKEN")
		r.must(err)
		w := r.walletOf(0, "TOKEN")
		deposit := r.chain.Pay(chain.Payment{Address: w.Address, Contract: token.Contract,
			Amount: bursar.Units(2_000_000_000)})
		for n := 0; n < 20 && !r.sweeps(w, bursar.OutgoingSent); n++ {
			r.chain.Mine(1)
			r.step()
		}
		first := ""
		for _, p := range r.open() {
			if p.Kind == string(chain.KindSweep) {
				first = p.TxID
			}
		}
		r.chain.Forget()
		r.undo(deposit, deposit)
		r.chain.Forget()
		r.trouble = true
		r.blocks(5)
		if hang, _ := r.hanging(); hang != 1 {
			t.Fatalf("open are %+v", r.open())
		}
		r.pay(w.Address, 1_000_000_000)
		node := &recording{Chain: r.chain}
		r.sender.Chain = node
		r.blocks(12)
		if got := r.chain.Balance(w.Address.Base, ""); !got.Less(bursar.Units(10_000_000)) {
			r.logOpen(5)
			t.Errorf("%s was not swept", got)
		}
		if first == "" || len(node.sent) == 0 || slices.Contains(node.sent, first) {
			t.Errorf("the sweep %q of what is not there is among what was sent: %q", first, node.sent)
		}
	})
}

// The gas for a token that a sweep is given is sent although its fee is never bumped.
func TestASweepThatIsGivenATokenHasGasSent(t *testing.T) {
	config := numbered
	config.BumpAfter = 1 << 40
	each(t, config, func(t *testing.T, r *harness) {
		r.withTokens()
		w := r.hung()
		r.pay(bursar.Address{Base: r.hot.Base}, 1_000_000_000)
		r.give("TOKEN", w.Address, 50_000)
		r.settleAll()
		token, err := r.registry.Get("TOKEN")
		r.must(err)
		if got := r.chain.Balance(w.Address.Base, token.Contract); !got.IsZero() {
			r.logOpen(5)
			t.Errorf("%s TOKEN are left", got)
		}
	})
}

// sweeps reports whether a sweep of a wallet's address has a status.
func (r *harness) sweeps(w bursar.Wallet, status bursar.OutgoingStatus) bool {
	for _, p := range r.open() {
		if p.Kind == string(chain.KindSweep) && p.Base == w.Address.Base && p.Status == status && p.Height == 0 {
			return true
		}
	}
	return false
}
