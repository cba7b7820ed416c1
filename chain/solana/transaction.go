package solana

import (
	"fmt"
	"math/bits"
)

// txReader reads transactions one after the other out of valid JSON, in the encodings `accounts` and `json` (Agave 4.2:
// transaction-status, UiAccountsList and UiTransaction), and checks the structure of each: the keys, the balances and
// the signatures must match, whatever version the transaction has. Its results are pieces of the JSON, valid until the
// next transaction.
//
// It is written by hand because half of all bytes that the service ever reads are these: a block has 1,000
// transactions, five blocks come in a second.
type txReader struct {
	id       []byte
	sigs     int
	static   [][]byte // the message's own keys, or all keys in the encoding `accounts`
	signers  []bool   // which of static signed, in the encoding `accounts`
	marked   bool     // signers is present
	required int      // number of signers at the front of static, in the encoding `json`; -1: absent
	loaded   [2][][]byte
	lookups  [2]int // how many addresses the message loads from tables; -1: absent
	before   []uint64
	after    []uint64
	fee      uint64
	hasMeta  bool
	hasFee   bool
	hasErr   bool
	failed   bool
	all      [][]byte
}

var errTransaction = fmt.Errorf("%w: a transaction does not have the requested form", errBlock)

func (t *txReader) read(value []byte) error {
	*t = txReader{
		static: t.static[:0], signers: t.signers[:0], before: t.before[:0], after: t.after[:0], all: t.all[:0],
		loaded: [2][][]byte{t.loaded[0][:0], t.loaded[1][:0]}, required: -1, lookups: [2]int{-1, -1},
	}
	s := &scanner{data: value}
	s.object(func(name []byte) {
		switch string(name) {
		case "meta":
			t.hasMeta = s.kind() == '{'
			s.object(func(name []byte) { t.meta(s, name) })
		case "transaction":
			s.object(func(name []byte) { t.body(s, name) })
		default: // the version is skipped too: nothing depends on it
			s.skip()
		}
	})
	if s.failed {
		return errTransaction
	}
	return nil
}

func (t *txReader) body(s *scanner, name []byte) {
	switch string(name) {
	case "signatures":
		s.array(func() {
			if sig := s.text(); t.sigs == 0 {
				t.id = sig
			}
			t.sigs++
		})
	case "accountKeys":
		t.accounts(s)
	case "message":
		s.object(func(name []byte) { t.message(s, name) })
	default:
		s.skip()
	}
}

func (t *txReader) message(s *scanner, name []byte) {
	switch string(name) {
	case "accountKeys":
		t.accounts(s)
	case "header":
		s.object(func(name []byte) {
			if string(name) == "numRequiredSignatures" {
				t.required = int(min(s.number(), 1<<16))
				return
			}
			s.skip()
		})
	case "addressTableLookups":
		if s.kind() != '[' {
			s.skip()
			return
		}
		t.lookups = [2]int{}
		s.array(func() { s.object(func(name []byte) { t.lookup(s, name) }) })
	default:
		s.skip()
	}
}

// lookup counts the addresses that the message loads from one table.
func (t *txReader) lookup(s *scanner, name []byte) {
	switch string(name) {
	case "writableIndexes":
		s.array(func() { s.skip(); t.lookups[0]++ })
	case "readonlyIndexes":
		s.array(func() { s.skip(); t.lookups[1]++ })
	default:
		s.skip()
	}
}

// accounts reads keys, which are strings, or objects with more data on each.
func (t *txReader) accounts(s *scanner) {
	s.array(func() {
		if s.kind() != '{' {
			t.static = append(t.static, s.text())
			return
		}
		t.marked = true
		var pubkey []byte
		signer, given := false, false
		s.object(func(name []byte) {
			switch string(name) {
			case "pubkey":
				pubkey = s.text()
			case "signer":
				signer, given = s.truth(), true
			default:
				s.skip()
			}
		})
		s.failed = s.failed || pubkey == nil || !given
		t.static, t.signers = append(t.static, pubkey), append(t.signers, signer)
	})
}

func (t *txReader) meta(s *scanner, name []byte) {
	switch string(name) {
	case "err":
		t.hasErr = true
		t.failed = s.kind() != 'n'
		s.skip()
	case "fee":
		t.fee, t.hasFee = s.number(), true
	case "preBalances":
		s.array(func() { t.before = append(t.before, s.number()) })
	case "postBalances":
		s.array(func() { t.after = append(t.after, s.number()) })
	case "loadedAddresses":
		s.object(func(name []byte) {
			switch string(name) {
			case "writable":
				s.array(func() { t.loaded[0] = append(t.loaded[0], s.text()) })
			case "readonly":
				s.array(func() { t.loaded[1] = append(t.loaded[1], s.text()) })
			default:
				s.skip()
			}
		})
	default:
		s.skip()
	}
}

// check compares a transaction's lists with each other.
func (t *txReader) check() error {
	if !t.hasMeta || !t.hasErr || !t.hasFee {
		return fmt.Errorf("%w: the outcome is missing", errBlock)
	}
	signers := t.signing()
	if signers < 1 || signers > len(t.static) || signers != t.sigs {
		return fmt.Errorf("%w: got %d signatures of %d signers", errBlock, t.sigs, signers)
	}
	for side, n := range t.lookups {
		if n >= 0 && n != len(t.loaded[side]) {
			return fmt.Errorf("%w: got %d of %d loaded addresses", errBalances, len(t.loaded[side]), n)
		}
	}
	if n := len(t.keys()); len(t.before) != n || len(t.after) != n {
		return fmt.Errorf("%w: got %d balances before and %d after, for %d accounts", errBalances, len(t.before),
			len(t.after), n)
	}
	return nil
}

// signing returns how many keys have to sign; -1 if unknown.
func (t *txReader) signing() int {
	if !t.marked {
		return t.required
	}
	n := 0
	for _, signer := range t.signers {
		if signer {
			n++
		}
	}
	return n
}

// signs reports whether the key in a place had to sign.
func (t *txReader) signs(place int) bool {
	if t.marked {
		return place < len(t.signers) && t.signers[place]
	}
	return place < t.required
}

// keys returns a transaction's accounts in the order of its balances: its own, then writable, then readonly loaded
// addresses (docs: getBlock, loadedAddresses). In the encoding `accounts` the node has already ordered them that way
// (Agave: parse_accounts), and they include all loaded addresses.
func (t *txReader) keys() [][]byte {
	if t.marked || len(t.loaded[0])+len(t.loaded[1]) == 0 {
		return t.static
	}
	if len(t.all) == 0 {
		t.all = append(append(append(t.all, t.static...), t.loaded[0]...), t.loaded[1]...)
	}
	return t.all
}

// conserves reports whether the sum of the accounts' balances after a transaction does not exceed the sum before it,
// less the fee.
func (t *txReader) conserves() bool {
	var before, after, carry, over uint64
	for i := range t.before {
		before, carry = bits.Add64(before, t.before[i], 0)
		over += carry
		after, carry = bits.Add64(after, t.after[i], 0)
		over += carry
	}
	after, carry = bits.Add64(after, t.fee, 0)
	return over+carry == 0 && after <= before
}
