package evm

import (
	"bytes"
	"encoding/hex"
)

// mention is a watched address with the transactions that mention it, in order. Transactions that mention it only as
// the receiver of a listed token are kept separately: such a contract sends no native value, so they count only if
// nothing else mentions the address.
type mention struct {
	address
	base   string
	others []int
	tokens []int
}

// txs returns the transactions that may have sent value, at least one.
func (m mention) txs() []int {
	if len(m.others) > 0 {
		return m.others
	}
	return m.tokens
}

// mentions collects them.
type mentions struct {
	found  []mention
	places map[address]int
}

// add records that transaction i mentions one of our addresses.
func (m *mentions) add(a address, base string, i int, token bool) {
	place, known := m.places[a]
	if !known {
		place = len(m.found)
		m.places[a] = place
		m.found = append(m.found, mention{address: a, base: base})
	}
	txs := &m.found[place].others
	if token {
		txs = &m.found[place].tokens
	}
	if n := len(*txs); n == 0 || (*txs)[n-1] != i {
		*txs = append(*txs, i)
	}
}

// mentioned finds the watched addresses that the successful untraced transactions mention: in their call data, in
// topics or data of their logs, or as receivers of value that the chain itself logs.
func (w *scanner) mentioned(listed map[address]Token) ([]mention, error) {
	all := mentions{places: map[address]int{}}
	buffer := make([]byte, 0, 4096)
	for i := w.untraced.from; i < w.untraced.to; i++ {
		if !w.mayPay(i) {
			continue
		}
		_, token := listed[w.Txs[i].To.address]
		note := func(a address) {
			if base := w.pays(a); base != "" {
				all.add(a, base, i, token)
			}
		}
		var err error
		if buffer, err = w.Txs[i].Input.bytes(buffer[:0]); err != nil {
			return nil, err
		}
		inCalldata(buffer, note)
		for _, a := range w.receipts[i].named {
			note(a)
		}
		w.moved(i, note)
		token = true
		for _, e := range w.receipts[i].tokens {
			note(e.to)
		}
	}
	return all.found, nil
}

// moved passes on the receivers of value that the chain itself logs, except those of the transaction's own value.
func (w *scanner) moved(i int, note func(address)) {
	own, pays := w.own(i)
	for _, m := range w.receipts[i].moves {
		if pays && m.from == own.from && m.to == own.to && m.value == own.value {
			pays = false
			continue
		}
		note(m.to)
	}
}

var twelveZeros [12]byte

// inWord passes on a word that can be an address.
func inWord(word [32]byte, note func(address)) {
	if [12]byte(word[:12]) == twelveZeros && !small(word[12:]) {
		note(address(word[12:]))
	}
}

const zeroDigits = "000000000000000000000000"

// inDigits passes on every word of 64 hexadecimal digits that can be an address.
func inDigits(data text, note func(address)) {
	for ; len(data) >= 64; data = data[64:] {
		if string(data[:24]) != zeroDigits || string(data[24:40]) == zeroDigits[:16] {
			continue
		}
		var a address
		if _, err := hex.Decode(a[:], data[24:64]); err == nil {
			note(a)
		}
	}
}

// inCalldata passes on the addresses that call data can contain: in words after the selector, or packed anywhere as 20
// bytes. A window with many zeros is a number or padding, and not the address of a key: 4 zeros in 20 bytes happen once
// in a million.
func inCalldata(data []byte, note func(address)) {
	if len(data) < 20 {
		return
	}
	zeros := 0
	for _, b := range data[:19] {
		if b == 0 {
			zeros++
		}
	}
	for end := 20; end <= len(data); end++ {
		if data[end-1] == 0 {
			zeros++
		}
		if zeros < maxZeros || end >= 36 && (end-4)%32 == 0 && !small(data[end-20:end]) &&
			bytes.Equal(data[end-32:end-20], twelveZeros[:]) {
			note(address(data[end-20 : end]))
		}
		if data[end-20] == 0 {
			zeros--
		}
	}
}

// maxZeros is the number of zero bytes from which a packed value is not an address.
const maxZeros = 4

// small reports whether 20 bytes are a number below 2^96, which no key's address is.
func small(a []byte) bool { return bytes.Equal(a[:8], twelveZeros[:8]) }
