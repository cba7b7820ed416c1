package bitcoin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/btcutil/v2"
	"github.com/btcsuite/btcd/chainhash/v2"
)

func (n *Node) invalidateBlock(_ context.Context, p params) (any, error) {
	return nil, n.changeValidity(p, stepInvalidate)
}

func (n *Node) reconsiderBlock(_ context.Context, p params) (any, error) {
	return nil, n.changeValidity(p, stepReconsider)
}

// changeValidity invalidates or reconsiders the block of parameter 0.
func (n *Node) changeValidity(p params, kind stepKind) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	b, err := n.blockParam(p)
	if err != nil {
		return err
	}
	s := step{kind, b.hash[:]}
	if err := n.apply(s); err != nil {
		return fmt.Errorf("change a block: %w", err)
	}
	return n.record(s)
}

func (n *Node) submitBlock(_ context.Context, p params) (any, error) {
	text, err := p.text(0)
	if err != nil {
		return nil, err
	}
	raw, err := decodeHex(text)
	if err != nil {
		return nil, fail(codeDecode, "Block decode failed")
	}
	block, err := btcutil.NewBlockFromBytes(raw)
	if err != nil || len(block.Transactions()) == 0 {
		return nil, fail(codeDecode, "Block decode failed")
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	err = n.acceptBlock(block)
	var rule blockchain.RuleError
	switch {
	case err == nil:
		return nil, n.record(step{stepBlock, raw})
	case errors.Is(err, errDuplicate):
		return "duplicate", nil
	case n.blocks[block.MsgBlock().Header.PrevBlock] == nil:
		return "prev-blk-not-found", nil
	case errors.As(err, &rule):
		return "rejected", nil
	}
	return nil, err
}

func (n *Node) generateToAddress(_ context.Context, p params) (any, error) {
	const most = 10_000
	count, err := p.integer(0, 0)
	if err != nil {
		return nil, err
	}
	if count < 0 || count > most {
		return nil, fail(codeParameter, "nblocks must be between 0 and %d", most)
	}
	text, err := p.text(1)
	if err != nil {
		return nil, err
	}
	script, err := addressScript(text, n.params)
	if err != nil {
		return nil, fail(codeAddressOrKey, "Error: Invalid address")
	}
	mined, err := n.mineTo(int(count), script)
	hashes := []string{}
	for _, hash := range mined {
		hashes = append(hashes, hash.String())
	}
	return hashes, err
}

// generateBlock mines one block with exactly the given transactions, each an id or raw hex.
func (n *Node) generateBlock(_ context.Context, p params) (any, error) {
	text, err := p.text(0)
	if err != nil {
		return nil, err
	}
	script, err := addressScript(text, n.params)
	if err != nil {
		return nil, fail(codeAddressOrKey, "Error: Invalid address or descriptor")
	}
	items, err := p.list(1)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	d := blockDraft{parent: n.tip(), script: script}
	for _, item := range items {
		tx, err := n.blockTx(item)
		if err != nil {
			return nil, err
		}
		d.txs = append(d.txs, tx)
	}
	block, err := n.build(d)
	if err != nil {
		return nil, err
	}
	hash, err := n.addMined(block)
	if err != nil {
		return nil, fail(codeVerify, "TestBlockValidity failed: %v", err)
	}
	return map[string]string{"hash": hash.String()}, nil
}

// blockTx is a transaction given by its id, if the mempool has it, or as raw hex.
func (n *Node) blockTx(item json.RawMessage) (*btcutil.Tx, error) {
	var text string
	if json.Unmarshal(item, &text) != nil {
		return nil, fail(codeType, "JSON value of type %s is not of expected type string", jsonType(item))
	}
	if hash, err := chainhash.NewHashFromStr(text); err == nil && len(text) == 64 {
		tx, err := n.pool.FetchTransaction(hash)
		if err != nil {
			return nil, fail(codeAddressOrKey, "Transaction %s not in mempool.", text)
		}
		return tx, nil
	}
	raw, err := decodeHex(text)
	if err == nil {
		if tx, err := decodeTx(raw); err == nil {
			return tx, nil
		}
	}
	return nil, fail(codeDecode, "Transaction decode failed for %s. Make sure the tx has at least one input.", text)
}
