package ceremony_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire/v2"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ceremony"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/bitcoin"
	"github.com/bursar/bursar/chain/bitcoin/descriptor"
	"github.com/bursar/bursar/chain/bitcoin/psbt"
	"github.com/bursar/bursar/chain/rpc"
	"github.com/bursar/bursar/signer"
)

var now = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

// harness is a hot wallet, a cold wallet of which two of three keys sign, and the output that it holds.
type harness struct {
	*testing.T
	rules    *bitcoin.Chain
	keys     []*signer.Keys // of the cold wallet
	wallet   bursar.ColdWallet
	own      ceremony.Own
	desc     *descriptor.Descriptor
	previous *wire.MsgTx
}

func keysOf(t *testing.T, n byte) *signer.Keys {
	t.Helper()
	keys, err := signer.KeysFromSeed(bytes.Repeat([]byte{n}, 32), signer.Testnet)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func newHarness(t *testing.T, form string) *harness {
	t.Helper()
	network, err := bitcoin.Bitcoin("regtest")
	if err != nil {
		t.Fatal(err)
	}
	b := &harness{T: t}
	b.rules, err = bitcoin.New(bitcoin.Config{ID: bursar.Bitcoin, Network: network,
		Node: rpc.Config{URLs: []string{"http://127.0.0.1:1"}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.rules.Close)
	hot := keysOf(t, 1)
	pub, err := hot.Public(chain.Hot(chain.FamilyBitcoin))
	if err != nil {
		t.Fatal(err)
	}
	home, err := b.rules.Address(pub, 0)
	if err != nil {
		t.Fatal(err)
	}
	btc := bursar.Currency{Code: "BTC", Chain: bursar.Bitcoin, Decimals: 8, Places: 8}
	b.own = ceremony.Own{Instance: hot.Fingerprint(), Network: "regtest",
		Kinds: []bursar.ColdKind{bursar.ColdDescriptor}, Rules: b.rules, Home: home.Base, MaxFee: bursar.Units(100_000),
		MaxRate: bursar.Units(500), Native: btc, Asset: btc}
	var expressions []any
	for n := byte(2); n < 5; n++ {
		b.keys = append(b.keys, keysOf(t, n))
		expression, err := b.keys[n-2].KeyExpression(chain.FamilyBitcoin)
		if err != nil {
			t.Fatal(err)
		}
		expressions = append(expressions, expression)
	}
	b.found(fmt.Sprintf(form, expressions[:strings.Count(form, "%s")]...))
	return b
}

// found makes the wallet of a descriptor, with its first two addresses, and gives it an output of 1 BTC.
func (b *harness) found(body string) {
	b.Helper()
	sum, err := descriptor.Checksum(body)
	if err != nil {
		b.Fatal(err)
	}
	if b.desc, err = descriptor.Parse(body + "#" + sum); err != nil {
		b.Fatal(err)
	}
	b.wallet = bursar.ColdWallet{Chain: bursar.Bitcoin, Name: "vault", Kind: bursar.ColdDescriptor,
		Descriptor: b.desc.String()}
	b.previous = wire.NewMsgTx(2)
	b.previous.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Index: 7}})
	for index := range uint32(2) {
		out := b.at(index)
		b.previous.AddTxOut(wire.NewTxOut(1e8, out.Script))
		b.wallet.Addresses = append(b.wallet.Addresses, b.base(out.Script))
	}
}

func (b *harness) at(index uint32) descriptor.Output {
	b.Helper()
	out, err := b.desc.At(0, index)
	if err != nil {
		b.Fatal(err)
	}
	return out
}

// base returns the address of a script.
func (b *harness) base(script []byte) string {
	b.Helper()
	network, err := bitcoin.Bitcoin("regtest")
	if err != nil {
		b.Fatal(err)
	}
	base, err := network.AddressOf(script)
	if err != nil {
		b.Fatal(err)
	}
	return base
}

func (b *harness) script(base string) []byte {
	b.Helper()
	script, err := b.rules.Script(base)
	if err != nil {
		b.Fatal(err)
	}
	return script
}

// packet is an honest transaction of 0.4 BTC to the hot wallet at a fee of 1,000.
func (b *harness) packet() *psbt.Packet {
	b.Helper()
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: b.previous.TxHash()}, Sequence: 0xfffffffd})
	tx.AddTxOut(wire.NewTxOut(4e7, b.script(b.own.Home)))
	tx.AddTxOut(wire.NewTxOut(6e7-1000, b.at(0).Script))
	p := psbt.New(tx)
	p.Inputs[0].Set([]byte{psbt.InPrevious}, b.raw(b.previous))
	if w := b.at(0).Witness; w != nil {
		p.Inputs[0].Set([]byte{psbt.InWitnessScript}, w)
	}
	for _, k := range b.at(0).Keys {
		p.Inputs[0].Set(append([]byte{psbt.InDerivation}, k.Public...), psbt.Derivation(k.Fingerprint, k.Path))
	}
	return p
}

func (b *harness) raw(tx *wire.MsgTx) []byte {
	b.Helper()
	var raw bytes.Buffer
	if err := tx.SerializeNoWitness(&raw); err != nil {
		b.Fatal(err)
	}
	return raw.Bytes()
}

// bundle puts a transaction into an honest bundle.
func (b *harness) bundle(p *psbt.Packet) ceremony.Bundle {
	b.Helper()
	data, err := p.Encode()
	if err != nil {
		b.Fatal(err)
	}
	return ceremony.Bundle{Instance: b.own.Instance, Network: "regtest", ID: bursar.ID{0: 1, 15: 9}, Wallet: b.wallet,
		Payment: chain.Payment{Address: bursar.Address{Base: b.own.Home}, Amount: bursar.Units(4e7)},
		MaxFee:  bursar.Units(10_000), Created: now, Expires: now.Add(24 * time.Hour), Bytes: data}
}
