package bitcoin_test

import (
	"slices"
	"testing"

	"github.com/bursar/bursar/chain/bitcoin"
	"github.com/bursar/bursar/chain/bitcoin/bitcoindtest"
)

// TestAChildPaysForItsParent raises the fee rate after a cheap parent was sent: its child pays for both, and the parent
// cannot be replaced, which would invalidate the child.
func TestAChildPaysForItsParent(t *testing.T) {
	b := newTill(t)
	utxos := b.pay(5_000_000)
	cheapRequest := b.order(50_000, utxos...)
	cheap, parent := b.sign(cheapRequest)
	b.broadcast(parent)
	bumped := withFallback(t, b.node, 40)
	built, err := bumped.Build(t.Context(), b.order(60_000, parent.Change...))
	if err != nil {
		t.Fatal(err)
	}
	contents, err := bumped.Inspect(built.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	fee, _ := built.Fee.Uint64()
	paid, _ := cheap.Fee.Uint64()
	if alone := contents.Weight * 40; fee < 2*alone-paid-40 || fee > 2*alone {
		t.Fatalf("the child pays %d for %d vbytes and a parent that paid %d", fee, contents.Weight, paid)
	}
	child := b.assemble(built)
	b.broadcast(child)
	cheapRequest.Replaces = &cheap
	if again, err := bumped.Build(t.Context(), cheapRequest); err == nil {
		t.Fatalf("a parent with a child was replaced by %+v", again)
	}
	b.node.Mine(t, 1)
	if _, err := b.chain.Find(t.Context(), child.TxID); err != nil {
		t.Fatal(err)
	}
}

// withFallback returns an adapter on the same node that assumes another fee rate.
func withFallback(t *testing.T, node *bitcoindtest.Node, perByte uint64) *bitcoin.Chain {
	t.Helper()
	return open(t, node, func(cfg *bitcoin.Config) { cfg.FallbackFeeRate = perByte })
}

// TestBumpAgainAndAgain replaces one transaction until its change is used up and a second UTXO must be added.
func TestBumpAgainAndAgain(t *testing.T) {
	b := newTill(t)
	utxos := b.pay(60_000, 500_000)
	if utxos[1].Amount.Less(utxos[0].Amount) { // the miner chooses their order in the block
		slices.Reverse(utxos)
	}
	request := b.order(55_000, utxos[:1]...)
	built, tx := b.sign(request)
	b.broadcast(tx)
	request.UTXOs = utxos
	for round := uint64(1); round <= 6; round++ {
		request.Replaces = &built
		next, err := withFallback(t, b.node, 10*round).Build(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		if !built.Fee.Less(next.Fee) {
			t.Fatalf("a fee of %s replaces %s, want a higher one", next.Fee, built.Fee)
		}
		built, tx = next, b.assemble(next)
		b.broadcast(tx)
	}
	if len(built.Reservations) != 2 {
		t.Fatalf("reservations are %v", built.Reservations)
	}
	b.node.Mine(t, 1)
	if _, err := b.chain.Find(t.Context(), tx.TxID); err != nil {
		t.Fatal(err)
	}
}
