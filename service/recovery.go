package service

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

// Assessor returns what assesses the external spends of a chain.
func (s *Service) Assessor(id bursar.ChainID) (recovery.Assessor, error) {
	w, found := s.workers[id]
	if !found {
		return recovery.Assessor{}, fmt.Errorf("chain %q is not configured", id)
	}
	assessor := outgoing.NewAssessor(w.chain.Capabilities(), s.Registry, s.IDs, w.hot, s.log)
	assessor.Old = w.old
	return assessor, nil
}

// unpaid is withdrawal.Config.Unpaid. Of a chain that is not configured nothing is known.
func (s *Service) unpaid(ctx context.Context, tx *store.Tx, w bursar.Withdrawal) error {
	currency, err := s.Registry.Get(w.Currency)
	if err != nil {
		return err
	}
	assessor, err := s.Assessor(currency.Chain)
	if err != nil {
		return nil //nolint:nilerr // its nodes are not asked either
	}
	return outgoing.Unpaid(ctx, tx, assessor, w)
}

// RecoveringChain is a chain whose database is older than the chain, with what its recovery waits for.
type RecoveringChain struct {
	store.Recovery
	Height            int64 // of the last block recorded
	Final             uint64
	Unclear           int
	ForgottenPayments []store.ForgottenPayment // transactions that wait to be signed again and put back
}

// WaitsFor describes to operators what a recovery waits for.
func (r RecoveringChain) WaitsFor() string {
	switch {
	case len(r.ForgottenPayments) > 0:
		return fmt.Sprintf("%d forgotten transactions to be signed again%s", len(r.ForgottenPayments),
			after(r.ForgottenPayments[0].Error))
	case r.Unclear > 0:
		return fmt.Sprintf("your explanation of %d payments", r.Unclear)
	case r.From < 0:
		return "the follower to catch up"
	case r.Released, r.Journaled:
		return "the next step of the follower"
	case r.Until < 0:
		return fmt.Sprintf("blocks after %d, until nothing that was signed before can still be included", r.From)
	}
	return fmt.Sprintf("block %d to be final (final: %d)", r.Until, r.Final)
}

// after appends a reason to a text if there is one.
func after(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}

// UnclearExternalSpend is an external spend that an operator has to explain, with the candidates for it.
type UnclearExternalSpend struct {
	store.ExternalSpend
	Paid       []string // "0.6 BTC to bc1…"
	Candidates []bursar.Withdrawal
}

// unclearAtOnce bounds how many unclear payments are read.
const unclearAtOnce = 1000

// Recoveries returns the recovering chains and all unclear external spends.
func (s *Service) Recoveries(ctx context.Context) (chains []RecoveringChain, items []UnclearExternalSpend, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		unclear, err := tx.ExternalSpends().List(ctx, "", store.ExternalUnclear, unclearAtOnce)
		if err != nil {
			return err
		}
		count := map[bursar.ChainID]int{}
		for _, x := range unclear {
			count[x.Chain]++
			item, err := s.unclear(ctx, tx, x)
			if err != nil {
				return err
			}
			items = append(items, item)
		}
		states, err := tx.Chains().States(ctx)
		if err != nil {
			return err
		}
		for _, state := range states {
			is, err := tx.Recoveries().IsOpen(ctx, state.Chain)
			if err != nil {
				return err
			}
			if !is {
				continue
			}
			r, err := tx.Recoveries().Get(ctx, state.Chain)
			if err != nil {
				return err
			}
			forgotten, err := tx.ForgottenPayments().List(ctx, state.Chain, unclearAtOnce)
			if err != nil {
				return err
			}
			chains = append(chains, RecoveringChain{
				Recovery:          r,
				Height:            state.Height,
				Final:             state.Final,
				Unclear:           count[state.Chain],
				ForgottenPayments: forgotten,
			})
		}
		return nil
	})
	return chains, items, err
}

