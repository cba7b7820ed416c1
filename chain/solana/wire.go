package solana

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/go-json-experiment/json/jsontext"
)

// The forms that values have in answers. Members that must be there are pointers, so that a missing one shows.

// block is the answer of getBlock. Without details it has no transactions.
type block struct {
	Hash     string         `json:"blockhash"`
	Previous string         `json:"previousBlockhash"`
	Parent   *uint64        `json:"parentSlot"`
	Height   *uint64        `json:"blockHeight"`
	Time     *int64         `json:"blockTime"`
	Txs      *[]transaction `json:"transactions"`
}

// transaction is one of a block's, or the answer of getTransaction.
type transaction struct {
	Meta    *meta          `json:"meta"`
	Version jsontext.Value `json:"version"`
	Body    struct {
		Signatures []string `json:"signatures"`
		Message    struct {
			Header struct {
				Signers int `json:"numRequiredSignatures"`
			} `json:"header"`
			Keys    []string `json:"accountKeys"`
			Lookups []lookup `json:"addressTableLookups"`
		} `json:"message"`
	} `json:"transaction"`
}

// lookup names addresses in a table by their places.
type lookup struct {
	Writable []int `json:"writableIndexes"`
	Readonly []int `json:"readonlyIndexes"`
}

// meta is what a transaction did.
type meta struct {
	Err    jsontext.Value `json:"err"`
	Fee    *uint64        `json:"fee"`
	Before []uint64       `json:"preBalances"`
	After  []uint64       `json:"postBalances"`
	Loaded *struct {
		Writable []string `json:"writable"`
		Readonly []string `json:"readonly"`
	} `json:"loadedAddresses"`
}

var (
	errBlock    = errors.New("the block is not whole")
	errBalances = errors.New("the balances do not fit the accounts")
)

// check finds what a block cannot be without.
func (b *block) check(slot uint64) error {
	_, err1 := parseKey(b.Hash)
	_, err2 := parseKey(b.Previous)
	switch {
	case err1 != nil || err2 != nil:
		return fmt.Errorf("%w: its hash is %.60q, its parent's %.60q", errBlock, b.Hash, b.Previous)
	case b.Parent == nil || *b.Parent >= slot && slot > 0:
		return fmt.Errorf("%w: it names no parent below it", errBlock)
	}
	return nil
}

// checkWhole also wants the block's time and transactions.
func (b *block) checkWhole(slot uint64) error {
	if err := b.check(slot); err != nil {
		return err
	}
	if b.Time == nil || b.Txs == nil {
		return fmt.Errorf("%w: no time or no transactions", errBlock)
	}
	for i := range *b.Txs {
		if err := (*b.Txs)[i].check(); err != nil {
			return fmt.Errorf("transaction %d: %w", i, err)
		}
	}
	return nil
}

// check holds a transaction's lists against each other. Transactions of versions after 0 have forms unknown here.
func (t *transaction) check() error {
	msg := &t.Body.Message
	if t.Meta == nil || len(t.Meta.Err) == 0 || t.Meta.Fee == nil {
		return fmt.Errorf("%w: no word of the outcome", errBlock)
	}
	if n := msg.Header.Signers; n < 1 || n > len(msg.Keys) || n != len(t.Body.Signatures) {
		return fmt.Errorf("%w: %d signatures of %d signers", errBlock, len(t.Body.Signatures), n)
	}
	writable, readonly := 0, 0
	for _, l := range msg.Lookups {
		writable, readonly = writable+len(l.Writable), readonly+len(l.Readonly)
	}
	switch string(t.Version) {
	case "0":
	case "", `"legacy"`:
		if len(msg.Lookups) > 0 {
			return fmt.Errorf("%w: a legacy transaction with lookup tables", errBlock)
		}
	default:
		return fmt.Errorf("%w: a transaction of version %.20s", errBlock, t.Version)
	}
	loaded := t.loaded()
	if len(loaded.writable) != writable || len(loaded.readonly) != readonly {
		return fmt.Errorf("%w: %d and %d addresses of %d and %d are loaded", errBalances,
			len(loaded.writable), len(loaded.readonly), writable, readonly)
	}
	if n := len(msg.Keys) + writable + readonly; len(t.Meta.Before) != n || len(t.Meta.After) != n {
		return fmt.Errorf("%w: %d before, %d after, %d accounts", errBalances, len(t.Meta.Before), len(t.Meta.After), n)
	}
	return nil
}

type loadedKeys struct{ writable, readonly []string }

func (t *transaction) loaded() loadedKeys {
	if t.Meta.Loaded == nil {
		return loadedKeys{}
	}
	return loadedKeys{t.Meta.Loaded.Writable, t.Meta.Loaded.Readonly}
}

// accounts lists a transaction's accounts in the order of its balances: static keys, then writable, then readonly loaded
// addresses (docs: getBlock, loadedAddresses).
func (t *transaction) accounts() []string {
	static, loaded := t.Body.Message.Keys, t.loaded()
	if len(loaded.writable)+len(loaded.readonly) == 0 {
		return static
	}
	all := make([]string, 0, len(static)+len(loaded.writable)+len(loaded.readonly))
	all = append(all, static...)
	all = append(all, loaded.writable...)
	return append(all, loaded.readonly...)
}

// id is the transaction's first signature.
func (t *transaction) id() string { return t.Body.Signatures[0] }

// failed reports whether a transaction is in its block and did nothing but pay its fee.
func (t *transaction) failed() bool { return string(t.Meta.Err) != "null" }

// conserves reports whether a transaction's accounts hold no more after it than before it, less the fee.
func (t *transaction) conserves() bool {
	var before, after, carry, over uint64
	for i := range t.Meta.Before {
		before, carry = bits.Add64(before, t.Meta.Before[i], 0)
		over += carry
		after, carry = bits.Add64(after, t.Meta.After[i], 0)
		over += carry
	}
	after, carry = bits.Add64(after, *t.Meta.Fee, 0)
	return over+carry == 0 && after <= before
}
