package signer

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/signer/people"
)

// moves reports whether a request is one of those that a compromise order allows: a move of the hot wallet's money to
// the very address that the order names for the chain, a sweep to the hot wallet, from where such a move brings it
// there, and gas for a sweep. What the transaction says is compared with the request by the checks of its kind.
func moves(o people.CompromiseOrder, id bursar.ChainID, hot string, r chain.TxRequest) bool {
	to := o.To(id)
	if to == "" || len(r.Payments) != 1 {
		return false
	}
	p := r.Payments[0]
	switch r.Kind {
	case chain.KindToCold:
		return p.Address == bursar.Address{Base: to}
	case chain.KindSweep:
		return p.Address == bursar.Address{Base: hot}
	case chain.KindGasTopUp:
		return true // to a deposit address of ours, bounded, and counted as ever
	}
	return false
}

// underOrder refuses everything while a compromise order is in force but what that allows, whatever freezes there are.
//
// The attack: anyone who controls the service, when they learn that the order was used, has withdrawals signed that are
// paid before the moves to cold are.
func underOrder(ctx context.Context, tx memory.Tx, c *check) error {
	o, found, err := people.CompromiseInForce(ctx, tx)
	if err != nil || !found {
		return err
	}
	if !moves(o, c.bounds.Capabilities.ID, c.bounds.hot.Base, c.request) {
		return c.refuse(ReasonFrozen, "%s, and nothing is signed but what it moves", orderText(o))
	}
	c.order = &o
	return nil
}

func orderText(o people.CompromiseOrder) string {
	return fmt.Sprintf("compromise order %s is in force since %s", o.ID, memory.Minute(o.Since))
}

// mayMove reports whether a request could be allowed by a compromise order, without the state.
func (c *check) mayMove() bool {
	switch c.request.Kind {
	case chain.KindToCold, chain.KindSweep, chain.KindGasTopUp:
		return true
	}
	return false
}

// movesUnderOrder reports whether a compromise order stands in for the policy's rules, whose authors signed it, and for
// the limits of how many sweeps and moves to cold there are. What they cost counts as ever. Gas for deposit addresses
// has all its rules and limits, of which the sweeps of the order use up nothing.
func (c *check) movesUnderOrder() bool { return c.order != nil && c.request.Kind != chain.KindGasTopUp }

// leavesUnderOrder lets a signature out of a shut gate if the compromise order in force allows it.
func (s *Signer) leavesUnderOrder(id bursar.ChainID, request chain.TxRequest) (done func(), is bool, err error) {
	d := s.bounds[id]
	if d == nil {
		return nil, false, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), memory.AnswerTime)
	defer cancel()
	err = s.evaluator.keeper.Do(ctx, func(tx memory.Tx) error {
		o, found, err := people.CompromiseInForce(ctx, tx)
		is = err == nil && found && moves(o, id, d.hot.Base, request)
		return err
	})
	if err != nil || !is {
		return nil, false, err
	}
	done, err = s.evaluator.keeper.Gate().PassShut()
	return done, err == nil, err
}

// compromises returns what is known of compromise orders.
func (s *Signer) compromises(ctx context.Context, tx memory.Tx, now time.Time) (people.CompromiseStatus, error) {
	chains := slices.Sorted(maps.Keys(s.bounds))
	return people.CompromiseStatusOf(ctx, tx, chains, s.coldOf, now)
}

// coldOf returns the addresses of the configuration's cold wallets of a chain.
func (s *Signer) coldOf(id bursar.ChainID) []string {
	d := s.bounds[id]
	if d == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(d.cold))
}

// orderID returns the ID of the compromise order that allows a transaction; "" if none does.
func (c *check) orderID() string {
	if c.order == nil {
		return ""
	}
	return c.order.ID.String()
}
