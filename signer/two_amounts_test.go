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
	s.signer, err = signer.Remembering(s.Context(), s.keys, map[bursar.ChainID]signer.Policy{bursar.Bitcoin: {
		Capabilities: s.chain.Capabilities(), Signable: s.chain, MaxFee: bursar.Units(5_000_000),
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

// home is the transaction of the attack: two UTXOs go in, half of their value comes back, and the rest is the fee.
func (s *coinSigner) home() *wire.MsgTx {
	tx := wire.NewMsgTx(2)
	for i := range uint32(2) {
		in := wire.NewTxIn(&wire.OutPoint{Hash: chainhash.Hash{1}, Index: i}, nil, nil)
		in.Sequence = 0xfffffffd
		tx.AddTxIn(in)
	}
	tx.AddTxOut(wire.NewTxOut(eachUTXO+1_000_000-10_000, s.script))
	return tx
}

// sweep asks for the transaction as a sweep, with what the service says that the UTXOs hold.
func (s *coinSigner) sweep(amounts ...uint64) (*wire.MsgTx, error) {
	s.Helper()
	tx := s.home()
	var raw bytes.Buffer
	s.must(tx.SerializeNoWitness(&raw))
	type inputForm struct {
		Source chain.Source  `json:"source"`
		Amount bursar.Amount `json:"amount"`
	}
	form := struct {
		Tx     string       `json:"tx"`
		Inputs []inputForm  `json:"inputs"`
		Change chain.Source `json:"change"`
	}{Tx: hex.EncodeToString(raw.Bytes()), Change: s.hot}
	unsigned := chain.UnsignedTx{Fee: bursar.Units(5_000_000)}
	for i, amount := range amounts {
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
// limit of payments counts. Between the two the signer restarts.
func TestNoTwoAmountsOfOneUTXO(t *testing.T) {
	t.Parallel()
	s := newCoinSigner(t)
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
		t.Fatalf("both halves are signed, and of the joined inputs %v are valid: the fee is %d satoshi", s.valid(joined),
			2*eachUTXO-joined.TxOut[0].Value)
	}
	var refused *signer.RefusalError
	if !errors.As(err, &refused) || refused.Reason != signer.ReasonOutpoint {
		t.Fatalf("the second half: %v", err)
	}
	if again, err := s.sweep(eachUTXO, 1_000_000); err != nil || again.TxHash() != first.TxHash() {
		t.Errorf("the first again: %v", err)
	}
}
