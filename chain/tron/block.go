package tron

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// header is the part of a block that is used, without its transactions. An answer without an id means that there is no
// block.
type header struct {
	failure
	ID     hash `json:"blockID"`
	Header struct {
		Raw struct {
			Number int64 `json:"number"`
			Parent hash  `json:"parentHash"`
			Root   hash  `json:"txTrieRoot"`
			Time   int64 `json:"timestamp"` // milliseconds
		} `json:"raw_data"`
	} `json:"block_header"`
}

func (h *header) height() uint64 { return h.ID.height() }

// clock returns the chain's time at the block, in milliseconds.
func (h *header) clock() uint64 { return uint64(h.Header.Raw.Time) }

func (h *header) time() time.Time { return time.UnixMilli(h.Header.Raw.Time).UTC() }

func (h *header) parent() string { return h.Header.Raw.Parent.String() }

func (h *header) ref() chain.BlockRef {
	return chain.BlockRef{Height: h.height(), Hash: h.ID.String()}
}

var (
	errOther   = errors.New("the node returned something other than requested")
	errPartial = errors.New("part of the answer is missing")
)

// check compares a header with itself: an id begins with the height.
func (h *header) check() error {
	raw := h.Header.Raw
	if raw.Number < 0 || raw.Time < 0 || h.height() != uint64(raw.Number) || h.ID == (hash{}) {
		return fmt.Errorf("%w: block %d with id %s and time %d", errOther, raw.Number, h.ID, raw.Time)
	}
	if raw.Number > 0 && raw.Parent.height() != uint64(raw.Number)-1 {
		return fmt.Errorf("%w: block %d with parent %s", errOther, raw.Number, raw.Parent)
	}
	return nil
}

// newest returns the last block of a view.
func newest(ctx context.Context, s *rpc.Session, v view) (header, error) {
	var h header
	if err := post(ctx, s, v, "getblock", map[string]any{"detail": false}, &h); err != nil {
		return h, fmt.Errorf("newest block: %w", err)
	}
	if err := h.check(); err != nil {
		return h, s.Fail(fmt.Errorf("newest block: %w", err))
	}
	return h, nil
}

// headerAt returns the block of a view at a height, or chain.ErrNoBlock.
func headerAt(ctx context.Context, s *rpc.Session, v view, height uint64) (header, error) {
	var h header
	ask := map[string]any{"id_or_num": strconv.FormatUint(height, 10), "detail": false}
	if err := post(ctx, s, v, "getblock", ask, &h); err != nil {
		return h, fmt.Errorf("block %d: %w", height, err)
	}
	if h.ID == (hash{}) {
		return h, fmt.Errorf("block %d: %w", height, chain.ErrNoBlock)
	}
	if err := h.check(); err != nil {
		return h, s.Fail(fmt.Errorf("block %d: %w", height, err))
	}
	if h.height() != height {
		return h, s.Fail(fmt.Errorf("block %d: %w: %s", height, errOther, h.ID))
	}
	return h, nil
}

// block is the part of a block that is used.
type block struct {
	header
	Txs []transaction `json:"transactions"`
}

// transaction has one contract: more than one has never been valid.
type transaction struct {
	ID  hash `json:"txID"`
	Ret []struct {
		Outcome string `json:"contractRet"`
	} `json:"ret"`
	Raw struct {
		Contracts []contract `json:"contract"`
	} `json:"raw_data"`
}

// contract is one of about forty kinds. Its value is decoded once its type is known.
type contract struct {
	Type      string `json:"type"`
	Parameter struct {
		Value jsontext.Value `json:"value"`
	} `json:"parameter"`
}

// transferType is the type of a plain payment.
const transferType = "TransferContract"

type transferValue struct {
	Owner  address `json:"owner_address"`
	To     address `json:"to_address"`
	Amount sun     `json:"amount"`
}

// outcome returns the contractRet, or "".
func (t *transaction) outcome() string {
	if len(t.Ret) == 0 {
		return ""
	}
	return t.Ret[0].Outcome
}

func (t *transaction) succeeded() bool { return t.outcome() == "SUCCESS" }

