package bitcoin

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

type chainInfo struct {
	Blocks          uint64 `json:"blocks"`
	Headers         uint64 `json:"headers"`
	BestBlock       string `json:"bestblockhash"`
	InitialDownload bool   `json:"initialblockdownload"`
}

// maxMoved is how often the tip may change while the head is read.
const maxMoved = 5

// Head returns the tip of the healthiest node and, as final, the block with the configured confirmations in that same
// chain. A node in its initial block download, or one that lacks blocks whose headers it knows, gives no tip.
func (c *Chain) Head(ctx context.Context) (chain.Head, error) {
	if len(c.cfg.Node.URLs) > 1 {
		if err := c.nodes.Survey(ctx, height); err != nil {
			return chain.Head{}, fmt.Errorf("head: %w", err)
		}
	}
	s, err := c.nodes.Pin(ctx)
	if err != nil {
		return chain.Head{}, fmt.Errorf("head: %w", err)
	}
	return c.headBy(ctx, s)
}

// headBy reads the head through one endpoint. It guesses first that the tip is the last one seen, which is usually
// right.
func (c *Chain) headBy(ctx context.Context, s *rpc.Session) (chain.Head, error) {
	tips := []uint64{c.tip.Load()}
	for range maxMoved {
		head, moved, err := c.headOf(ctx, s, tips)
		if err == nil && !moved {
			err = s.Observe(head.Latest.Height)
		}
		if err != nil {
			return chain.Head{}, fmt.Errorf("head: %w", err)
		}
		if !moved {
			c.tip.Store(head.Latest.Height)
			return head, nil
		}
		for _, at := range []uint64{head.Latest.Height, head.Latest.Height + 1,
			head.Latest.Height - min(head.Latest.Height, 1)} {
			if !slices.Contains(tips, at) {
				tips = append(tips, at) // behind a load balancer another node may answer next
			}
		}
	}
	return chain.Head{}, errors.New("head: the tip changed on every attempt to read it")
}

func height(ctx context.Context, s *rpc.Session) (uint64, error) {
	info, err := tip(ctx, s)
	return info.Blocks, err
}

// tip asks for a node's tip, and puts the endpoint into a cool-down if the node is not synced.
func tip(ctx context.Context, s *rpc.Session) (chainInfo, error) {
	var info chainInfo
	if err := s.Call(ctx, "getblockchaininfo", nil, &info); err != nil {
		return info, err
	}
	return info, info.check(s)
}

func (info chainInfo) check(s *rpc.Session) error {
	switch {
	case !isHash(info.BestBlock):
		return s.Fail(fmt.Errorf("the best block is %.70q", info.BestBlock))
	case info.InitialDownload:
		return s.Fail(fmt.Errorf("the node is in its initial block download, at block %d of %d", info.Blocks,
			info.Headers))
	case info.Headers > info.Blocks+maxBehind:
		return s.Fail(fmt.Errorf("the node is at block %d of %d known headers", info.Blocks, info.Headers))
	}
	return nil
}

// headOf reads a head in one batch, which a load balancer sends to one node, and reports whether the tip moved during
// the read: then the two blocks may belong to different branches. The height of the final block is known only once the
// tip is, so the batch asks for the final blocks of the likely tips.
func (c *Chain) headOf(ctx context.Context, s *rpc.Session, tips []uint64) (head chain.Head, moved bool, err error) {
	depth := uint64(c.cfg.Confirmations - 1)
	var info chainInfo
	var best string
	finals := make([]string, len(tips))
	requests := []*rpc.Request{{Method: "getblockchaininfo", Out: &info}}
	for i, at := range tips {
		requests = append(requests, &rpc.Request{Method: "getblockhash", Params: []any{at - min(at, depth)}, Out: &finals[i]})
	}
	requests = append(requests, &rpc.Request{Method: "getbestblockhash", Out: &best})
	if err := s.Batch(ctx, requests); err != nil {
		return head, false, err
	}
	if err := requests[0].Err; err != nil {
		return head, false, err
	}
	if err := info.check(s); err != nil {
		return head, false, err
	}
	head.Latest = chain.BlockRef{Height: info.Blocks, Hash: info.BestBlock}
	found := slices.Index(tips, info.Blocks)
	if found < 0 {
		return head, true, nil
	}
	if err := errors.Join(requests[found+1].Err, requests[len(requests)-1].Err); err != nil {
		return head, isCode(err, codeParameter), unless(isCode(err, codeParameter), err)
	}
	if !isHash(finals[found]) {
		return head, false, fmt.Errorf("the hash of block %d is %.70q", info.Blocks-min(info.Blocks, depth), finals[found])
	}
	if info.Blocks >= depth {
		head.Final = chain.BlockRef{Height: info.Blocks - depth, Hash: finals[found]}
	}
	return head, best != info.BestBlock, nil
}

