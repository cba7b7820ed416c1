package solana_test

import (
	"bytes"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	adapter "github.com/bursar/bursar/chain/solana"
	"github.com/bursar/bursar/sandbox/nodes/host"
	"github.com/bursar/bursar/sandbox/nodes/solana"
	"github.com/bursar/bursar/signer"
)

// TestRefillsWithANonce checks that the node takes what the service's adapter builds and a seed signs offline, once;
// that it survives a restart and a reorg; and that the adapter sees what has used up a nonce.
func TestRefillsWithANonce(t *testing.T) {
	t.Parallel()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	options := solana.Config{Options: host.Options{DataDir: t.TempDir()}, FinalityDepth: 4}
	n := start(t, options)
	c := connect(t, n, adapter.Private())
	keys, err := signer.KeysFromSeed(bytes.Repeat([]byte{5}, 64), signer.Testnet)
	must(err)
	public, err := keys.Public(chain.Hot("solana"))
	must(err)
	cold, err := c.Address(public, 0)
	must(err)
	_, err = n.Pay(cold.Base, 10*sol)
	must(err)
	nonce, err := n.NewNonceAccount(cold.Base)
	must(err)
	mine(t, n, 6)
	if again, err := n.NewNonceAccount(cold.Base); again != nonce || err != nil {
		t.Fatalf("made again: got %s, %v, want %s", again, err, nonce)
	}
	home := n.NewAddress()
	r := signer.Refill{MaxFee: bursar.Units(50_000), Wallet: bursar.ColdWallet{Chain: bursar.Solana, Name: "vault",
		Kind: bursar.ColdNonce, Addresses: []string{cold.Base}, NonceAccount: nonce}}
	var since uint64
	signed := func(lamports uint64) []byte {
		t.Helper()
		r.Payment = chain.Payment{Amount: bursar.Units(lamports), Address: bursar.Address{Base: home}}
		data, err := c.BuildCold(t.Context(), chain.ColdRequest{Wallet: r.Wallet, Payment: r.Payment, MaxFee: r.MaxFee})
		must(err)
		if since, err = c.Unused(t.Context(), r.Wallet, data); err != nil {
			t.Fatal(err)
		}
		data, err = keys.SignRefill(c, r, home, data)
		must(err)
		return data
	}
	used := func(data []byte, want bool) {
		t.Helper()
		if got, _, err := c.UsedUp(t.Context(), r.Wallet, data, since); got != want || err != nil {
			t.Errorf("used up: got %v, %v, want %v", got, err, want)
		}
	}
	send := func(data []byte) error {
		t.Helper()
		tx, err := c.FinishCold(r.Wallet, data)
		must(err)
		return c.Broadcast(t.Context(), tx)
	}
	first, other := signed(2*sol), signed(3*sol)
	mine(t, n, 200) // far beyond the life of a blockhash
	must(send(first))
	mine(t, n, 1)
	used(first, false) // not final
	must(n.Reorg(1, nil))
	must(n.Close())
	n = start(t, options)
	c = connect(t, n, adapter.Private())
	mine(t, n, 6)
	if got := balance(t, n, home); got != 2*sol {
		t.Fatalf("got %d lamports at home, want %d", got, 2*sol)
	}
	used(first, true)
	used(other, true)
	if err := send(other); err == nil {
		t.Error("the other with the same nonce: got none, want a refusal")
	}
	must(send(signed(sol)))
	mine(t, n, 6)
	if got := balance(t, n, home); got != 3*sol {
		t.Fatalf("got %d lamports at home, want %d", got, 3*sol)
	}
}
