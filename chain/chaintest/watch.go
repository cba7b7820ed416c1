package chaintest

import (
	"context"
	"strings"
	"sync"

	"github.com/bursar/bursar/chain"
)

var (
	_ chain.Watch       = (*Watch)(nil)
	_ chain.ManyWatch   = (*Watch)(nil)
	_ chain.OutputWatch = (*Watch)(nil)
	_ chain.ColdWatch   = (*Watch)(nil)
)

// Watch is a set of addresses and of sent transactions. It is safe for concurrent use.
type Watch struct {
	mu        sync.Mutex
	bases     map[string]bool
	cold      map[string]bool
	sent      map[string]bool
	resources map[string]bool
	syncs     int
	blind     int // how many questions came before the first Sync
	onSync    func(nth int)
}

// NewWatch returns a watch over some bases.
func NewWatch(bases ...string) *Watch {
	w := &Watch{bases: map[string]bool{}, sent: map[string]bool{}, resources: map[string]bool{}}
	w.Add(bases...)
	return w
}

// Add makes bases visible at once.
func (w *Watch) Add(bases ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, base := range bases {
		w.bases[base] = true
	}
}

// AddCold makes the addresses of cold wallets visible at once.
func (w *Watch) AddCold(bases ...string) {
	w.Add(bases...)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cold = map[string]bool{}
	for _, base := range bases {
		w.cold[base] = true
	}
}

// HasCold implements chain.ColdWatch.
func (w *Watch) HasCold() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.cold) > 0
}

// IsCold implements chain.ColdWatch.
func (w *Watch) IsCold(base string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.cold[base]
}

// AddSent adds transactions of ours.
func (w *Watch) AddSent(txIDs ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, txID := range txIDs {
		w.sent[txID] = true
	}
}

// Ask makes the watch ask which transactions spend the named outputs.
func (w *Watch) Ask(resources ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, resource := range resources {
		w.resources[resource] = true
	}
}

// OnSync sets a function that each Sync calls with its number, from 1; the function may call Add.
func (w *Watch) OnSync(do func(nth int)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.onSync = do
}

// Syncs returns how often Sync was called.
func (w *Watch) Syncs() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.syncs
}

// Blind returns how many questions came before the first Sync, which an adapter must not ask.
func (w *Watch) Blind() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.blind
}

// Sync counts the call and calls the function that OnSync set.
func (w *Watch) Sync(ctx context.Context) error {
	w.mu.Lock()
	w.syncs++
	nth, do := w.syncs, w.onSync
	w.mu.Unlock()
	if do != nil {
		do(nth)
	}
	return ctx.Err()
}

// Pays reports whether a base is in the set.
func (w *Watch) Pays(base string) bool { return w.ask(w.bases, base) }

// Sent reports whether a transaction is in the set.
func (w *Watch) Sent(txID string) bool { return w.ask(w.sent, txID) }

// PaysAny calls found for each base that is in the set.
func (w *Watch) PaysAny(texts []byte, size int, found func(i int)) {
	w.askAny(w.bases, texts, size, found)
}

// SentAny calls found for each transaction that is in the set.
func (w *Watch) SentAny(texts []byte, size int, found func(i int)) {
	w.askAny(w.sent, texts, size, found)
}

// AsksSpends reports whether Ask named anything.
func (w *Watch) AsksSpends() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.resources) > 0
}

// Spends reports whether Ask named an output.
func (w *Watch) Spends(resource string) bool { return w.ask(w.resources, resource) }

func (w *Watch) ask(set map[string]bool, member string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.syncs == 0 {
		w.blind++
	}
	return set[member]
}

func (w *Watch) askAny(set map[string]bool, texts []byte, size int, found func(i int)) {
	w.mu.Lock()
	lower := make(map[string]bool, len(set))
	for member := range set {
		lower[strings.ToLower(member)] = true
	}
	w.mu.Unlock()
	for i := range len(texts) / size {
		if w.ask(lower, string(texts[i*size:(i+1)*size])) {
			found(i)
		}
	}
}
