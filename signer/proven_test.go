package signer_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/signer"
)

// spends is an honest transaction with inputs from a previous one, and little fee.
func (s *coinSigner) spends(from chainhash.Hash, indexes ...uint32) *wire.MsgTx {
	tx := wire.NewMsgTx(2)
	for _, index := range indexes {
		in := wire.NewTxIn(&wire.OutPoint{Hash: from, Index: index}, nil, nil)
		in.Sequence = 0xfffffffd
		tx.AddTxIn(in)
	}
	tx.AddTxOut(wire.NewTxOut(int64(len(indexes))*eachUTXO-10_000, s.script))
	return tx
}

// Whatever is offered as a proof and is not the previous transaction of an input, in its only spelling, proves nothing.
func TestALyingProofIsRefused(t *testing.T) {
	t.Parallel()
	s := newCoinSigner(t)
	good := s.raw(s.funding())
	honest := s.spends(s.funding().TxHash(), 0, 1)

	another := s.funding()
	another.TxOut[0].Value++
	witnessed := s.funding()
	witnessed.TxIn[0].Witness = wire.TxWitness{{1}}
	var withWitness bytes.Buffer
	s.must(witnessed.Serialize(&withWitness))
	longCount := bytes.Clone(good[:4])
	longCount = append(append(longCount, 0xfd, 1, 0), good[5:]...) // one input, in three bytes

	for name, previous := range map[string][][]byte{
		"none":                    {},
		"another transaction":     {s.raw(another)},
		"it and another":          {good, s.raw(another)},
		"twice":                   {good, good},
		"with a byte more":        {append(bytes.Clone(good), 0)},
		"with a byte less":        {good[:len(good)-1]},
		"with witnesses":          {withWitness.Bytes()},
		"with a longer count":     {longCount},
		"empty":                   {{}},
		"too much":                {append(bytes.Clone(good), make([]byte, chain.MaxPrevious)...)},
		"without inputs":          {append(binary.LittleEndian.AppendUint32(nil, 2), make([]byte, 6)...)},
		"a node of a merkle tree": {make([]byte, 64)},
	} {
		s.previous = previous
		tx, err := s.sign(honest, eachUTXO, eachUTXO)
		if err == nil {
			t.Errorf("%s: signed %s, want an error", name, tx.TxHash())
			continue
		}
		s.refused(err, signer.ReasonProof)
	}
	s.previous = [][]byte{good}
	if _, err := s.sign(honest, eachUTXO, eachUTXO); err != nil {
		t.Errorf("the honest one: %v", err)
	}
}

// What the previous transaction says of an output counts: its number, its amount and its script.
func TestAProofOfAnotherOutputIsRefused(t *testing.T) {
	t.Parallel()
	s := newCoinSigner(t)
	funding := s.funding()
	funding.TxOut[0].Value = eachUTXO - 1
	script, err := txscript.NewScriptBuilder().AddOp(txscript.OP_0).AddData(make([]byte, 20)).Script()
	s.must(err)
	funding.TxOut = append(funding.TxOut, wire.NewTxOut(eachUTXO, script))
	s.previous = [][]byte{s.raw(funding)}
	for name, indexes := range map[string][]uint32{
		"another amount": {0}, "another script": {2}, "another output": {3}, "no output at all": {1<<32 - 1},
		"one of two": {1, 0},
	} {
		amounts := make([]uint64, len(indexes))
		for i := range amounts {
			amounts[i] = eachUTXO
		}
		if _, err := s.sign(s.spends(funding.TxHash(), indexes...), amounts...); err == nil {
			t.Errorf("%s: signed, want an error", name)
		} else {
			s.refused(err, signer.ReasonProof)
		}
	}
	if _, err := s.sign(s.spends(funding.TxHash(), 1), eachUTXO); err != nil {
		t.Errorf("what it says: %v", err)
	}
}

// 64 bytes can be both an inner node of a merkle tree and a transaction (Bitcoin Core, #15482, and BIP 54): the hash of
// such bytes is an outpoint's ID of a transaction that no block has.
func TestANodeOfAMerkleTreeIsNoProof(t *testing.T) {
	t.Parallel()
	s := newCoinSigner(t)
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(wire.NewTxIn(&wire.OutPoint{Hash: chainhash.Hash{1}}, nil, nil))
	tx.AddTxOut(wire.NewTxOut(eachUTXO, []byte{txscript.OP_0, 2, 1, 1}))
	raw := s.raw(tx)
	if len(raw) != 64 {
		t.Fatalf("%d bytes, want 64", len(raw))
	}
	if _, _, err := s.chain.ReadPrevious(raw); err == nil {
		t.Error("it is read, want an error")
	}
	s.previous = [][]byte{raw}
	_, err := s.sign(s.spends(chainhash.DoubleHashH(raw), 0), eachUTXO)
	s.refused(err, signer.ReasonProof)
}
