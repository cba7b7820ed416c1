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
// addresses, and the transactions that were sent. It implements chain.Watch, chain.FoldedWatch, chain.ManyWatch,
// chain.OutputWatch and chain.ColdWatch.
type Watch struct {
	db    *store.DB
	chain bursar.ChainID
	depth uint64 // how far below the cursor a transaction of ours may still be reorged out

	own     *addressSet
	cold    map[string]bool // addresses of cold wallets; they are in own too
	wallets *Addresses

	mu      sync.RWMutex
	times   int // how often wallet was read from the beginning when sent was
	sent    *fingerprints
	started bool

	utxos bool            // the chain uses the UTXO model
	lost  map[string]bool // the outputs that funded UTXOs of ours which were reorged out
}

// NewWatch returns a watch that also knows the given addresses of the service, such as the hot wallet's.
func NewWatch(db *store.DB, capabilities chain.Capabilities, own ...string) *Watch {
	return NewSharedWatch(NewAddresses(db, capabilities.Family), capabilities, own...)
}

// NewSharedWatch is NewWatch with the addresses of the chain's family, which other watches may share.
func NewSharedWatch(wallets *Addresses, capabilities chain.Capabilities, own ...string) *Watch {
	w := &Watch{
		db:      wallets.db,
		chain:   capabilities.ID,
		depth:   uint64(capabilities.ReorgDepth),
		own:     newAddressSet(0),
		wallets: wallets,
		sent:    newFingerprints(),
		utxos:   capabilities.Model == chain.UTXOModel,
	}
	for _, base := range own {
		w.own.add(store.FoldedHash(base))
	}
	return w
}

// NewColdWatch is NewSharedWatch that also knows addresses of cold wallets.
func NewColdWatch(wallets *Addresses, capabilities chain.Capabilities, cold []string, own ...string) *Watch {
	w := NewSharedWatch(wallets, capabilities, append(own, cold...)...)
	w.cold = map[string]bool{}
	for _, base := range cold {
		w.cold[base] = true
	}
	return w
}

// HasCold implements chain.ColdWatch.
func (w *Watch) HasCold() bool { return len(w.cold) > 0 }

// IsCold implements chain.ColdWatch.
func (w *Watch) IsCold(base string) bool { return w.cold[base] }

// Forget makes everything be read again, because the database may have stepped back: addresses and transactions that
// only memory has are not ours, and numbers are given out a second time.
func (w *Watch) Forget() { w.wallets.forget() }

// Sync reads what was committed since the last call. Wallet numbers become visible in their order, so no number below
// the newest one that it has read can appear later. What was read stays read where the connection breaks in between.
func (w *Watch) Sync(ctx context.Context) error {
	release, err := w.db.Take(ctx, &w.wallets.turn)
	if err != nil {
		return err
	}
	defer release()
	for {
		var more bool
		err := w.db.View(ctx, func(tx *store.Tx) (err error) {
			if more, err = w.wallets.read(ctx, tx); err != nil || more {
				return err
			}
			return w.sync(ctx, tx)
		})
		if err != nil || !more {
			return err
		}
		if err := w.wallets.keep(ctx); err != nil {
			return err
		}
	}
}

// sync reads what the watch does not share with others.
func (w *Watch) sync(ctx context.Context, tx *store.Tx) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if times := w.wallets.started(); times != w.times {
		w.times, w.started, w.lost, w.sent = times, false, nil, newFingerprints()
	}
	if err := w.syncLost(ctx, tx); err != nil {
		return err
	}
	return w.syncSent(ctx, tx)
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
func (w *Watch) Pays(base string) bool { return w.pays(store.FoldedHash(base)) }

// PaysFolded is Pays for an address in small letters.
func (w *Watch) PaysFolded(lower []byte) bool { return w.pays(store.WatchedHash(lower)) }

func (w *Watch) pays(hash uint64) bool { return w.own.has(hash) || w.wallets.has(hash) }

// Sent reports whether a transaction is ours.
func (w *Watch) Sent(txID string) bool {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.sent.has(txID)
}
