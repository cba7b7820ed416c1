package bitcoin

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcutil/v2"
	"github.com/btcsuite/btcd/mempool"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"
)

const (
	seedSize        = 32
	faucetRate      = 5000 // fee rate of the faucet, in satoshi per 1000 vbytes
	maxFaucetInputs = 500
	// replaceableSequence signals replacement (BIP 125), which every wallet does today.
	replaceableSequence = wire.MaxTxInSequenceNum - 2
)

// wallet holds the miner's two keys. Blocks pay the first; a reorg pays the other one, so that its blocks differ.
type wallet struct {
	keys    [2]*btcec.PrivateKey
	scripts [2][]byte // P2WPKH
}

func newWallet(seed []byte) *wallet {
	w := &wallet{}
	for i := range w.keys {
		mac := hmac.New(sha256.New, seed)
		mac.Write([]byte{byte(i)})
		w.keys[i], _ = btcec.PrivKeyFromBytes(mac.Sum(nil))
		w.scripts[i] = keyScript(w.keys[i])
	}
	return w
}

func keyScript(key *btcec.PrivateKey) []byte {
	return append([]byte{txscript.OP_0, 20}, address.Hash160(key.PubKey().SerializeCompressed())...)
}

// Output is a payment to make.
type Output struct {
	Address string
	Amount  int64 // satoshi
}

// Pay sends amount satoshi to an address from the miner's UTXOs and returns the transaction's id. The payment waits
// in the mempool until a block is mined.
func (n *Node) Pay(address string, amount int64) (string, error) {
	return n.PayMany([]Output{{address, amount}})
}

