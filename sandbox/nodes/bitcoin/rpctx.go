package bitcoin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/btcutil/v2"
	"github.com/btcsuite/btcd/chainhash/v2"
)

const defaultMaxFeeRate satoshi = coinUnit / 10 // per 1000 vbytes, bitcoind's DEFAULT_MAX_RAW_TX_FEE_RATE

// found is a transaction and where it was found.
type found struct {
	tx    *btcutil.Tx
	block *blockInfo // nil in the mempool
	spent []*utxo    // nil if unknown
}

func (n *Node) getRawTransaction(_ context.Context, p params) (any, error) {
	level, err := p.verbosity(1, 0)
	if err != nil {
		return nil, err
	}
	hash, err := p.hash(0, "parameter 1")
	if err != nil {
		return nil, err
	}
	n.mu.RLock()
	defer n.mu.RUnlock()
	if hash == n.params.GenesisBlock.Transactions[0].TxHash() {
		return nil, fail(codeAddressOrKey,
			"The genesis block coinbase is not considered an ordinary transaction and cannot be retrieved")
	}
	f, err := n.find(hash, p)
	if err != nil {
		return nil, err
	}
	d := n.describe(f.tx.MsgTx())
	if level <= 0 {
		return d.Hex, nil
	}
	if level >= 2 && f.spent != nil {
		d.addSpent(n, f.spent, true)
	}
	if f.block != nil {
		n.addPlace(d, f.block, p.has(2))
	}
	return d, nil
}

// addPlace adds the block of a transaction. Off the best chain it has no confirmations and no time.
func (n *Node) addPlace(d *txJSON, block *blockInfo, asked bool) {
	confirmations := n.confirmations(block)
	active := confirmations > 0
	if asked {
		d.InActiveChain = &active
	}
	d.BlockHash = block.hash.String()
	if active {
		d.Time = block.header.Timestamp.Unix()
		d.BlockTime = d.Time
	}
	confirmations = max(confirmations, 0)
	d.Confirmations = &confirmations
}

// find searches the block of parameter 2 if there is one, else the mempool and then the best chain.
func (n *Node) find(hash chainhash.Hash, p params) (found, error) {
	if p.has(2) {
		block, err := p.hash(2, "parameter 3")
		if err != nil {
			return found{}, err
		}
		if n.blocks[block] == nil {
			return found{}, fail(codeAddressOrKey, "Block hash not found")
		}
		f, ok, err := n.findIn(hash, block)
		if err == nil && !ok {
			err = fail(codeAddressOrKey,
				"No such transaction found in the provided block. Use gettransaction for wallet transactions.")
		}
		return f, err
	}
	if tx, err := n.pool.FetchTransaction(&hash); err == nil {
		return found{tx: tx}, nil // without the spent outputs: bitcoind shows them for mined transactions only
	}
	f, ok, err := n.findIn(hash, n.utxos.place[hash])
	if err == nil && !ok {
		err = fail(codeAddressOrKey, "No such mempool or blockchain transaction. Use gettransaction for wallet transactions.")
	}
	return f, err
}

// findIn searches one block for a transaction.
func (n *Node) findIn(hash, block chainhash.Hash) (found, bool, error) {
	info := n.blocks[block]
	if info == nil {
		return found{}, false, nil
	}
	msg, err := n.block(block)
	if err != nil {
		return found{}, false, err
	}
	for i, tx := range msg.Transactions {
		if tx.TxHash() != hash {
			continue
		}
		f := found{tx: btcutil.NewTx(tx), block: info}
		if undo := n.utxos.undo[block]; undo != nil {
			f.spent = undo.spent[i]
		}
		return f, true, nil
	}
	return found{}, false, nil
}

func (n *Node) decodeRawTransaction(_ context.Context, p params) (any, error) {
	text, err := p.text(0)
	if err != nil {
		return nil, err
	}
	tx := txFromHex(text)
	if tx == nil {
		return nil, fail(codeDecode, "TX decode failed")
	}
	d := n.describe(tx.MsgTx())
	d.Hex = "" // the caller has it
	return d, nil
}

// txFromHex is nil for anything but one transaction with inputs.
func txFromHex(text string) *btcutil.Tx {
	raw, err := decodeHex(text)
	if err != nil {
		return nil
	}
	tx, err := decodeTx(raw)
	if err != nil || len(tx.MsgTx().TxIn) == 0 {
		return nil
	}
	return tx
}

// maxFeeRate reads parameter 1 of the calls that submit; 0 means no limit.
func maxFeeRate(p params) (int64, error) {
	rate, err := p.amount(1, defaultMaxFeeRate)
	if err == nil && rate >= coinUnit {
		err = fail(codeParameter, "Fee rates larger than or equal to 1BTC/kvB are not accepted")
	}
	return int64(rate), err
}