func (s *Service) unclear(
	ctx context.Context, tx *store.Tx, x store.ExternalSpend,
) (item UnclearExternalSpend, err error) {
	item.ExternalSpend = x
	assessor, err := s.Assessor(x.Chain)
	if err != nil {
		return item, nil // not configured now: listed all the same
	}
	var payments []chain.Payment
	if err := json.Unmarshal(x.Payments, &payments); err != nil {
		return item, fmt.Errorf("read the payments of %s: %w", x.TxID, err)
	}
	for _, p := range payments {
		if p.Address.Base != assessor.Hot.Base {
			item.Paid = append(item.Paid, assessor.Describe(p))
		}
	}
	if item.Candidates, err = assessor.Journaled(ctx, tx, x); err != nil {
		return item, err
	}
	byAddress, err := assessor.Candidates(ctx, tx, payments)
	for _, w := range byAddress {
		if !slices.ContainsFunc(item.Candidates, func(j bursar.Withdrawal) bool { return j.ID == w.ID }) {
			item.Candidates = append(item.Candidates, w)
		}
	}
	return item, err
}

// Explain applies an operator's explanation of an unclear external spend.
func (s *Service) Explain(ctx context.Context, a recovery.Answer) error {
	return s.DB.Do(ctx, func(tx *store.Tx) error {
		x, err := tx.ExternalSpends().Get(ctx, a.Item)
		if err != nil {
			return err
		}
		assessor, err := s.Assessor(x.Chain)
		if err != nil {
			return err
		}
		if _, err := tx.Chains().Lock(ctx, x.Chain); err != nil {
			return err
		}
		if err := assessor.Resolve(ctx, tx, a); err != nil {
			return err
		}
		return tx.Alarms().Resolve(ctx, recovery.AlarmUnclear, x.TxID)
	})
}

// Deny records an operator's word that an external spend did not pay a withdrawal which is held for it: see
// recovery.Assessor.
func (s *Service) Deny(ctx context.Context, d recovery.Denial) error {
	if err := store.Behind(s.behind).Refuse(ctx, "the withdrawal"); err != nil {
		return err
	}
	return s.DB.Do(ctx, func(tx *store.Tx) error {
		w, err := tx.Withdrawals().ByID(ctx, d.Withdrawal)
		if err != nil {
			return err
		}
		currency, err := s.Registry.Get(w.Currency)
		if err != nil {
			return err
		}
		assessor, err := s.Assessor(currency.Chain)
		if err != nil {
			return err
		}
		if _, err := tx.Chains().Lock(ctx, currency.Chain); err != nil {
			return err
		}
		return assessor.Deny(ctx, tx, d)
	})
}

// GiveUpForgotten ends the wait for a forgotten transaction that cannot be signed again, on whichever chain it is: see
// recovery.Assessor.
func (s *Service) GiveUpForgotten(ctx context.Context, id bursar.ID, reason string) error {
	return s.DB.Do(ctx, func(tx *store.Tx) error {
		chainID, err := tx.ForgottenPayments().ChainOf(ctx, id)
		if err != nil {
			return err
		}
		assessor, err := s.Assessor(chainID)
		if err != nil {
			return err
		}
		if _, err := tx.Chains().Lock(ctx, chainID); err != nil {
			return err
		}
		return assessor.GiveUpForgotten(ctx, tx, id, reason)
	})
}

var (
	chainRecovering = newGauge("chain_recovering",
		"1 while the database is older than the chain and nothing is paid on it.", "chain")
	recoveryUnclear = newGauge("recovery_unclear",
		"Payments missing from the database that an operator has to explain.", "chain")
)

func (m metrics) recoveries(ctx context.Context, tx *store.Tx, out chan<- prometheus.Metric) error {
	for _, id := range m.service.order {
		is, err := tx.Recoveries().IsOpen(ctx, id)
		if err != nil {
			return err
		}
		unclear, err := tx.ExternalSpends().List(ctx, id, store.ExternalUnclear, unclearAtOnce)
		if err != nil {
			return err
		}
		chainRecovering.set(out, truth(is), string(id))
		recoveryUnclear.set(out, float64(len(unclear)), string(id))
	}
	return nil
}
