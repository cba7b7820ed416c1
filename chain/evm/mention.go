package evm

import "bytes"

// mention is a watched address with the transactions whose contract calls name it.
type mention struct {
	address
	base string
	txs  []int // in order, at least one
}

// mentioned finds the watched addresses that successful contract calls name in their call data, or in topics or data of
// their logs. Logs of quiet contracts say nothing new.
func (w *scanner) mentioned(quiet map[address]bool) ([]mention, error) {
	var found []mention
	places := map[address]int{}
	buffer := make([]byte, 0, 4096)
	for i := range w.Txs {
		if !ran(w.receipts[i]) {
			continue
		}
		note := func(a address) {
			base := w.pays(a)
			if base == "" {
				return
			}
			place, known := places[a]
			if !known {
				place = len(found)
				places[a] = place
				found = append(found, mention{address: a, base: base})
			}
			if m := &found[place]; len(m.txs) == 0 || m.txs[len(m.txs)-1] != i {
				m.txs = append(m.txs, i)
			}
		}
		var err error
		if buffer, err = w.Txs[i].Input.bytes(buffer[:0]); err != nil {
			return nil, err
		}
		inCalldata(buffer, note)
		for _, log := range w.receipts[i].Logs {
			if quiet[log.Address] {
				continue
			}
			for _, topic := range log.Topics {
				inWords(topic[:], note)
			}
			if buffer, err = log.Data.bytes(buffer[:0]); err != nil {
				return nil, err
			}
			inWords(buffer, note)
		}
	}
	return found, nil
}

var twelveZeros [12]byte

// inWords notes every 32-byte word that can be an address.
func inWords(data []byte, note func(address)) {
	for ; len(data) >= 32; data = data[32:] {
		if bytes.Equal(data[:12], twelveZeros[:]) && !small(data[12:32]) {
			note(address(data[12:32]))
		}
	}
}

// inCalldata notes the addresses that call data can name: in words after the selector, or packed anywhere as 20 bytes.
// A window with many zeros is a number or padding, and no key's address is one: 4 zeros in 20 bytes happen once in a million.
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
		if zeros < maxZeros || end >= 36 && (end-4)%32 == 0 && !small(data[end-20:end]) && bytes.Equal(data[end-32:end-20], twelveZeros[:]) {
			note(address(data[end-20 : end]))
		}
		if data[end-20] == 0 {
			zeros--
		}
	}
}

// maxZeros is how many zero bytes a packed address may not have.
const maxZeros = 4

// small reports whether 20 bytes are a number below 2^96: no key's address is.
func small(a []byte) bool { return bytes.Equal(a[:8], twelveZeros[:8]) }