func (n *Node) sendRawTransaction(_ context.Context, p params) (any, error) {
	text, err := p.text(0)
	if err != nil {
		return nil, err
	}
	rate, err := maxFeeRate(p)
	if err != nil {
		return nil, err
	}
	burn, err := p.amount(2, 0)
	if err != nil {
		return nil, err
	}
	tx := txFromHex(text)
	if tx == nil {
		return nil, fail(codeDecode, "TX decode failed. Make sure the tx has at least one input.")
	}
	for _, out := range tx.MsgTx().TxOut {
		if unspendable(out.PkScript) && satoshi(out.Value) > burn {
			return nil, fail(codeVerify, "Unspendable output exceeds maximum configured by user (maxburnamount)")
		}
	}
	if err := n.send(tx, rate); err != nil {
		return nil, err
	}
	return tx.Hash().String(), nil
}

// send is BroadcastTransaction of bitcoind: a transaction that is in the mempool already is accepted, one that is in
// the chain is refused.
func (n *Node) send(tx *btcutil.Tx, maxRate int64) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.hasUnspent(tx) {
		return fail(codeInChain, "Transaction outputs already in utxo set")
	}
	if n.pool.IsTransactionInPool(tx.Hash()) {
		return nil
	}
	_, err := n.accept(tx, acceptRules{maxRate: maxRate})
	var refused *refusal
	switch {
	case err == nil:
		return n.record(step{stepTx, encodeTx(tx.MsgTx())})
	case errors.Is(err, errTooExpensive):
		return fail(codeVerify, "%s", err.Error())
	case errors.As(err, &refused) && refused.lost:
		return fail(codeVerify, "%s", err.Error())
	case errors.As(err, &refused):
		return fail(codeRejected, "%s", err.Error())
	}
	return fmt.Errorf("send transaction: %w", err)
}

// acceptJSON is one element of testmempoolaccept's answer.
type acceptJSON struct {
	TxID    string          `json:"txid"`
	WTxID   string          `json:"wtxid"`
	Allowed bool            `json:"allowed"`
	VSize   int64           `json:"vsize,omitempty"`
	Fees    *acceptFeesJSON `json:"fees,omitempty"`
	Reason  string          `json:"reject-reason,omitempty"`
	Details string          `json:"reject-details,omitempty"`
}

type acceptFeesJSON struct {
	Base     satoshi  `json:"base"`
	Rate     satoshi  `json:"effective-feerate"`
	Includes []string `json:"effective-includes"`
}

// testMempoolAccept validates each transaction by itself: one that spends an output of another in the same list
// misses its input.
func (n *Node) testMempoolAccept(_ context.Context, p params) (any, error) {
	const most = 25
	items, err := p.list(0)
	if err != nil {
		return nil, err
	}
	if len(items) < 1 || len(items) > most {
		return nil, fail(codeParameter, "Array must contain between 1 and %d transactions.", most)
	}
	rate, err := maxFeeRate(p)
	if err != nil {
		return nil, err
	}
	var txs []*btcutil.Tx
	for _, item := range items {
		var text string
		if json.Unmarshal(item, &text) != nil {
			return nil, fail(codeType, "JSON value of type %s is not of expected type string", jsonType(item))
		}
		tx := txFromHex(text)
		if tx == nil {
			return nil, fail(codeDecode, "TX decode failed: %s Make sure the tx has at least one input.", text)
		}
		txs = append(txs, tx)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	answers := []acceptJSON{}
	for _, tx := range txs {
		a, err := n.testAccept(tx, rate)
		if err != nil {
			return nil, err
		}
		answers = append(answers, a)
	}
	return answers, nil
}

func (n *Node) testAccept(tx *btcutil.Tx, maxRate int64) (acceptJSON, error) {
	a := acceptJSON{TxID: tx.Hash().String(), WTxID: tx.WitnessHash().String()}
	v, err := n.accept(tx, acceptRules{dryRun: true, maxRate: maxRate})
	var refused *refusal
	switch {
	case err == nil:
		a.Allowed, a.VSize = true, v.vsize
		a.Fees = &acceptFeesJSON{satoshi(v.fee), satoshi(v.fee * 1000 / v.vsize), []string{a.WTxID}}
	case errors.Is(err, errTooExpensive):
		a.Reason = "max-fee-exceeded"
	case errors.As(err, &refused) && refused.lost:
		a.Reason = "missing-inputs"
	case errors.As(err, &refused):
		a.Reason, a.Details = refused.reason, refused.Error()
	default:
		return a, fmt.Errorf("test transaction: %w", err)
	}
	return a, nil
}
