package signer

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest/clocktest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/signer/memory"
)

// harness is a signer over three fake chains, one of each kind.
type harness struct {
	t      *testing.T
	keys   *Keys
	signer *Signer
	clock  *clocktest.Clock

	bounds map[bursar.ChainID]Bounds
}

const (
	utxoChain  bursar.ChainID = "coins"
	nonceChain bursar.ChainID = "nonces"
	edChain    bursar.ChainID = "ed25519"
)

func boundsOf(keys *Keys, id bursar.ChainID) Bounds {
	p := Bounds{
		Capabilities: chain.Capabilities{ID: id, Family: chain.FamilyBitcoin, Curve: chain.Secp256k1, Model: chain.UTXOModel,
			MaxPayments: 4},
		Signable: fakeChain{curve: chain.Secp256k1, keys: keys},
		MaxFee:   bursar.Units(1000), MaxRate: bursar.Units(5), MaxInputs: 3,
	}
	switch id {
	case nonceChain:
		p.Capabilities.Family, p.Capabilities.Model, p.Capabilities.MaxPayments = chain.FamilyEVM, chain.AccountModel, 1
	case edChain:
		p.Capabilities.Family, p.Capabilities.Model, p.Capabilities.Curve = chain.FamilySolana, chain.AccountModel,
			chain.Ed25519
		p.Signable, p.MaxRate = fakeChain{curve: chain.Ed25519, keys: keys}, bursar.Amount{}
	}
	return p
}

func newHarness(t *testing.T, change func(*Bounds)) *harness {
	t.Helper()
	b := &harness{t: t, keys: keysOf(t, legal, "", Testnet), clock: clocktest.New()}
	policies := map[bursar.ChainID]Bounds{}
	for _, id := range []bursar.ChainID{utxoChain, nonceChain, edChain} {
		p := boundsOf(b.keys, id)
		p.Now = b.clock.Now
		if change != nil {
			change(&p)
		}
		policies[id] = p
	}
	b.bounds = policies
	b.restart(memory.NewRAM())
	return b
}

// restart begins a signer of the same policies with a memory.
func (b *harness) restart(keeper memory.Keeper) {
	b.t.Helper()
	var err error
	if b.signer, err = NewWithMemory(b.t.Context(), b.keys, b.bounds, keeper); err != nil {
		b.t.Fatal(err)
	}
}

func (b *harness) source(family bursar.Family, branch, index uint32) chain.Source {
	b.t.Helper()
	ref := chain.KeyRef{Family: family, Branch: branch, Index: index}
	address, err := fakeChain{}.Address(mustPublic(b.t, b.keys, ref), 0)
	if err != nil {
		b.t.Fatal(err)
	}
	return chain.Source{Key: ref, Base: address.Base}
}

func pay(base string, units uint64) chain.Payment {
	return chain.Payment{Address: bursar.Address{Base: base}, Amount: bursar.Units(units)}
}

func token(base string, units uint64) chain.Payment {
	p := pay(base, units)
	p.Contract = "token"
	return p
}

// request holds the arguments of Sign, with the contents not yet encoded so that a test can change them.
type request struct {
	chain    bursar.ChainID
	request  chain.TxRequest
	unsigned chain.UnsignedTx
	contents chain.Contents
}

func in(source chain.Source, digest []byte) chain.Input {
	return chain.Input{Source: source, Digest: digest}
}

// spent is an input that spends a UTXO.
func spent(input chain.Input, outpoint string, units uint64) chain.Input {
	input.Outpoint, input.Amount = outpoint, bursar.Units(units)
	return input
}

func digest(n byte) []byte { return bytes.Repeat([]byte{n}, 32) }

// sign encodes the unsigned transaction and requests signatures.
func (b *harness) sign(r request) (chain.SignedTx, error) {
	b.t.Helper()
	if r.unsigned.Bytes == nil {
		unsigned, err := json.Marshal(r.contents)
		if err != nil {
			b.t.Fatal(err)
		}
		r.unsigned.Bytes = unsigned
	}
	if r.unsigned.Previous == nil && r.chain == utxoChain {
		r.unsigned.Previous = previous(r.contents)
	}
	return b.signer.Sign(b.t.Context(), r.chain, r.request, r.unsigned)
}

