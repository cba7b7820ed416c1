package signer_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"
	"golang.org/x/crypto/ripemd160" //nolint:staticcheck // Bitcoin's address hash

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/bitcoin"
	"github.com/bursar/bursar/chain/rpc"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/memory"
)

// coinSigner is a signer of Bitcoin with a state file, and two UTXOs of 10 BTC each at the hot wallet.
type coinSigner struct {
	*testing.T
	path   string
	keys   *signer.Keys
	chain  *bitcoin.Chain
	keeper *memory.File
	signer *signer.Signer
	hot    chain.Source
	script []byte

	believes  bool // the adapter takes any previous transaction for what the service says
	credulous credulous
	previous  [][]byte
}

// credulous is an adapter that proves nothing.
type credulous struct {
	*bitcoin.Chain
	said []chain.Output
}

func (c *credulous) ReadPrevious(raw []byte, wanted ...uint32) (string, map[uint32]chain.Output, error) {
	txID, outputs, err := c.Chain.ReadPrevious(raw, wanted...)
	for n := range outputs {
		outputs[n] = c.said[n]
	}
	return txID, outputs, err
}

const eachUTXO = 1_000_000_000

func newCoinSigner(t *testing.T) *coinSigner {
	t.Helper()
	s := &coinSigner{T: t, path: filepath.Join(t.TempDir(), "seed.age.state")}
	network, err := bitcoin.Bitcoin("regtest")
	s.must(err)
	s.chain, err = bitcoin.New(bitcoin.Config{ID: bursar.Bitcoin, Network: network,
		Node: rpc.Config{URLs: []string{"http://127.0.0.1:1"}}})
	s.must(err)
	t.Cleanup(s.chain.Close)
	s.keys, err = signer.KeysFromSeed(bytes.Repeat([]byte{9}, 64), signer.Testnet)
	s.must(err)
	public, err := s.keys.Public(chain.Hot(chain.FamilyBitcoin))
	s.must(err)
	address, err := s.chain.Address(public, 0)
	s.must(err)
	s.hot = chain.Source{Key: chain.Hot(chain.FamilyBitcoin), Base: address.Base}
	inner, outer := sha256.Sum256(public), ripemd160.New()
	outer.Write(inner[:])
	s.script, err = txscript.NewScriptBuilder().AddOp(txscript.OP_0).AddData(outer.Sum(nil)).Script() // P2WPKH, BIP 141
	s.must(err)
	s.must(memory.Create(t.Context(), s.path, memory.Init{Fingerprint: s.keys.Fingerprint(), At: time.Now()}))
	s.restart()
	return s
}

// restart is a restart of the signer's process: only the state file stays.
func (s *coinSigner) restart() {
	s.Helper()
	if s.keeper != nil {
		s.must(s.keeper.Close())
	}
	var err error
	s.keeper, err = memory.Open(s.Context(), s.path, s.keys.Fingerprint())
	s.must(err)
	s.Cleanup(func() { s.keeper.Close() })
	var signable chain.Signable = s.chain
	if s.believes {
		s.credulous.Chain = s.chain
		signable = &s.credulous
	}
	s.signer, err = signer.NewWithMemory(s.Context(), s.keys, map[bursar.ChainID]signer.Bounds{bursar.Bitcoin: {
		Capabilities: s.chain.Capabilities(), Signable: signable, MaxFee: bursar.Units(5_000_000),
		MaxRate: bursar.Units(500), Payments: map[string]signer.Limits{"": {Hour: bursar.Units(1)}},
	}}, s.keeper)
	s.must(err)
}

func (s *coinSigner) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// funding is the transaction that made the two UTXOs.
func (s *coinSigner) funding() *wire.MsgTx {
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(wire.NewTxIn(&wire.OutPoint{Hash: chainhash.Hash{1}}, nil, nil))
	for range 2 {
		tx.AddTxOut(wire.NewTxOut(eachUTXO, s.script))
	}
	return tx
}

func (s *coinSigner) raw(tx *wire.MsgTx) []byte {
	s.Helper()
	var raw bytes.Buffer
	s.must(tx.SerializeNoWitness(&raw))
	return raw.Bytes()
}

// home is the transaction of the attack: two UTXOs go in, half of their value comes back, and the rest is the fee.
func (s *coinSigner) home() *wire.MsgTx {
	tx, funding := wire.NewMsgTx(2), s.funding().TxHash()
	for i := range uint32(2) {
		in := wire.NewTxIn(&wire.OutPoint{Hash: funding, Index: i}, nil, nil)
		in.Sequence = 0xfffffffd
		tx.AddTxIn(in)
	}
	tx.AddTxOut(wire.NewTxOut(eachUTXO+1_000_000-10_000, s.script))
	return tx
}

// sweep asks for the transaction as a sweep, with what the service says that the UTXOs hold.
func (s *coinSigner) sweep(amounts ...uint64) (*wire.MsgTx, error) {
	s.Helper()
	return s.sign(s.home(), amounts...)
}