// calls reports whether the transaction calls a contract.
func (t *transaction) calls() bool {
	return len(t.Raw.Contracts) == 1 && t.Raw.Contracts[0].Type == triggerType
}

// plain reports whether the transaction is a plain payment.
func (t *transaction) plain() bool {
	return len(t.Raw.Contracts) == 1 && t.Raw.Contracts[0].Type == transferType
}

// owner returns the account that made the transaction; unknown kinds of contracts may have none.
func (t *transaction) owner() (address, bool) {
	var value struct {
		Owner address `json:"owner_address"`
	}
	if len(t.Raw.Contracts) == 0 || json.Unmarshal(t.Raw.Contracts[0].Parameter.Value, &value) != nil {
		return address{}, false
	}
	return value.Owner, value.Owner != address{}
}

// payment reads a plain payment; ok is false for every other kind of contract.
func (t *transaction) payment() (v transferValue, ok bool, err error) {
	if !t.plain() {
		return v, false, nil
	}
	if err := json.Unmarshal(t.Raw.Contracts[0].Parameter.Value, &v); err != nil {
		return v, false, fmt.Errorf("%w: a payment has no owner, receiver or amount", errPartial)
	}
	return v, true, nil
}

// execution is the result of a transaction (java-tron's TransactionInfo).
type execution struct {
	ID      hash   `json:"id"`
	Fee     sun    `json:"fee"`
	Height  int64  `json:"blockNumber"`
	Time    int64  `json:"blockTimeStamp"`
	Result  string `json:"result"` // FAILED or empty
	Receipt struct {
		Result string `json:"result"`
	} `json:"receipt"`
	Logs      []event    `json:"log"`
	Internals []internal `json:"internal_transactions"`
}

// internal is one call between contracts within a transaction.
type internal struct {
	From   jsontext.Value `json:"caller_address"`
	To     jsontext.Value `json:"transferTo_address"`
	Values []struct {
		Amount sun    `json:"callValue"`
		Token  string `json:"tokenId"` // TRC-10
	} `json:"callValueInfo"`
	Note     string `json:"note"` // hexadecimal
	Rejected bool   `json:"rejected"`
}

// delivered is a block with everything that is needed to evaluate it.
type delivered struct {
	block
	executions []execution // one for each transaction, in the block's order
}

// check compares a block with its own header.
func (b *block) check(height uint64) error {
	if err := b.header.check(); err != nil {
		return err
	}
	if b.height() != height {
		return fmt.Errorf("%w: %s", errOther, b.ID)
	}
	if (len(b.Txs) == 0) != (b.Header.Raw.Root == hash{}) {
		return fmt.Errorf("%w: %d transactions below root %s", errPartial, len(b.Txs), b.Header.Raw.Root)
	}
	seen := make(map[hash]bool, len(b.Txs))
	for i := range b.Txs {
		if id := b.Txs[i].ID; id == (hash{}) || seen[id] {
			return fmt.Errorf("%w: transaction %d", errOther, i)
		}
		seen[b.Txs[i].ID] = true
	}
	return nil
}

// join returns the transactions' executions in the order of the transactions. An empty list for a block with
// transactions comes from a node whose results lag behind its blocks.
func (b *block) join(list []execution) ([]execution, error) {
	if len(list) != len(b.Txs) {
		return nil, fmt.Errorf("%w: got %d results of %d transactions", errPartial, len(list), len(b.Txs))
	}
	byID := make(map[hash]*execution, len(list))
	for i := range list {
		byID[list[i].ID] = &list[i]
	}
	ordered := make([]execution, len(list))
	for i := range b.Txs {
		e := byID[b.Txs[i].ID]
		if e == nil {
			return nil, fmt.Errorf("%w: the result of transaction %s is missing", errPartial, b.Txs[i].ID)
		}
		if uint64(e.Height) != b.height() || e.Time != b.Header.Raw.Time || e.Fee < 0 {
			return nil, fmt.Errorf("%w: the result of transaction %s is of block %d", errOther, e.ID, e.Height)
		}
		if b.Txs[i].succeeded() && e.Result == "FAILED" {
			return nil, fmt.Errorf("%w: transaction %s has both failed and succeeded", errOther, e.ID)
		}
		ordered[i] = *e
	}
	return ordered, nil
}