// withUTXOs is a withdrawal of two payments from two UTXOs, with change.
func (b *harness) withUTXOs() request {
	hot := b.source(chain.FamilyBitcoin, chain.OwnBranch, 0)
	payments := []chain.Payment{pay("alice", 100), pay("bob", 200)}
	return request{
		chain: utxoChain,
		request: chain.TxRequest{ID: bursar.ID{1}, Kind: chain.KindWithdrawal, Payments: payments, Change: hot,
			MaxFee: bursar.Units(900)},
		unsigned: chain.UnsignedTx{Reservations: []string{"a:0", "b:1"}, Fee: bursar.Units(800)},
		contents: chain.Contents{
			Payments: []chain.Payment{pay("bob", 200), pay("alice", 100), pay(hot.Base, 50)},
			Fee:      bursar.Units(800), Weight: 200,
			Inputs: []chain.Input{spent(in(b.source(chain.FamilyBitcoin, chain.DepositBranch, 1), digest(1)), "a:0", 750),
				spent(in(hot, digest(2)), "b:1", 400)},
		},
	}
}

// withNonce is a withdrawal of tokens.
func (b *harness) withNonce() request {
	hot := b.source(chain.FamilyEVM, chain.OwnBranch, 0)
	return request{
		chain: nonceChain,
		request: chain.TxRequest{ID: bursar.ID{2}, Kind: chain.KindWithdrawal, Payments: []chain.Payment{token("alice", 7)},
			From: hot, MaxFee: bursar.Units(900)},
		unsigned: chain.UnsignedTx{Reservations: []string{hot.Base + "/0"}, Fee: bursar.Units(10)},
		contents: chain.Contents{
			Payments: []chain.Payment{token("alice", 7)}, Fee: bursar.Units(10), Weight: 2,
			Inputs: []chain.Input{in(hot, digest(1))},
		},
	}
}

// sweep collects from a deposit address; the fee has been taken from what is collected.
func (b *harness) sweep() request {
	r := b.withNonce()
	hot, from := r.request.From, b.source(chain.FamilyEVM, chain.DepositBranch, 3)
	r.request.Kind, r.request.From, r.request.Payments = chain.KindSweep, from, []chain.Payment{pay(hot.Base, 500)}
	r.contents.Payments, r.contents.Inputs[0].Source = []chain.Payment{pay(hot.Base, 490)}, from
	return r
}

// topUp sends gas to a deposit address, which is in Change.
func (b *harness) topUp() request {
	r := b.withNonce()
	r.request.Kind, r.request.Change = chain.KindGasTopUp, b.source(chain.FamilyEVM, chain.DepositBranch, 3)
	r.request.Payments = []chain.Payment{pay(r.request.Change.Base, 30)}
	r.contents.Payments = r.request.Payments
	return r
}

// sweepOnEd25519 is signed by the deposit key and by the hot wallet's key, which pays the fee.
func (b *harness) sweepOnEd25519() request {
	hot, from := b.source(chain.FamilySolana, chain.OwnBranch, 0), b.source(chain.FamilySolana, chain.DepositBranch, 1)
	message := []byte("a message of the chain")
	return request{
		chain: edChain,
		request: chain.TxRequest{ID: bursar.ID{3}, Kind: chain.KindSweep, Payments: []chain.Payment{token(hot.Base, 70)},
			From: from, MaxFee: bursar.Units(900)},
		unsigned: chain.UnsignedTx{Reservations: []string{"c"}, Fee: bursar.Units(10)},
		contents: chain.Contents{
			Payments: []chain.Payment{token(hot.Base, 70)}, Fee: bursar.Units(10),
			Inputs: []chain.Input{in(hot, message), in(from, message)},
		},
	}
}