// sign is sweep of any transaction.
func (s *coinSigner) sign(tx *wire.MsgTx, amounts ...uint64) (*wire.MsgTx, error) {
	s.Helper()
	type inputForm struct {
		Source chain.Source  `json:"source"`
		Amount bursar.Amount `json:"amount"`
	}
	form := struct {
		Tx     string       `json:"tx"`
		Inputs []inputForm  `json:"inputs"`
		Change chain.Source `json:"change"`
	}{Tx: hex.EncodeToString(s.raw(tx)), Change: s.hot}
	unsigned := chain.UnsignedTx{Previous: s.previous}
	if s.previous == nil {
		unsigned.Previous = [][]byte{s.raw(s.funding())}
	}
	s.credulous.said = nil
	for i, amount := range amounts {
		s.credulous.said = append(s.credulous.said, chain.Output{Script: s.script, Amount: bursar.Units(amount)})
		form.Inputs = append(form.Inputs, inputForm{s.hot, bursar.Units(amount)})
		unsigned.Reservations = append(unsigned.Reservations, tx.TxIn[i].PreviousOutPoint.String())
	}
	text, err := json.Marshal(form)
	s.must(err)
	unsigned.Bytes = text
	contents, err := s.chain.Inspect(text)
	s.must(err)
	unsigned.Fee = contents.Fee
	signed, err := s.signer.Sign(s.Context(), bursar.Bitcoin, chain.TxRequest{ID: bursar.ID{1}, Kind: chain.KindSweep,
		Change: s.hot, MaxFee: bursar.Units(5_000_000),
		Payments: []chain.Payment{{Address: bursar.Address{Base: s.hot.Base}, Amount: bursar.Units(2 * eachUTXO)}}}, unsigned)
	if err != nil {
		return nil, err
	}
	var with wire.MsgTx
	s.must(with.Deserialize(bytes.NewReader(signed.Raw)))
	return &with, nil
}

// valid asks btcd's script engine whether the network would take each input of a transaction.
func (s *coinSigner) valid(tx *wire.MsgTx) (inputs []bool) {
	s.Helper()
	before := txscript.NewCannedPrevOutputFetcher(s.script, eachUTXO)
	hashes := txscript.NewTxSigHashes(tx, before)
	for i := range tx.TxIn {
		engine, err := txscript.NewEngine(s.script, tx, i, txscript.StandardVerifyFlags, nil, hashes, eachUTXO, before)
		inputs = append(inputs, err == nil && engine.Execute() == nil)
	}
	return inputs
}

// The attack of CVE-2020-14199: two unsigned transactions, each with a false amount of one input, have signatures that
// together make a valid transaction with a fee of 10 BTC, under a max_fee of 0.05 BTC. Each half is a sweep, which no
// limit of payments counts. A signer that remembers nothing refuses both: the previous transaction says what they hold.
func TestNoAmountIsBelieved(t *testing.T) {
	t.Parallel()
	s := newCoinSigner(t)
	for _, amounts := range [][]uint64{{eachUTXO, 1_000_000}, {1_000_000, eachUTXO}} {
		half, err := s.sweep(amounts...)
		if err == nil {
			t.Errorf("%v: it is signed, and of its inputs %v are valid, want an error", amounts, s.valid(half))
		}
		s.refused(err, signer.ReasonProof)
	}
	_, err := s.sweep(eachUTXO, eachUTXO)
	s.refused(err, signer.ReasonFee) // the truth: a fee of 10 BTC
	honest := s.home()
	honest.TxOut[0].Value = 2*eachUTXO - 10_000
	signed, err := s.sign(honest, eachUTXO, eachUTXO)
	s.must(err)
	if got := s.valid(signed); !got[0] || !got[1] {
		t.Errorf("of the honest transaction's inputs %v are valid", got)
	}
}

func (s *coinSigner) refused(err error, reason signer.Reason) {
	s.Helper()
	var refused *signer.RefusalError
	if !errors.As(err, &refused) || refused.Reason != reason {
		s.Errorf("want a refusal for %s, got %v", reason, err)
	}
}

// Behind the proofs stands the memory, as if an adapter could be made to believe false ones: after the first half the
// second is refused, though the signer restarts in between.
func TestNoTwoAmountsOfOneUTXO(t *testing.T) {
	t.Parallel()
	s := newCoinSigner(t)
	s.believes = true
	s.restart()
	first, err := s.sweep(eachUTXO, 1_000_000)
	s.must(err)
	if got := s.valid(first); !got[0] || got[1] {
		t.Fatalf("of the first half %v are valid", got)
	}
	s.restart()
	second, err := s.sweep(1_000_000, eachUTXO)
	if err == nil {
		joined := first.Copy()
		joined.TxIn[1].Witness = second.TxIn[1].Witness
		t.Fatalf("both halves are signed, and of the joined inputs %v are valid: the fee is %d satoshi, want an error",
			s.valid(joined),
			2*eachUTXO-joined.TxOut[0].Value)
	}
	s.refused(err, signer.ReasonOutpoint)
	if again, err := s.sweep(eachUTXO, 1_000_000); err != nil || again.TxHash() != first.TxHash() {
		t.Errorf("the first again: %v", err)
	}
}
