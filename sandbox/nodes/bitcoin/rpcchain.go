package bitcoin

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/btcutil/v2"
	"github.com/btcsuite/btcd/wire/v2"
)

// headerJSON is getblockheader's answer and the start of getblock's.
type headerJSON struct {
	Hash          string          `json:"hash"`
	Confirmations int32           `json:"confirmations"`
	Height        int32           `json:"height"`
	Version       int32           `json:"version"`
	VersionHex    string          `json:"versionHex"`
	MerkleRoot    string          `json:"merkleroot"`
	Time          int64           `json:"time"`
	MedianTime    int64           `json:"mediantime"`
	Nonce         uint32          `json:"nonce"`
	Bits          string          `json:"bits"`
	Target        string          `json:"target"`
	Difficulty    json.RawMessage `json:"difficulty"`
	ChainWork     string          `json:"chainwork"`
	NTx           int             `json:"nTx"`
	Previous      string          `json:"previousblockhash,omitempty"`
	Next          string          `json:"nextblockhash,omitempty"`
}

type blockJSON struct {
	headerJSON
	StrippedSize int   `json:"strippedsize"`
	Size         int   `json:"size"`
	Weight       int64 `json:"weight"`
	Tx           []any `json:"tx"`
}

// headerOf describes a block of any branch; confirmations are -1 off the best chain.
func (n *Node) headerOf(b *blockInfo) (headerJSON, error) {
	h := headerJSON{
		Hash: b.hash.String(), Confirmations: n.confirmations(b), Height: b.height,
		Version: b.header.Version, VersionHex: fmt.Sprintf("%08x", uint32(b.header.Version)),
		MerkleRoot: b.header.MerkleRoot.String(),
		Time:       b.header.Timestamp.Unix(), MedianTime: b.medianTime(), Nonce: b.header.Nonce,
		Bits: fmt.Sprintf("%08x", b.header.Bits), Target: target(b.header.Bits), Difficulty: difficulty(b.header.Bits),
		ChainWork: fmt.Sprintf("%064x", b.work), NTx: b.txs,
	}
	if b.parent != nil {
		h.Previous = b.parent.hash.String()
	}
	if h.Confirmations > 1 {
		next, err := n.at(b.height + 1)
		if err != nil {
			return h, err
		}
		h.Next = next.hash.String()
	}
	return h, nil
}

func (n *Node) confirmations(b *blockInfo) int32 {
	if !n.chain.MainChainHasBlock(&b.hash) {
		return -1
	}
	return n.tip().height - b.height + 1
}

func target(bits uint32) string { return fmt.Sprintf("%064x", blockchain.CompactToBig(bits)) }

// difficulty is GetDifficulty of bitcoind, printed with 16 digits as there. It is a display figure, not money.
func difficulty(bits uint32) json.RawMessage {
	shift := float64(29 - int(bits>>24))
	d := float64(0x0000ffff) / float64(bits&0x00ffffff) * math.Pow(256, shift)
	return json.RawMessage(fmt.Sprintf("%.16g", d))
}

func (n *Node) getBlockchainInfo(context.Context, params) (any, error) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	tip := n.tip()
	return struct {
		Chain         string          `json:"chain"`
		Blocks        int32           `json:"blocks"`
		Headers       int32           `json:"headers"`
		Best          string          `json:"bestblockhash"`
		Bits          string          `json:"bits"`
		Target        string          `json:"target"`
		Difficulty    json.RawMessage `json:"difficulty"`
		Time          int64           `json:"time"`
		MedianTime    int64           `json:"mediantime"`
		Progress      int             `json:"verificationprogress"`
		InitialBlocks bool            `json:"initialblockdownload"` // never: there are no peers to download from
		ChainWork     string          `json:"chainwork"`
		Size          int64           `json:"size_on_disk"`
		Pruned        bool            `json:"pruned"`
		Warnings      []string        `json:"warnings"`
	}{
		Chain: n.chainName(), Blocks: tip.height, Headers: tip.height, Best: tip.hash.String(),
		Bits: fmt.Sprintf("%08x", tip.header.Bits), Target: target(tip.header.Bits), Difficulty: difficulty(tip.header.Bits),
		Time: tip.header.Timestamp.Unix(), MedianTime: tip.medianTime(), Progress: 1,
		ChainWork: fmt.Sprintf("%064x", tip.work), Size: n.diskSize, Warnings: []string{},
	}, nil
}

