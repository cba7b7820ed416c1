package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// OldHeld is what waits on a chain to be brought home from the keys of earlier epochs, of one currency. What is on its
// way from addresses is not part of it, nor what is at either that is not worth a sweep.
type OldHeld struct {
	Currency  bursar.CurrencyCode
	Hot       bursar.Amount // at the hot wallets of earlier epochs, as noted within the last minutes
	Addresses bursar.Amount // at addresses that were given out in them
	More      bool          // there is more than the first mostOld outputs or addresses, which were added up
}

// mostOld bounds how many outputs and addresses of a currency are added up.
const mostOld = 400

// EpochStatus says which epoch of the seed a chain is in, and what is left of those before.
type EpochStatus struct {
	Chain bursar.ChainID
	Keys  chain.Epoch // of this process
	Leads chain.Epoch // in which a service leads the chain
	Since time.Time   // when one first did; zero in the first epoch, and where an earlier release did not note it
	Hot   string      // hot wallet of Leads; empty if its keys are not here
	Held  []OldHeld   // nothing where this is empty
}

// EpochStatuses returns the epochs of every configured chain, from the database alone.
func (s *Service) EpochStatuses(ctx context.Context) (list []EpochStatus, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		for _, id := range s.order {
			one, err := s.epochStatus(ctx, tx, id)
			if err != nil {
				return fmt.Errorf("epochs of %s: %w", id, err)
			}
			list = append(list, one)
		}
		return nil
	})
	return list, err
}

func (s *Service) epochStatus(ctx context.Context, tx *store.Tx, id bursar.ChainID) (EpochStatus, error) {
	status := EpochStatus{Chain: id, Keys: s.Keys.Epoch()}
	state, err := tx.Chains().State(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return status, nil // the chain never ran with this database
	}
	if err != nil {
		return status, err
	}
	status.Leads, status.Since = chain.Epoch(state.Epoch), state.EpochSince
	if status.Hot, err = s.hotKnown(id, status.Leads); err != nil {
		return status, err
	}
	w := s.workers[id]
	if len(w.old) == 0 {
		return status, nil
	}
	for _, currency := range s.Registry.On(id) {
		var held OldHeld
		if w.chain.Capabilities().Model == chain.UTXOModel {
			held, err = s.oldOutputs(ctx, tx, w, state)
		} else {
			held, err = s.oldHoldings(ctx, tx, w, currency)
		}
		if err != nil {
			return status, err
		}
		if held.Currency = currency.Code; !held.Hot.IsZero() || !held.Addresses.IsZero() {
			status.Held = append(status.Held, held)
		}
	}
	return status, nil
}

// oldOutputs adds up the outputs of earlier epochs that no outgoing transaction has reserved.
func (s *Service) oldOutputs(
	ctx context.Context, tx *store.Tx, w *worker, state store.ChainState,
) (held OldHeld, err error) {
	utxos, err := tx.UTXOs().SpendableBelow(ctx, state.Chain, state.Final, state.Latest, bursar.ID{},
		w.hot.Key.Epoch().First(), mostOld)
	for _, c := range utxos {
		sum := &held.Addresses
		if c.Branch == chain.OwnBranch {
			sum = &held.Hot
		}
		if *sum, err = sum.Add(c.Amount); err != nil {
			return held, err
		}
	}
	held.More = len(utxos) == mostOld
	return held, err
}

// oldHoldings adds up what waits for a sweep at hot wallets of earlier epochs, and at their addresses.
func (s *Service) oldHoldings(
	ctx context.Context, tx *store.Tx, w *worker, currency bursar.Currency,
) (held OldHeld, err error) {
	isHot := map[string]bool{}
	for _, one := range w.old {
		h, err := tx.Holdings().Current(ctx, currency.Chain, one.Base, currency.Contract)
		if err != nil {
			return held, err
		}
		isHot[one.Base] = true
		if !h.Due {
			continue // dust, or what the chain demands of an account: it stays, and holds up no rotation
		}
		if held.Hot, err = held.Hot.Add(h.Amount); err != nil {
			return held, err
		}
	}
	due, err := tx.Holdings().DueBelow(ctx, currency.Chain, currency, w.hot.Key.Epoch().First(), mostOld)
	for _, h := range due {
		if isHot[h.Base] {
			continue
		}
		if held.Addresses, err = held.Addresses.Add(h.Amount); err != nil {
			return held, err
		}
	}
	held.More = len(due) == mostOld
	return held, err
}

var (
	keyEpoch   = newGauge("epoch", "Epoch of the seed whose keys the process has.")
	chainEpoch = newGauge("chain_epoch", "Epoch of the seed in which a process leads the chain.", "chain")
	oldEpochs  = newGauge("old_epoch_held",
		"What waits to be brought home from earlier epochs, in whole units: at their hot wallets or at addresses.",
		"currency", "place")
)

// epochs exports the epochs, and what is left of earlier ones.
func (m metrics) epochs(ctx context.Context, tx *store.Tx, out chan<- prometheus.Metric) error {
	keyEpoch.set(out, float64(m.service.Keys.Epoch()))
	for _, id := range m.service.order {
		status, err := m.service.epochStatus(ctx, tx, id)
		if err != nil {
			return err
		}
		chainEpoch.set(out, float64(status.Leads), string(id))
		for _, held := range status.Held {
			currency, err := m.service.Registry.Get(held.Currency)
			if err != nil {
				return err
			}
			oldEpochs.set(out, whole(currency, held.Hot), string(held.Currency), "hot")
			oldEpochs.set(out, whole(currency, held.Addresses), string(held.Currency), "addresses")
		}
	}
	return nil
}
