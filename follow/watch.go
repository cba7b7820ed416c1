package follow

import (
	"context"
	"math"
	"sync"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// Watch is what is ours on one chain, in memory: the address of every wallet of the family, the service's own
// addresses, and the transactions that were sent. It implements chain.Watch, chain.FoldedWatch and chain.OutputWatch.
type Watch struct {
	db     *store.DB
	chain  bursar.ChainID
	family bursar.Family
	depth  uint64 // how far below the cursor a transaction of ours may still be reorged out

	own []string

	mu      sync.RWMutex
	stale   bool // the database has stepped back: everything is read again
	bases   *fingerprints
	sent    *fingerprints
	newest  int64 // the wallet number up to which bases is complete
	gaps    int64 // the gap address up to which bases is complete
	started bool

	utxos bool            // the chain uses the UTXO model
	lost  map[string]bool // the outputs that funded UTXOs of ours which were reorged out
}

// NewWatch returns a watch that also knows the given addresses of the service, such as the hot wallet's.
func NewWatch(db *store.DB, capabilities chain.Capabilities, own ...string) *Watch {
	w := &Watch{
		db:     db,
		chain:  capabilities.ID,
		family: capabilities.Family,
		depth:  uint64(capabilities.ReorgDepth),
		own:    own,
		utxos:  capabilities.Model == chain.UTXOModel,
	}
	w.clear()
	return w
}

// Forget makes everything be read again, because the database may have stepped back: addresses and transactions that
// only memory has are not ours, and numbers are given out a second time.
func (w *Watch) Forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stale = true
}

func (w *Watch) clear() {
	w.stale, w.started, w.newest, w.gaps, w.lost = false, false, 0, 0, nil
	w.bases, w.sent = newFingerprints(), newFingerprints()
	for _, base := range w.own {
		w.bases.add(base)
	}
}

// Sync reads what was committed since the last call. Wallet numbers become visible in their order, so no number below
// the newest one that it has read can appear later.
func (w *Watch) Sync(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.db.View(ctx, func(tx *store.Tx) error {
		newest, err := tx.Wallets().Newest(ctx)
		if err != nil {
			return err
		}
		if w.stale || newest < w.newest {
			w.clear()
		}
		// Millions of wallets take a while: what was read is kept where the connection breaks in between.
		err = tx.Wallets().EachWatched(ctx, w.family, w.newest, newest, w.bases.add, func(upTo int64) { w.newest = upTo })
		if err != nil {
			return err
		}
		if err := w.syncLost(ctx, tx); err != nil {
			return err
		}
		gaps, err := tx.GapAddresses().After(ctx, w.family, w.gaps)
		if err != nil {
			return err
		}
		for _, g := range gaps {
			w.bases.add(g.Base)
			w.gaps = g.Number
		}
		return w.syncSent(ctx, tx)
	})
}

// syncLost reads what funded UTXOs of ours that were reorged out, which is nearly always nothing.
func (w *Watch) syncLost(ctx context.Context, tx *store.Tx) error {
	if !w.utxos {
		return nil
	}
	inputs, err := tx.UTXOs().LostInputs(ctx, w.chain)
	if err != nil {
		return err
	}
	w.lost = make(map[string]bool, len(inputs))
	for _, input := range inputs {
		w.lost[input] = true
	}
	return nil
}

// AsksSpends reports whether a UTXO of ours has been reorged out, so that the outputs that funded it are watched.
func (w *Watch) AsksSpends() bool {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return len(w.lost) > 0
}

// Spends reports whether an output funded a UTXO of ours that was reorged out.
func (w *Watch) Spends(resource string) bool {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.lost[resource]
}

// syncSent adds the open outgoing transactions. A transaction that is final now was open while the block that holds it
// was searched, so only the first call must look for those that a reorg could bring back.
func (w *Watch) syncSent(ctx context.Context, tx *store.Tx) error {
	from := uint64(math.MaxInt64)
	if !w.started {
		state, err := tx.Chains().State(ctx, w.chain)
		if err != nil {
			return err
		}
		from = uint64(max(0, state.Height-int64(w.depth)))
	}
	ids, err := tx.Outgoing().OpenTxIDs(ctx, w.chain, from)
	if err != nil {
		return err
	}
	for _, id := range ids {
		w.sent.add(id)
	}
	w.started = true
	return nil
}

// Pays reports whether an address is ours.
func (w *Watch) Pays(base string) bool {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.bases.has(base)
}

// PaysFolded is Pays for an address in small letters.
func (w *Watch) PaysFolded(lower []byte) bool {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.bases.hasFolded(lower)
}

// Sent reports whether a transaction is ours.
func (w *Watch) Sent(txID string) bool {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.sent.has(txID)
}