// PayMany is Pay for several outputs of one transaction, in their order; the change comes last.
func (n *Node) PayMany(outputs []Output) (string, error) {
	if len(outputs) == 0 {
		return "", errors.New("pay: no outputs")
	}
	tx := wire.NewMsgTx(2)
	for _, o := range outputs {
		script, err := n.checkAddress(o.Address)
		if err != nil {
			return "", fmt.Errorf("pay: %w", err)
		}
		if o.Amount <= 0 || o.Amount > maxMoney {
			return "", fmt.Errorf("pay: %d satoshi is not an amount to pay", o.Amount)
		}
		tx.AddTxOut(wire.NewTxOut(o.Amount, script))
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	// The lock time is set as wallets do against fee sniping. It also makes a payment that is repeated after a reorg
	// another transaction than the dropped one, whose inputs and signatures would be the same.
	tx.LockTime = uint32(n.tip().height)
	if err := n.fund(tx); err != nil {
		return "", fmt.Errorf("pay: %w", err)
	}
	if _, err := n.accept(btcutil.NewTx(tx), acceptRules{faucet: true}); err != nil {
		return "", fmt.Errorf("pay: %w", err)
	}
	return tx.TxHash().String(), n.record(step{stepTx, encodeTx(tx)})
}

// NewAddress makes a fresh P2WPKH address whose key is not kept.
func (n *Node) NewAddress() (string, error) {
	var program [20]byte
	if _, err := io.ReadFull(n.cfg.Rand, program[:]); err != nil {
		return "", fmt.Errorf("make address: %w", err)
	}
	return witnessAddress(n.params.Bech32HRPSegwit, 0, program[:]), nil
}

// Balance is the sum of the chain's unspent outputs of an address, in satoshi, with immature coinbases and without
// the mempool. Each output is checked against btcd's own UTXO set.
func (n *Node) Balance(address string) (int64, error) {
	script, err := n.checkAddress(address)
	if err != nil {
		return 0, fmt.Errorf("balance: %w", err)
	}
	n.mu.RLock()
	defer n.mu.RUnlock()
	var sum int64
	for _, at := range n.utxos.of(script) {
		entry, err := n.chain.FetchUtxoEntry(at)
		if err != nil {
			return 0, fmt.Errorf("balance: read output %v: %w", at, err)
		}
		if entry == nil || entry.IsSpent() || entry.Amount() != n.utxos.unspent[at].value {
			return 0, fmt.Errorf("balance: output %v is not in the chain's own UTXO set", at)
		}
		sum += entry.Amount()
	}
	return sum, nil
}

// fund adds inputs and change to tx and signs it.
func (n *Node) fund(tx *wire.MsgTx) error {
	var want, have int64
	for _, out := range tx.TxOut {
		want += out.Value
	}
	var spent []*utxo
	for _, at := range n.spendable() {
		c := n.output(at)
		in := wire.NewTxIn(&at, nil, nil)
		in.Sequence = replaceableSequence
		tx.AddTxIn(in)
		spent, have = append(spent, c), have+c.value
		if have >= want+faucetFee(tx, 1) {
			break
		}
		if len(spent) == maxFaucetInputs {
			return fmt.Errorf("the faucet cannot pay %d satoshi in one transaction", want)
		}
	}
	if have < want+faucetFee(tx, 1) {
		return fmt.Errorf("the faucet holds %d spendable satoshi and should pay %d: mine more blocks", have, want)
	}
	change := wire.NewTxOut(have-want-faucetFee(tx, 1), n.wallet.scripts[0])
	if change.Value >= n.dustThreshold(change) {
		tx.AddTxOut(change)
	}
	return n.wallet.sign(tx, spent)
}

// faucetFee is the fee for tx once it is signed and has further outputs.
func faucetFee(tx *wire.MsgTx, further int) int64 {
	const inputVSize, outputVSize = 27, 31 // of P2WPKH: a witness of 108 weight units, and an output
	return feeAt(faucetRate, int64(tx.SerializeSizeStripped()+2+inputVSize*len(tx.TxIn)+outputVSize*further))
}

// spendable are the wallet's UTXOs, largest first: the confirmed ones, then its own unconfirmed change. Taking
// confirmed ones first keeps chains of unconfirmed payments short.
func (n *Node) spendable() []wire.OutPoint {
	var confirmed []wire.OutPoint
	next := n.tip().height + 1
	for _, script := range n.wallet.scripts {
		for at := range n.utxos.byScript[string(script)] {
			c := n.utxos.unspent[at]
			if c.coinbase && next-c.height < int32(n.params.CoinbaseMaturity) {
				continue
			}
			if n.pool.CheckSpend(at) == nil {
				confirmed = append(confirmed, at)
			}
		}
	}
	change := n.unspentChange()
	for _, points := range [][]wire.OutPoint{confirmed, change} {
		slices.SortFunc(points, func(a, b wire.OutPoint) int {
			return cmp.Or(cmp.Compare(n.output(b).value, n.output(a).value), compareOutPoints(a, b))
		})
	}
	return append(confirmed, change...)
}

// unspentChange are outputs to the wallet of mempool transactions that the wallet itself signed.
func (n *Node) unspentChange() []wire.OutPoint {
	var points []wire.OutPoint
	for _, desc := range n.pool.TxDescs() {
		if !n.wallet.signed(desc) {
			continue
		}
		for i, out := range desc.Tx.MsgTx().TxOut {
			at := wire.OutPoint{Hash: *desc.Tx.Hash(), Index: uint32(i)}
			if n.wallet.owns(out.PkScript) && n.pool.CheckSpend(at) == nil {
				points = append(points, at)
			}
		}
	}
	return points
}

func (w *wallet) owns(script []byte) bool {
	return slices.ContainsFunc(w.scripts[:], func(s []byte) bool { return string(s) == string(script) })
}

// signed reports whether the first input of a transaction carries a key of the wallet.
func (w *wallet) signed(desc *mempool.TxDesc) bool {
	witness := desc.Tx.MsgTx().TxIn[0].Witness
	if len(witness) != 2 {
		return false
	}
	return w.owns(append([]byte{txscript.OP_0, 20}, address.Hash160(witness[1])...))
}

// sign fills in the witnesses of tx, whose inputs are all the wallet's.
func (w *wallet) sign(tx *wire.MsgTx, spent []*utxo) error {
	outs := map[wire.OutPoint]*wire.TxOut{}
	for i, in := range tx.TxIn {
		outs[in.PreviousOutPoint] = wire.NewTxOut(spent[i].value, spent[i].script)
	}
	hashes := txscript.NewTxSigHashes(tx, txscript.NewMultiPrevOutFetcher(outs))
	for i := range tx.TxIn {
		key := w.keys[0]
		if string(spent[i].script) == string(w.scripts[1]) {
			key = w.keys[1]
		}
		witness, err := txscript.WitnessSignature(tx, hashes, i, spent[i].value, spent[i].script, txscript.SigHashAll,
			key, true)
		if err != nil {
			return fmt.Errorf("sign input %d: %w", i, err)
		}
		tx.TxIn[i].Witness = witness
	}
	return nil
}
