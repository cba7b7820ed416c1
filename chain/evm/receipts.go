package evm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bursar/bursar/chain/rpc"
)

const blockReceipts = "eth_getBlockReceipts"

// attempts is how often receipts that do not match their block are requested: behind one URL there may be nodes at
// different blocks, and another node may answer the next request.
const attempts = 3

// fetchReceipts joins a block with its receipts. early are the receipts that were requested by height, together with
// the block, or nil. If they belong to another block, the receipts of this one are requested by its hash.
func (c *Chain) fetchReceipts(ctx context.Context, s *rpc.Session, d *delivered, early *receiptList) error {
	var old *transaction
	if d.TxRoot != (hash{}) {
		if tx, is := c.cutStateSync(&d.block); is {
			old = &tx
		}
	}
	if err := d.check(uint64(d.Number)); err != nil {
		return err
	}
	if early != nil && early.of(&d.block) {
		if err := c.joinStateSync(ctx, s, d, early, old); err == nil || rpcFailed(err) {
			return err
		}
	}
	if len(d.Txs) == 0 && old == nil && !c.cfg.StateSync {
		return nil
	}
	ask := c.receiptsOf
	var err error
	for n := range attempts {
		l := &receiptList{rules: c.Rules}
		if n == attempts-1 && c.cfg.StateSync && errors.Is(err, errPartial) {
			ask = c.receiptsByTx // the list may always lack the bridge's receipt
		}
		if err = ask(ctx, s, &d.block, l); err == nil {
			err = c.joinStateSync(ctx, s, d, l, old)
		}
		if err == nil || rpcFailed(err) {
			return err
		}
	}
	return err
}

// of reports whether the receipts, as far as they have block hashes, belong to a block.
func (l *receiptList) of(b *block) bool {
	if len(l.list) == 0 {
		return len(b.Txs) == 0
	}
	return l.list[0].BlockHash == b.Hash
}

// rpcFailed reports whether a read has failed in a way that another request through the same session cannot repair.
func rpcFailed(err error) bool {
	return errors.Is(err, rpc.ErrUnavailable) || errors.Is(err, context.Canceled) ||
		errors.Is(err, context.DeadlineExceeded)
}

// receiptsOf requests all receipts of a block by its hash, or one by one if the endpoint does not offer that or fails
// (bor 2.2.9 fails with "receipts length mismatch" at blocks whose state-sync receipt it has lost).
func (c *Chain) receiptsOf(ctx context.Context, s *rpc.Session, b *block, l *receiptList) error {
	err := s.CallOptional(ctx, blockReceipts, []any{b.Hash.String()}, l)
	if err == nil || !rpc.Declined(err) {
		return err
	}
	if absent(err) {
		return fmt.Errorf("%w: %w", errAbsent, err)
	}
	if single := c.receiptsByTx(ctx, s, b, l); single != nil {
		return errors.Join(err, single)
	}
	return nil
}

// receiptsByTx requests the receipt of each transaction of a block.
func (c *Chain) receiptsByTx(ctx context.Context, s *rpc.Session, b *block, l *receiptList) error {
	txs := b.Txs
	*l = receiptList{rules: l.rules, seen: map[string]bool{}}
	raw, requests := make([]jsontext.Value, len(txs)), make([]*rpc.Request, len(txs))
	for i := range txs {
		requests[i] = &rpc.Request{Method: "eth_getTransactionReceipt", Params: []any{txs[i].Hash.String()}, Out: &raw[i]}
	}
	if err := s.Batch(ctx, requests); err != nil {
		return err
	}
	for i, r := range requests {
		if r.Err != nil {
			return r.Err
		}
		if raw[i].Kind() == jsontext.KindNull {
			return fmt.Errorf("receipt %d: %w", i, errAbsent)
		}
		if err := l.read(jsontext.NewDecoder(bytes.NewReader(raw[i]))); err != nil {
			return fmt.Errorf("receipt %d: %w", i, err)
		}
	}
	return nil
}

// absent reports whether a node's answer means that it does not know a block: geth, erigon, nethermind, besu and reth
// word it differently. The same node later, or another one behind the same URL, may know it.
func absent(err error) bool {
	if errors.Is(err, errAbsent) || errors.Is(err, rpc.ErrNull) {
		return true
	}
	var e *rpc.Error
	if !errors.As(err, &e) {
		return false
	}
	message := strings.ToLower(e.Message)
	about := strings.Contains(message, "block") || strings.Contains(message, "header") ||
		strings.Contains(message, "resource")
	if !about || strings.Contains(message, "method") || stateGone(err) {
		return false
	}
	for _, words := range []string{"not found", "unknown block", "is not available", "not available", "does not exist",
		"cannot find", "can't find"} {
		if strings.Contains(message, words) {
			return true
		}
	}
	return false
}

// insist repeats a request a few times if the endpoint does not know the block: behind one URL there may be several
// nodes, some of which are a block or two behind.
func insist(ask func() error) (err error) {
	for range attempts {
		if err = ask(); err == nil || !absent(err) {
			return err
		}
	}
	return err
}

// stateGone reports whether a node's answer means that it no longer has the state of an old block: geth, erigon,
// nethermind, besu, reth word it differently.
func stateGone(err error) bool {
	var e *rpc.Error
	if !errors.As(err, &e) {
		return false
	}
	message := strings.ToLower(e.Message)
	for _, words := range []string{
		"missing trie node", "historical state", "state not available", "state is not available", "no state available",
		"state unavailable", "pruned", "world state", "old data not available", "required historical", "proof window",
		"stateroot", "archive",
	} {
		if strings.Contains(message, words) {
			return true
		}
	}
	return false
}
