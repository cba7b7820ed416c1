package bitcoin

import (
	"bytes"
	"errors"
	"math/big"
	"reflect"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/ecdsa"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// sign makes a signature of 65 bytes: R, S, recovery id.
func sign(private, digest []byte) []byte {
	key, _ := btcec.PrivKeyFromBytes(private)
	compact := ecdsa.SignCompact(key, digest, true)
	return append(compact[1:], compact[0]-compactKey)
}

func TestDigestAndWitnessOfBIP143(t *testing.T) {
	t.Parallel()
	c := mainnet(t)
	for _, v := range readVectors(t).Transactions {
		var tx, signed wire.MsgTx
		if err := errors.Join(tx.DeserializeNoWitness(hexReader(t, v.Unsigned)),
			signed.Deserialize(hexReader(t, v.Signed))); err != nil {
			t.Fatal(err)
		}
		const own = 1 // the P2WPKH input
		base, err := c.network.base(unhex(t, v.Inputs[own].Script))
		if err != nil {
			t.Fatal(err)
		}
		inputs := []inputForm{{}, {Source: chain.Source{Base: base}, Amount: bursar.Units(v.Inputs[own].Value)}}
		digest, err := c.network.digest(unsigned{tx: &tx, inputs: inputs}, sigHashes(&tx), own)
		if err != nil || !bytes.Equal(digest, unhex(t, v.Inputs[own].SigHash)) {
			t.Fatalf("digest is %x (%v), want %s [%s]", digest, err, v.Inputs[own].SigHash, v.Source)
		}
		signature := sign(unhex(t, v.Inputs[own].PrivateKey), digest)
		witness, err := c.network.witness(chain.Input{Source: inputs[own].Source, Digest: digest}, signature)
		if err != nil || !reflect.DeepEqual(witness, [][]byte(signed.TxIn[own].Witness)) {
			t.Fatalf("witness is %x (%v), want %x [%s]", witness, err, signed.TxIn[own].Witness, v.Source)
		}
	}
}

// TestAssembledTransactionsRun executes the scripts of an assembled transaction with btcd's engine.
func TestAssembledTransactionsRun(t *testing.T) {
	t.Parallel()
	c := open(t, newFake())
	request := requestOf(t, c, []uint64{400_000}, 200_000, 150_000, 170_000)
	built, _ := mustBuild(t, c, request)
	tx := assemble(t, c, built)
	var signed wire.MsgTx
	if err := signed.Deserialize(bytes.NewReader(tx.Raw)); err != nil {
		t.Fatal(err)
	}
	previous := txscript.NewMultiPrevOutFetcher(nil)
	for i, in := range signed.TxIn {
		value, _ := request.UTXOs[i].Amount.Uint64()
		previous.AddPrevOut(in.PreviousOutPoint, wire.NewTxOut(int64(value), script(t, c,
			request.UTXOs[i].Source.Base)))
	}
	hashes := txscript.NewTxSigHashes(&signed, previous)
	for i, in := range signed.TxIn {
		out := previous.FetchPrevOutput(in.PreviousOutPoint)
		engine, err := txscript.NewEngine(out.PkScript, &signed, i, txscript.StandardVerifyFlags, nil, hashes, out.Value,
			previous)
		if err != nil {
			t.Fatal(err)
		}
		if err := engine.Execute(); err != nil {
			t.Fatalf("input %d: %v", i, err)
		}
	}
	if len(tx.Change) != 1 || tx.Change[0].Outpoint != tx.TxID+":1" || tx.Change[0].Source != request.Change ||
		!tx.Change[0].Unconfirmed {
		t.Fatalf("change is %+v", tx.Change)
	}
}

func TestAssembleChecksSignatures(t *testing.T) {
	t.Parallel()
	c := open(t, newFake())
	built, contents := mustBuild(t, c, requestOf(t, c, []uint64{100_000}, 60_000, 70_000))
	good := make([][]byte, len(contents.Inputs))
	for i, in := range contents.Inputs {
		good[i] = keys.Sign(in.Source.Key, in.Digest)
	}
	high := slices.Clone(good[0]) // the same signature with the other S
	s := new(big.Int).Sub(btcec.S256().N, new(big.Int).SetBytes(high[32:64]))
	s.FillBytes(high[32:64])
	high[64] ^= 1
	zero := make([]byte, 65)
	id := slices.Clone(good[0])
	id[64] = 4
	for why, signature := range map[string][]byte{
		"a high S": high, "zero": zero, "an impossible id": id, "empty": {}, "the other input's": good[1],
		"66 bytes": append(slices.Clone(good[0]), 0),
	} {
		if tx, err := c.Assemble(built, [][]byte{signature, good[1]}); err == nil {
			t.Errorf("%s: assembled into %s, want an error", why, tx.TxID)
		}
	}
	if _, err := c.Assemble(built, good); err != nil {
		t.Fatal(err)
	}
	for why, change := range map[string]func(d *chain.UnsignedTx){
		"another fee":         func(d *chain.UnsignedTx) { d.Fee = bursar.Units(1) },
		"another reservation": func(d *chain.UnsignedTx) { d.Reservations = []string{"x"} },
		"reservations swapped": func(d *chain.UnsignedTx) {
			d.Reservations = []string{d.Reservations[1],
				d.Reservations[0]}
		},
		"no bytes": func(d *chain.UnsignedTx) { d.Bytes = nil },
	} {
		other := built
		change(&other)
		if tx, err := c.Assemble(other, good); err == nil {
			t.Errorf("%s: assembled into %s, want an error", why, tx.TxID)
		}
	}
}
