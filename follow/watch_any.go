package follow

import "github.com/bursar/bursar/store"

// askedAtOnce is how many addresses are fetched together: as many as a processor waits for at once, and more.
const askedAtOnce = 64

// PaysAny reports which of many addresses in lower case are ours. See chain.ManyWatch.
func (w *Watch) PaysAny(texts []byte, size int, found func(i int)) {
	var buffer [askedAtOnce]uint64
	for done := 0; len(texts) >= size; done += askedAtOnce {
		hashes := buffer[:0]
		for ; len(texts) >= size && len(hashes) < askedAtOnce; texts = texts[size:] {
			hashes = append(hashes, store.WatchedHash(texts[:size]))
		}
		w.wallets.hasAny(hashes, w.own.has, func(i int) { found(done + i) })
	}
}

// SentAny reports which of many transactions in lower case are ours. See chain.ManyWatch.
func (w *Watch) SentAny(texts []byte, size int, found func(i int)) {
	w.mu.RLock()
	defer w.mu.RUnlock()
	for i := 0; len(texts) >= size; i, texts = i+1, texts[size:] {
		if w.sent.hasFolded(texts[:size]) {
			found(i)
		}
	}
}
