package solana_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	adapter "github.com/bursar/bursar/chain/solana"
	"github.com/bursar/bursar/sandbox/nodes/solana"
	"github.com/bursar/bursar/signer"
)

// TestSignerTakesUnsignedTransactions checks that the service's signer accepts the adapter's unsigned transactions of
// a withdrawal and of a sweep, and that the chain executes what it signs.
func TestSignerTakesUnsignedTransactions(t *testing.T) {
	t.Parallel()
	n := start(t, solana.Config{})
	c := connect(t, n, adapter.Private())
	keys, err := signer.KeysFromSeed(make([]byte, 64), signer.Testnet)
	if err != nil {
		t.Fatal(err)
	}
	s, err := signer.New(keys,
		map[bursar.ChainID]signer.Bounds{bursar.Solana: {Capabilities: c.Capabilities(), Signable: c,
			MaxFee: bursar.Units(50_000), MaxRate: bursar.Units(20)}})
	if err != nil {
		t.Fatal(err)
	}
	source := func(ref chain.KeyRef) chain.Source {
		public, err := keys.Public(ref)
		if err != nil {
			t.Fatal(err)
		}
		address, err := c.Address(public, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := n.Pay(address.Base, sol); err != nil {
			t.Fatal(err)
		}
		return chain.Source{Key: ref, Base: address.Base}
	}
	hot, deposit := source(chain.Hot("solana")), source(chain.KeyRef{Family: "solana", Index: 3})
	mine(t, n, 6)
	there := n.NewAddress()
	for _, order := range []chain.TxRequest{
		{Kind: chain.KindWithdrawal, From: hot,
			Payments: []chain.Payment{{Address: bursar.Address{Base: there}, Amount: bursar.Units(sol / 2)}}},
		{Kind: chain.KindSweep, From: deposit,
			Payments: []chain.Payment{{Address: bursar.Address{Base: hot.Base}, Amount: bursar.Units(sol)}}},
	} {
		order.MaxFee = bursar.Units(20_000)
		unsigned, err := c.Build(t.Context(), order)
		if err != nil {
			t.Fatal(err)
		}
		tx, err := s.Sign(t.Context(), bursar.Solana, order, unsigned)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Broadcast(t.Context(), tx); err != nil {
			t.Fatal(err)
		}
	}
	mine(t, n, 1)
	const fee = 5150
	if balance(t, n, there) != sol/2 || balance(t, n, deposit.Base) != 0 || balance(t, n, hot.Base) != sol/2-fee+sol-fee {
		t.Fatalf("paid %d, left %d, hot %d, want %v and 0 and %v", balance(t, n, there), balance(t, n, deposit.Base),
			balance(t, n, hot.Base), sol/2, sol/2-fee+sol-fee)
	}
}
