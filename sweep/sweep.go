// Package sweep requests sweeps: outgoing transactions that bring deposits from their addresses to the hot wallet, on
// chains that use the account model. Package outgoing carries them out.
//
// It owns the decision what to sweep and when. It never signs or sends, and books nothing: moving money between
// addresses of ours changes no ledger account except that of network fees. Its invariant: an amount is swept only if it
// is worth the fee, by rates or by what the operator configured, or if payments wait for its token.
package sweep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/store"
)

// atOnce is the maximum number of sweeps of one currency in progress: of tokens, a quarter of a block of Ethereum.
// Those that fail for an unforeseen reason are not counted: addresses that a token's issuer has frozen do not stop the
// sweeps of others.
const atOnce = 128

// Sweeper collects on one chain while its process holds the chain lease.
type Sweeper struct {
	DB       *store.DB
	Chain    chain.Chain
	Registry *bursar.Registry
	IDs      *bursar.IDs
	Log      *slog.Logger
	Hot      chain.Source
	Old      []chain.Source // the hot wallets of earlier epochs, which are emptied
	MaxFee   bursar.Amount  // the highest fee of one transaction, in the native asset
	Pace     time.Duration

	// Rates returns what a whole unit of a currency is worth in USDT, the zero Rate if that is not known; nil: no rate
	// is known.
	Rates interface {
		Rate(code bursar.CurrencyCode) bursar.Rate
	}
	// Suspended returns why a currency is suspended, "" if it is not; nil: no currency is suspended.
	Suspended func(code bursar.CurrencyCode) string

	// Emptying returns the compromise order that is in force at the signer; nil: there is none.
	Emptying func() outgoing.Emptying

	askedOld time.Time // when the chain was asked last what the old hot wallets hold
}

// Run requests sweeps until ctx ends or the lease is lost. Chains that use the UTXO model, or whose wallets share the
// hot wallet's address, have nothing to sweep.
func (s *Sweeper) Run(ctx context.Context, lease store.Lease) error {
	capabilities := s.Chain.Capabilities()
	if capabilities.Model != chain.AccountModel || capabilities.SharedAddress {
		<-ctx.Done()
		return ctx.Err()
	}
	return store.Work{
		Pace: cmp.Or(s.Pace, 4*capabilities.Pace),
		Step: func(ctx context.Context) (bool, error) { return false, s.Step(ctx, lease) },
		Failed: func(failures int, err error) {
			s.Log.Warn("sweeps cannot be requested now", "chain", capabilities.ID, "failures", failures, "error", err)
		},
	}.Run(ctx)
}

// Step requests the sweeps that are worth their fee now, and those that payments wait for. An error of one currency
// does not hold up the others.
func (s *Sweeper) Step(ctx context.Context, lease store.Lease) error {
	id := s.Chain.Capabilities().ID
	var codes []bursar.CurrencyCode
	lacking := map[bursar.CurrencyCode]bursar.Amount{}
	emptied := s.emptying()
	if emptied.Order != "" && emptied.To == "" {
		return nil // the signer would refuse
	}
	err := s.DB.View(ctx, func(tx *store.Tx) error {
		state, err := tx.Chains().State(ctx, id)
		if err != nil || state.Halted != "" || !state.Ready(lease) {
			return err
		}
		if codes, err = outgoing.Served(ctx, tx, s.Registry, id, s.Suspended); err != nil {
			return err
		}
		short, err := tx.Outgoing().Shortages(ctx, id)
		for _, one := range short {
			if one.Wait == bursar.WaitsForFunds {
				lacking[one.Currency] = one.Missing
			}
		}
		return err
	})
	if err == nil {
		err = s.refreshOld(ctx, lease, codes)
	}
	for _, code := range codes {
		failed := s.collect(ctx, lease, code, lacking[code])
		if errors.Is(failed, store.ErrLeaseLost) || ctx.Err() != nil {
			return failed
		}
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("sweeps of %s: %w", code, failed))
		}
	}
	return err
}

// collect requests sweeps of one currency: the largest amounts first, as long as they are worth it or payments need
// them.
func (s *Sweeper) collect(
	ctx context.Context, lease store.Lease, code bursar.CurrencyCode, lacking bursar.Amount,
) error {
	currency, err := s.Registry.Get(code)
	if err != nil {
		return err
	}
	var due []store.Holding
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		open, err := tx.Outgoing().OpenSweeps(ctx, currency.Chain, code, atOnce)
		if err != nil || len(open) >= atOnce {
			return err
		}
		if lacking, err = without(lacking, open); err != nil {
			return err
		}
		if due, err = tx.Holdings().Due(ctx, currency.Chain, currency, atOnce-len(open)); err != nil {
			return err
		}
		due, err = s.withOld(ctx, tx, currency, due)
		return err
	})
	if err != nil || len(due) == 0 {
		return err
	}
	price, err := s.price(ctx, currency, due[0])
	if err != nil {
		return err
	}
	var wanted []store.Holding
	for _, h := range due {
		if !price.worth(h.Amount, !lacking.IsZero() || s.emptying().Order != "") && !s.leaves(h, price) {
			continue // as the others, which are smaller, unless one is a hot wallet of an earlier epoch
		}
		wanted = append(wanted, h)
		lacking = lacking.SubOrZero(h.Amount)
	}
	return s.request(ctx, lease, currency, wanted)
}

// emptying returns the compromise order that is in force. Then every sweep is as urgent as if payments waited for it.
func (s *Sweeper) emptying() outgoing.Emptying {
	if s.Emptying == nil {
		return outgoing.Emptying{}
	}
	return s.Emptying()
}

// without returns what is missing beyond what the sweeps in progress bring.
func without(lacking bursar.Amount, open []bursar.OutgoingTx) (bursar.Amount, error) {
	for _, p := range open {
		request, err := outgoing.DecodeRequest(p)
		if err != nil {
			return lacking, err
		}
		lacking = lacking.SubOrZero(request.Payments[0].Amount)
	}
	return lacking, nil
}

// request records a sweep of each holding, all in one database transaction.
func (s *Sweeper) request(
	ctx context.Context, lease store.Lease, currency bursar.Currency, wanted []store.Holding,
) error {
	if len(wanted) == 0 {
		return nil
	}
	requests := make([]chain.TxRequest, len(wanted))
	for i, h := range wanted {
		requests[i] = s.requestOf(h)
	}
	id := s.Chain.Capabilities().ID
	return s.DB.Do(ctx, func(tx *store.Tx) error {
		if _, err := tx.Leases().Fence(ctx, lease); err != nil {
			return err
		}
		for _, request := range requests {
			recorded, err := outgoing.InsertSweep(ctx, tx, id, request, currency.Code)
			if err != nil {
				return err
			}
			if !recorded {
				continue // another sweep of the address is open
			}
			tx.After(func() {
				s.Log.Info("sweep requested", "outgoing", request.ID, "chain", id, "address", request.From.Base,
					"currency", currency.Code)
			})
		}
		return nil
	})
}

// requestOf is the request for a sweep of what an address holds.
func (s *Sweeper) requestOf(h store.Holding) chain.TxRequest {
	key := chain.KeyRef{Family: s.Chain.Capabilities().Family, Branch: h.Branch, Index: h.Index}
	return chain.TxRequest{
		ID:   s.IDs.Next(),
		Kind: chain.KindSweep,
		Payments: []chain.Payment{
			{Address: bursar.Address{Base: s.Hot.Base}, Contract: h.Contract, Amount: h.Amount},
		},
		From:   chain.Source{Base: h.Base, Key: key},
		MaxFee: s.MaxFee,
	}
}
