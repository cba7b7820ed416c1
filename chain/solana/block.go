package solana

import (
	"errors"
	"fmt"
	"math"

	"github.com/go-json-experiment/json/jsontext"
)

// block is an answer of getBlock, reduced while it is read: for each transaction its id, its fee, its outcome, and the
// accounts that signed it or whose balance it changed. Everything else is skipped and never kept in memory.
type block struct {
	Hash     string
	Previous string
	Parent   *uint64
	Height   *uint64
	Time     *int64
	Txs      []movement

	listed  bool      // it has a list of transactions, possibly empty
	spoilt  error     // the defect of the first invalid transaction
	touched []touched // the touched accounts of all transactions
}

// movement is the effect of one transaction.
type movement struct {
	id     string // its first signature
	fee    uint64
	failed bool // it is in its block but only paid its fee
	grows  bool // more lamports come out of it than went in
	from   int  // its accounts are block.touched[from:to]
	to     int
}

// touched is an account that signed a transaction or whose balance the transaction changed.
type touched struct {
	base          string
	signer        bool
	twice         bool // the transaction lists it in another place as well
	before, after uint64
}

var (
	errBlock    = errors.New("the block is incomplete")
	errBalances = errors.New("the balances do not match the accounts")
)

// accountsOf returns the accounts that a transaction touched.
func (b *block) accountsOf(t *movement) []touched { return b.touched[t.from:t.to] }

// check returns an error if a required part of a block is missing.
func (b *block) check(slot uint64) error {
	_, err1 := parseKey(b.Hash)
	_, err2 := parseKey(b.Previous)
	switch {
	case err1 != nil || err2 != nil:
		return fmt.Errorf("%w: its hash is %.60q, its parent's %.60q", errBlock, b.Hash, b.Previous)
	case b.Parent == nil || *b.Parent >= slot && slot > 0:
		return fmt.Errorf("%w: the block has no parent below it", errBlock)
	}
	return nil
}

// checkWhole also requires the block's time and transactions.
func (b *block) checkWhole(slot uint64) error {
	if err := b.check(slot); err != nil {
		return err
	}
	if b.Time == nil || !b.listed {
		return fmt.Errorf("%w: the block has no time or no transactions", errBlock)
	}
	return b.spoilt
}

// ReadResult reads the answer as it arrives, one transaction at a time. An error means that it is not JSON; defects of
// the block itself are found by check and checkWhole.
func (b *block) ReadResult(dec *jsontext.Decoder) error {
	*b = block{}
	if err := expect(dec, jsontext.KindBeginObject); err != nil {
		return err
	}
	r := &blockReader{block: b}
	for dec.PeekKind() != jsontext.KindEndObject {
		name, err := dec.ReadToken()
		if err != nil {
			return err
		}
		if err := r.member(dec, name.String()); err != nil {
			return err
		}
	}
	_, err := dec.ReadToken()
	r.finish()
	return err
}

// UnmarshalJSONFrom is ReadResult, for a block within another answer.
func (b *block) UnmarshalJSONFrom(dec *jsontext.Decoder) error { return b.ReadResult(dec) }

var errShape = errors.New("the JSON does not have the structure of a block")

func expect(dec *jsontext.Decoder, kind jsontext.Kind) error {
	token, err := dec.ReadToken()
	if err == nil && token.Kind() != kind {
		err = errShape
	}
	return err
}

// blockReader collects the texts of all transactions in one piece of memory: a block has about ten thousand keys.
type blockReader struct {
	*block
	texts []byte
	spans []int // where each text ends, in the order in which finish returns them
	tx    txReader
}

func (r *blockReader) member(dec *jsontext.Decoder, name string) error {
	switch name {
	case "blockhash":
		return readText(dec, &r.Hash)
	case "previousBlockhash":
		return readText(dec, &r.Previous)
	case "parentSlot":
		return readNumber(dec, &r.Parent)
	case "blockHeight":
		return readNumber(dec, &r.Height)
	case "blockTime":
		return readTime(dec, &r.Time)
	case "transactions":
		return r.transactions(dec)
	}
	return dec.SkipValue()
}

func (r *blockReader) transactions(dec *jsontext.Decoder) error {
	if dec.PeekKind() == jsontext.KindNull {
		return dec.SkipValue()
	}
	if err := expect(dec, jsontext.KindBeginArray); err != nil {
		return err
	}
	r.listed = true
	for dec.PeekKind() != jsontext.KindEndArray {
		value, err := dec.ReadValue()
		if err != nil {
			return err
		}
		if r.spoilt != nil {
			continue // the block will not be used
		}
		if err := r.transaction(value); err != nil {
			r.spoilt = fmt.Errorf("transaction %d: %w", len(r.Txs), err)
		}
	}
	_, err := dec.ReadToken()
	return err
}

// transaction reads one transaction and keeps its effect.
func (r *blockReader) transaction(value []byte) error {
	t := &r.tx
	if err := t.read(value); err != nil {
		return err
	}
	if err := t.check(); err != nil {
		return err
	}
	m := movement{fee: t.fee, failed: t.failed, grows: !t.conserves(), from: len(r.touched)}
	r.keep(t.id)
	keys := t.keys()
	for i, k := range keys {
		signer := t.signs(i)
		if !signer && t.before[i] == t.after[i] {
			continue
		}
		r.touched = append(r.touched, touched{
			signer: signer,
			twice:  repeats(keys, i),
			before: t.before[i],
			after:  t.after[i],
		})
		r.keep(k)
	}
	m.to = len(r.touched)
	r.Txs = append(r.Txs, m)
	return nil
}

func (r *blockReader) keep(text []byte) {
	r.texts = append(r.texts, text...)
	r.spans = append(r.spans, len(r.texts))
}

// finish returns the texts in the order in which they were kept.
func (r *blockReader) finish() {
	all, from, next := string(r.texts), 0, 0
	take := func() string {
		text := all[from:r.spans[next]]
		from, next = r.spans[next], next+1
		return text
	}
	for i := range r.Txs {
		t := &r.Txs[i]
		t.id = take()
		for j := t.from; j < t.to; j++ {
			r.touched[j].base = take()
		}
	}
}

// repeats reports whether the key in a place also occurs in another place.
func repeats(keys [][]byte, place int) bool {
	for i, k := range keys {
		if i != place && string(k) == string(keys[place]) {
			return true
		}
	}
	return false
}

func readText(dec *jsontext.Decoder, out *string) error {
	token, err := dec.ReadToken()
	if err == nil && token.Kind() == jsontext.KindString {
		*out = token.String()
		return nil
	}
	return orShape(err)
}

// readNumber leaves nil for null.
func readNumber(dec *jsontext.Decoder, out **uint64) error {
	value, err := dec.ReadValue()
	if err != nil || value.Kind() == jsontext.KindNull {
		return err
	}
	n, ok := number(value)
	if !ok {
		return errShape
	}
	*out = &n
	return nil
}

func readTime(dec *jsontext.Decoder, out **int64) error {
	var n *uint64
	if err := readNumber(dec, &n); err != nil || n == nil {
		return err
	}
	if *n > math.MaxInt64 {
		return errShape
	}
	seconds := int64(*n)
	*out = &seconds
	return nil
}

func orShape(err error) error {
	if err == nil {
		err = errShape
	}
	return err
}
