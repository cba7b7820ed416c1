package bitcoin_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/bitcoin/bitcoindtest"
	"github.com/bursar/bursar/chain/bitcoin/descriptor"
	"github.com/bursar/bursar/signer"
)

// vaultOn makes a cold wallet of which two of three keys sign, with two addresses, as the node derives them.
func vaultOn(t *testing.T, node *bitcoindtest.Node, id bursar.ChainID, family bursar.Family) (
	bursar.ColdWallet, []*signer.Keys,
) {
	t.Helper()
	var all []*signer.Keys
	body := "wsh(sortedmulti(2"
	for n := byte(2); n < 5; n++ {
		keys, err := signer.KeysFromSeed(bytes.Repeat([]byte{n}, 32), signer.Testnet)
		if err != nil {
			t.Fatal(err)
		}
		expression, err := keys.KeyExpression(family)
		if err != nil {
			t.Fatal(err)
		}
		all, body = append(all, keys), body+","+expression+"/<0;1>/*"
	}
	body += "))"
	sum, err := descriptor.Checksum(body)
	if err != nil {
		t.Fatal(err)
	}
	d, err := descriptor.Parse(body + "#" + sum)
	if err != nil {
		t.Fatal(err)
	}
	w := bursar.ColdWallet{Chain: id, Name: "vault", Kind: bursar.ColdDescriptor, Descriptor: d.String()}
	node.Call(t, &w.Addresses, "deriveaddresses", d.Branch(0), []int{0, 1})
	return w, all
}

// refillOn builds a refill on a real node, has two keys sign it, and has the node evaluate what they made.
func refillOn(b *nodeHarness, id bursar.ChainID) {
	b.t.Helper()
	w, all := vaultOn(b.t, b.node, id, b.chain.Capabilities().Family)
	if err := b.chain.CheckCold(w); err != nil {
		b.t.Fatalf("the node's addresses %v: %v", w.Addresses, err)
	}
	for _, base := range w.Addresses {
		b.node.Pay(b.t, chain.Payment{Address: bursar.Address{Base: base}, Amount: bursar.Units(50_000_000)})
	}
	b.node.Finalize(b.t)
	r := signer.Refill{Wallet: w, MaxFee: bursar.Units(1_000_000), Payment: chain.Payment{
		Address: bursar.Address{Base: b.hot.Base}, Amount: bursar.Units(60_000_000)}}
	data, err := b.chain.BuildCold(b.t.Context(), chain.ColdRequest{Wallet: w, Payment: r.Payment, MaxFee: r.MaxFee})
	if err != nil {
		b.t.Fatal(err)
	}
	for _, keys := range all[1:] {
		if data, err = keys.SignRefill(b.chain, r, b.hot.Base, data); err != nil {
			b.t.Fatal(err)
		}
	}
	signed, err := b.chain.FinishCold(w, data)
	if err != nil {
		b.t.Fatal(err)
	}
	var theirs struct {
		Hex      string `json:"hex"`
		Complete bool   `json:"complete"`
	}
	b.node.Call(b.t, &theirs, "finalizepsbt", base64.StdEncoding.EncodeToString(data))
	if !theirs.Complete || theirs.Hex != hex.EncodeToString(signed.Raw) {
		b.t.Errorf("the node finalises it to %+v, want %x", theirs, signed.Raw)
	}
	b.broadcast(signed)
	b.node.Finalize(b.t)
	if got := fmt.Sprint(b.utxos()); !bytes.Contains([]byte(got), []byte(signed.TxID)) {
		b.t.Errorf("at the hot wallet: got %s, want an output of %s", got, signed.TxID)
	}
}

// The node derives our addresses from our descriptor, finalises our PSBT to the same bytes, and mines them.
func TestANodeTakesARefill(t *testing.T) {
	refillOn(newTill(t), bursar.Bitcoin)
}

func TestALitecoinNodeTakesARefill(t *testing.T) {
	refillOn(newLitecoinHarness(t).nodeHarness, bursar.Litecoin)
}
