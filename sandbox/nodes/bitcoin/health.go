package bitcoin

import (
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/btcutil/v2"
	"github.com/btcsuite/btcd/mempool"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"
)

// Limits from Bitcoin Core's policy.h and validation.cpp.
const (
	maxStandardWeight    = 400_000
	maxStandardSigScript = 1650
	maxStandardVersion   = 2
	maxChain             = 25 // unconfirmed ancestors or descendants, with the transaction itself
)

// candidate is a transaction with the outputs that it spends.
type candidate struct {
	verdict
	tx    *btcutil.Tx
	spent []*utxo // per input
}

// checkHealth applies the checks whose refusals bitcoind names one by one. What passes is validated again in full by
// btcd's mempool.
func (n *Node) checkHealth(tx *btcutil.Tx) (*candidate, *refusal) {
	if refused := sane(tx); refused != nil {
		return nil, refused
	}
	if refused := n.standard(tx.MsgTx()); refused != nil {
		return nil, refused
	}
	best := n.chain.BestSnapshot()
	if !blockchain.IsFinalizedTransaction(tx, best.Height+1, best.MedianTime) {
		return nil, refuse("non-final", "")
	}
	if n.pool.IsTransactionInPool(tx.Hash()) {
		return nil, refuse("txn-already-in-mempool", "")
	}
	c := &candidate{tx: tx}
	for _, in := range tx.MsgTx().TxIn {
		spent := n.output(in.PreviousOutPoint)
		if spent == nil && n.hasUnspent(tx) {
			return nil, refuse("txn-already-known", "")
		}
		if spent == nil {
			return nil, missingInputs()
		}
		c.spent = append(c.spent, spent)
	}
	if refused := n.weigh(c); refused != nil {
		return nil, refused
	}
	return c, nil
}

// sane holds the checks that need nothing but the transaction.
func sane(tx *btcutil.Tx) *refusal {
	if err := blockchain.CheckTransactionSanity(tx); err != nil {
		var rule blockchain.RuleError
		if !errors.As(err, &rule) {
			return refuse("bad-txns", err.Error())
		}
		return refuse(insaneReason(rule.ErrorCode), "")
	}
	if blockchain.IsCoinBase(tx) {
		return refuse("coinbase", "")
	}
	return nil
}

func insaneReason(code blockchain.ErrorCode) string {
	switch code {
	case blockchain.ErrNoTxInputs:
		return "bad-txns-vin-empty"
	case blockchain.ErrNoTxOutputs:
		return "bad-txns-vout-empty"
	case blockchain.ErrTxTooBig:
		return "bad-txns-oversize"
	case blockchain.ErrBadTxOutValue:
		return "bad-txns-vout-toolarge"
	case blockchain.ErrDuplicateTxInputs:
		return "bad-txns-inputs-duplicate"
	case blockchain.ErrBadCoinbaseScriptLen:
		return "bad-cb-length"
	}
	return "bad-txns-prevout-null"
}

// standard is IsStandardTx of Bitcoin Core.
func (n *Node) standard(tx *wire.MsgTx) *refusal {
	if tx.Version < 1 || tx.Version > maxStandardVersion {
		return refuse("version", "")
	}
	if blockchain.GetTransactionWeight(btcutil.NewTx(tx)) > maxStandardWeight {
		return refuse("tx-size", "")
	}
	for _, in := range tx.TxIn {
		if len(in.SignatureScript) > maxStandardSigScript {
			return refuse("scriptsig-size", "")
		}
		if !txscript.IsPushOnlyScript(in.SignatureScript) {
			return refuse("scriptsig-not-pushonly", "")
		}
	}
	carriers, dust := 0, 0
	for _, out := range tx.TxOut {
		switch class := txscript.GetScriptClass(out.PkScript); {
		case class == txscript.NonStandardTy:
			return refuse("scriptpubkey", "")
		case class == txscript.NullDataTy:
			carriers++
		case out.Value < n.dustThreshold(out):
			dust++
		}
	}
	switch {
	case dust == 1: // version 29 accepts one dust output in a transaction without a fee, which it would not relay alone
		return refuse("dust", "tx with dust output must be 0-fee")
	case dust > 1:
		return refuse("dust", "")
	case carriers > 1:
		return refuse("multi-op-return", "")
	case tx.SerializeSizeStripped() < mempool.MinStandardTxNonWitnessSize:
		return refuse("tx-size-small", "")
	}
	return nil
}

// dustThreshold is the least value an output may have, in satoshi (GetDustThreshold of Bitcoin Core).
func (n *Node) dustThreshold(out *wire.TxOut) int64 {
	return mempool.GetDustThreshold(out) / 3 * n.cfg.DustRate / 1000
}

// weigh checks maturity and amounts and computes the fee.
func (n *Node) weigh(c *candidate) *refusal {
	next := n.tip().height + 1
	var in, out int64
	for _, spent := range c.spent {
		if depth := next - spent.height; spent.coinbase && depth < int32(n.params.CoinbaseMaturity) {
			return refuse("bad-txns-premature-spend-of-coinbase", fmt.Sprintf("tried to spend coinbase at depth %d", depth))
		}
		in += spent.value
	}
	for _, o := range c.tx.MsgTx().TxOut {
		out += o.Value
	}
	if in < out {
		return refuse("bad-txns-in-belowout", fmt.Sprintf("value in (%s) < value out (%s)", money(in), money(out)))
	}
	c.fee, c.vsize = in-out, mempool.GetTxVirtualSize(c.tx)
	if least := feeAt(minRelayRate, c.vsize); c.fee < least {
		return refuse("min relay fee not met", fmt.Sprintf("%d < %d", c.fee, least))
	}
	return nil
}

// feeAt is the fee for vsize at a rate in satoshi per 1000 vbytes, rounded up.
func feeAt(rate, vsize int64) int64 { return (rate*vsize + 999) / 1000 }

// output is the output at a point if it is unspent in the chain or created by a mempool transaction, else nil. It
// does not check whether the mempool spends the output.
func (n *Node) output(at wire.OutPoint) *utxo {
	if c := n.utxos.unspent[at]; c != nil {
		return c
	}
	tx, err := n.pool.FetchTransaction(&at.Hash)
	if err != nil || int(at.Index) >= len(tx.MsgTx().TxOut) {
		return nil
	}
	return newUTXO(tx.MsgTx().TxOut[at.Index], unconfirmedHeight, false)
}

// hasUnspent reports whether a transaction is in the chain with an unspent output.
func (n *Node) hasUnspent(tx *btcutil.Tx) bool {
	for i := range tx.MsgTx().TxOut {
		if n.utxos.unspent[wire.OutPoint{Hash: *tx.Hash(), Index: uint32(i)}] != nil {
			return true
		}
	}
	return false
}