// unless returns the error if the condition does not explain it.
func unless(explained bool, err error) error {
	if explained {
		return nil
	}
	return err
}

// At returns the block of the best chain at a height, or chain.ErrNoBlock above the tip.
func (c *Chain) At(ctx context.Context, height uint64) (_ chain.BlockRef, err error) {
	defer chain.Wrap(&err, "block %d", height)
	if height > math.MaxInt32 { // the node accepts no larger parameter
		return chain.BlockRef{}, chain.ErrNoBlock
	}
	hash, err := hashAt(ctx, c.nodes, height)
	if isCode(err, codeParameter) {
		return chain.BlockRef{}, chain.ErrNoBlock
	}
	if err != nil {
		return chain.BlockRef{}, err
	}
	return chain.BlockRef{Height: height, Hash: hash}, nil
}

// Find returns the block of the best chain that contains a transaction, or chain.ErrNoBlock, also if the transaction is
// in the mempool. It needs the node's transaction index: without one, nobody can know that a transaction is in no
// block, and the error says so.
func (c *Chain) Find(ctx context.Context, txID string) (_ chain.BlockRef, err error) {
	defer chain.Wrap(&err, "find %.70q", txID)
	if !isHash(txID) {
		return chain.BlockRef{}, chain.ErrNoBlock
	}
	s, err := c.nodes.Pin(ctx)
	if err != nil {
		return chain.BlockRef{}, err
	}
	return find(ctx, s, txID)
}

func find(ctx context.Context, node caller, txID string) (chain.BlockRef, error) {
	var found struct {
		TxID      string `json:"txid"`
		BlockHash string `json:"blockhash"`
	}
	err := node.Call(ctx, "getrawtransaction", []any{txID, true}, &found)
	switch {
	case isCode(err, codeNoSuch) && indexed(err):
		return chain.BlockRef{}, chain.ErrNoBlock
	case isCode(err, codeNoSuch):
		return chain.BlockRef{}, fmt.Errorf("the node must run with txindex=1, and have finished its index: %w", err)
	case err != nil:
		return chain.BlockRef{}, err
	case found.TxID != txID:
		return chain.BlockRef{}, fmt.Errorf("the node returned transaction %.70q instead", found.TxID)
	case found.BlockHash == "":
		return chain.BlockRef{}, chain.ErrNoBlock // it is in the mempool
	}
	h, err := header(ctx, node, found.BlockHash)
	if err != nil {
		return chain.BlockRef{}, err
	}
	if h.Confirmations < 1 {
		return chain.BlockRef{}, chain.ErrNoBlock // its block was reorged out
	}
	return chain.BlockRef{Height: h.Height, Hash: h.Hash}, nil
}

// indexed reports whether a node that does not know a transaction has searched its complete index (Bitcoin Core,
// rpc/rawtransaction.cpp: the other messages say "Use -txindex" or "still in the process of being indexed").
func indexed(err error) bool {
	var answer *rpc.Error
	return errors.As(err, &answer) && strings.HasPrefix(answer.Message, "No such mempool or blockchain transaction") &&
		!strings.Contains(answer.Message, "being indexed")
}