// chainName is bitcoind's name for a network; btcd names two of them differently.
func (n *Node) chainName() string {
	switch n.params.Name {
	case "mainnet":
		return "main"
	case "testnet3":
		return "test"
	}
	return n.params.Name
}

func (n *Node) getBlockCount(context.Context, params) (any, error) { return n.Height(), nil }

func (n *Node) getBestBlockHash(context.Context, params) (any, error) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.tip().hash.String(), nil
}

func (n *Node) getDifficulty(context.Context, params) (any, error) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return difficulty(n.tip().header.Bits), nil
}

func (n *Node) getBlockHash(_ context.Context, p params) (any, error) {
	height, err := p.integer(0, 0)
	if err != nil {
		return nil, err
	}
	n.mu.RLock()
	defer n.mu.RUnlock()
	if height < 0 || height > int64(n.tip().height) {
		return nil, fail(codeParameter, "Block height out of range")
	}
	b, err := n.at(int32(height))
	if err != nil {
		return nil, err
	}
	return b.hash.String(), nil
}

// blockParam finds the block that parameter 0 names. The caller holds the lock.
func (n *Node) blockParam(p params) (*blockInfo, error) {
	hash, err := p.hash(0, "blockhash")
	if err != nil {
		return nil, err
	}
	b := n.blocks[hash]
	if b == nil {
		return nil, fail(codeAddressOrKey, "Block not found")
	}
	return b, nil
}

func (n *Node) getBlockHeader(_ context.Context, p params) (any, error) {
	verbose, err := p.boolean(1, true)
	if err != nil {
		return nil, err
	}
	n.mu.RLock()
	defer n.mu.RUnlock()
	b, err := n.blockParam(p)
	if err != nil {
		return nil, err
	}
	if verbose {
		return n.headerOf(b)
	}
	raw, err := n.blockBytes(b.hash)
	if err != nil {
		return nil, err
	}
	return hex.EncodeToString(raw[:wire.MaxBlockHeaderPayload]), nil
}

func (n *Node) getBlock(_ context.Context, p params) (any, error) {
	level, err := p.verbosity(1, 1)
	if err != nil {
		return nil, err
	}
	n.mu.RLock()
	defer n.mu.RUnlock()
	b, err := n.blockParam(p)
	if err != nil {
		return nil, err
	}
	raw, err := n.blockBytes(b.hash)
	if err != nil {
		return nil, err
	}
	if level <= 0 {
		return hex.EncodeToString(raw), nil
	}
	block, err := btcutil.NewBlockFromBytes(raw)
	if err != nil {
		return nil, fmt.Errorf("decode block %v: %w", b.hash, err)
	}
	header, err := n.headerOf(b)
	if err != nil {
		return nil, err
	}
	answer := blockJSON{
		headerJSON: header, StrippedSize: block.MsgBlock().SerializeSizeStripped(),
		Size: len(raw), Weight: blockchain.GetBlockWeight(block),
	}
	undo := n.utxos.undo[b.hash]
	for i, tx := range block.Transactions() {
		if level == 1 {
			answer.Tx = append(answer.Tx, tx.Hash().String())
			continue
		}
		d := n.describe(tx.MsgTx())
		if undo != nil && i > 0 {
			d.addSpent(n, undo.spent[i], level >= 3)
		}
		answer.Tx = append(answer.Tx, d)
	}
	return answer, nil
}

func (n *Node) getChainTips(context.Context, params) (any, error) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	type tipJSON struct {
		Height int32  `json:"height"`
		Hash   string `json:"hash"`
		Branch int32  `json:"branchlen"`
		Status string `json:"status"`
	}
	tips := []tipJSON{}
	for _, t := range n.chain.ChainTips() {
		tips = append(tips, tipJSON{t.Height, t.BlockHash.String(), t.BranchLen, t.Status.String()})
	}
	return tips, nil
}
