package evm

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bursar/bursar/chain"
)

// header is the part of a block that is used, without its transactions.
type header struct {
	Number  quantity `json:"number"`
	Hash    hash     `json:"hash"`
	Parent  hash     `json:"parentHash"`
	Time    quantity `json:"timestamp"`
	BaseFee wei      `json:"baseFeePerGas"`
	// AccessList exists since Glamsterdam (EIP-7928).
	AccessList optionalHash `json:"blockAccessListHash"`
}

func (h header) ref() chain.BlockRef {
	return chain.BlockRef{Height: uint64(h.Number), Hash: h.Hash.String()}
}

// block is the part of a block that is used.
type block struct {
	header
	Bloom       bloom         `json:"logsBloom"`
	TxRoot      hash          `json:"transactionsRoot"`
	Miner       address       `json:"miner"`
	Txs         []transaction `json:"transactions"`
	Withdrawals []withdrawal  `json:"withdrawals"`
}

// transaction is a transaction of any type: fields specific to a type are ignored, except authorizations.
type transaction struct {
	Hash      hash     `json:"hash"`
	BlockHash hash     `json:"blockHash"`
	Index     quantity `json:"transactionIndex"`
	From      address  `json:"from"`
	To        optional `json:"to"`
	Value     wei      `json:"value"`
	Input     text     `json:"input"`
	Kind      kind     `json:"type"`
	Nonce     kind     `json:"nonce"`

	Authorizations jsontext.Value `json:"authorizationList"`
	read           bool           // signed has been read from Authorizations
	signed         []authority
}

// withdrawal is value that the consensus layer creates and pays (EIP-4895), in gwei.
type withdrawal struct {
	Index   quantity `json:"index"`
	Address address  `json:"address"`
	Amount  quantity `json:"amount"`
}

// delivered is a block with everything that is needed to evaluate it.
type delivered struct {
	block
	receipts []receipt // one for each transaction, in order
	bridged  bool      // the last transaction is a state-sync transaction of the bridge
	frames   []frame   // value that contracts sent, in order
	untraced span      // transactions whose frames are unknown
	why      error     // why the frames are unknown, if an endpoint that can trace failed to trace this block
}

// span is a range of transactions.
type span struct{ from, to int }

func (s span) holds(i int) bool { return s.from <= i && i < s.to }

// emptyRoot is the root of an empty trie.
var emptyRoot = hash{
	0x56, 0xe8, 0x1f, 0x17, 0x1b, 0xcc, 0x55, 0xa6, 0xff, 0x83, 0x45, 0xe6, 0x92, 0xc0, 0xf8, 0x6e,
	0x5b, 0x48, 0xe0, 0x1b, 0x99, 0x6c, 0xad, 0xc0, 0x01, 0x62, 0x2f, 0xb5, 0xe3, 0x63, 0xb4, 0x21,
}

var (
	errOtherBlock = errors.New("the node returned another block than requested")
	errPartial    = errors.New("part of the block is missing")
	errExternalTx = errors.New("the data belongs to another transaction or block")
)

// check compares a block with the request and with its own header.
func (b *block) check(height uint64) error {
	if uint64(b.Number) != height || b.Hash == (hash{}) {
		return fmt.Errorf("%w: %d %v", errOtherBlock, b.Number, b.Hash)
	}
	if (len(b.Txs) == 0) != (b.TxRoot == emptyRoot) {
		return fmt.Errorf("%w: %d transactions below root %v", errPartial, len(b.Txs), b.TxRoot)
	}
	for i := range b.Txs {
		if tx := &b.Txs[i]; tx.BlockHash != b.Hash || int(tx.Index) != i || tx.Hash == (hash{}) {
			return fmt.Errorf("%w: transaction %d", errExternalTx, i)
		}
	}
	return nil
}

// checkReceipts compares receipts with the block: count, order, hashes, and that the bloom of their logs equals the
// header's.
func (b *block) checkReceipts(receipts []receipt, logs *bloom) error {
	if len(receipts) != len(b.Txs) {
		return fmt.Errorf("%w: %d receipts of %d transactions", errPartial, len(receipts), len(b.Txs))
	}
	for i := range receipts {
		if err := receipts[i].check(b.Hash, b.Txs[i].Hash, i); err != nil {
			return fmt.Errorf("receipt %d: %w", i, err)
		}
	}
	if !b.Bloom.within(logs) {
		return fmt.Errorf("%w: the header's bloom contains logs that no receipt has", errPartial)
	}
	return nil
}

// check compares a receipt with its transaction.
func (r *receipt) check(block, tx hash, index int) error {
	switch {
	case r.BlockHash != block || r.TxHash != tx || int(r.Index) != index:
		return errExternalTx
	case r.Status == 0:
		return fmt.Errorf("%w: the status is missing", errPartial)
	case r.logs.err != nil:
		return fmt.Errorf("logs: %w", r.logs.err)
	case r.logs.count > 0 && r.logs.tx != tx:
		return fmt.Errorf("logs: %w", errExternalTx)
	}
	return nil
}
