package store

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
)

// ErrAltered is returned for an order whose facts are not those that the service once took.
var ErrAltered = errors.New("the row was changed in the database after it was recorded")

// sealKey is what the books are sealed with. The empty key still finds an edit, but not one by somebody who also
// makes the hashes again.
type sealKey struct {
	id  string // names the key; empty for none
	key []byte
}

// SealWith has what is booked and ordered from now on sealed with a key that the database never holds: who can write
// to the database alone then cannot change or forge an entry or an order without being found. Call it before the
// database is used. A database that was sealed with a key once takes no entry from a process without that key.
func (db *DB) SealWith(key []byte) {
	db.seal = sealKey{key: key}
	db.seal.id = hex.EncodeToString(db.seal.sum("bursar books key id v1").Sum(nil)[:8])
}

// facts are hashed one behind the other, each with its length, so that no two lists of facts look alike.
type facts struct {
	hash.Hash
	buffer *[]byte // for one fact: each transaction and each audit hashes many
}

func (k sealKey) sum(purpose string) facts {
	buffer := make([]byte, 0, 128)
	f := facts{hmac.New(sha256.New, k.key), &buffer}
	f.text(purpose)
	return f
}

func (f facts) bytes(b []byte) {
	*f.buffer = append(binary.BigEndian.AppendUint32((*f.buffer)[:0], uint32(len(b))), b...)
	f.Write(*f.buffer) // a hash takes everything
}

func (f facts) text(s string) {
	*f.buffer = append(binary.BigEndian.AppendUint32((*f.buffer)[:0], uint32(len(s))), s...)
	f.Write(*f.buffer)
}

func (f facts) number(n int64) {
	*f.buffer = binary.BigEndian.AppendUint64((*f.buffer)[:0], uint64(n))
	f.Write(*f.buffer)
}

// entry adds an entry with its postings.
func (f facts) entry(number int64, e ledger.Entry) {
	f.number(number)
	f.text(string(e.Kind))
	f.text(string(e.Ref))
	f.number(e.At.UnixMicro())
	f.number(int64(len(e.Postings)))
	for _, p := range e.Postings {
		f.text(string(p.Debit))
		f.text(string(p.Credit))
		f.text(string(p.Asset))
		f.text(p.Amount.String())
	}
}

// The kinds of orders, in the words that their seals are made of.
const (
	orderWithdrawal = "withdrawal"
	orderRefund     = "return"
)

// orderFacts are what never changes of an order to pay somebody outside: a withdrawal, or the refund of a deposit.
type orderFacts struct {
	kind     string // orderWithdrawal or orderRefund
	id       bursar.ID
	of       bursar.ID // the account, or the deposit
	chain    bursar.ChainID
	currency bursar.CurrencyCode
	amount   bursar.Amount
	fee      bursar.Amount
	to       bursar.Address
	at       time.Time
}

func withdrawalFacts(chain bursar.ChainID, w bursar.Withdrawal) orderFacts {
	return orderFacts{orderWithdrawal, w.ID, w.AccountID, chain, w.Currency, w.Amount, w.Fee, w.Address, w.CreatedAt}
}

func refundFacts(n bursar.Resolution) orderFacts {
	return orderFacts{orderRefund, n.ID, n.DepositID, n.Chain, n.Currency, n.Amount, n.Fee, n.Address, n.ResolvedAt}
}

// order adds an order.
func (f facts) order(o orderFacts) {
	f.text(o.kind)
	f.bytes(o.id[:])
	f.bytes(o.of[:])
	f.text(string(o.chain))
	f.text(string(o.currency))
	f.text(o.amount.String())
	f.text(o.fee.String())
	f.text(o.to.Base)
	f.number(memoValue(o.to))
	f.number(o.at.UnixMicro())
}

// sealOrder returns the code that goes with an order: the key's name and the keyed hash of its facts.
func (k sealKey) sealOrder(o orderFacts) []byte {
	f := k.sum("bursar order v1")
	f.order(o)
	return f.Sum([]byte(k.id))
}

// check refuses an order that is not what its code was made for. Without a key, what was sealed with one cannot be
// evaluated: such a process cannot sign either.
func (k sealKey) check(o orderFacts, seal []byte) error {
	if k.id == "" && len(seal) > sha256.Size {
		return nil
	}
	if hmac.Equal(seal, k.sealOrder(o)) {
		return nil
	}
	kind := map[string]string{orderWithdrawal: "withdrawal", orderRefund: "refund"}[o.kind]
	return fmt.Errorf("%s %s: %w", kind, o.id, ErrAltered)
}
