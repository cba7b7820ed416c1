// Package follower assembles the follower of a chain with the handlers of its blocks.
//
// It owns no state and starts nothing. It is apart from the rest of the wiring so that what follows a single chain, as
// most tests do, is linked without the API, the console and the adapters of every chain.
package follower

import (
	"cmp"
	"log/slog"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/deposit"
	"github.com/bursar/bursar/follow"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/store"
)

// Following holds the parameters for following a chain.
type Following struct {
	DB              *store.DB
	Chain           chain.Chain
	Addresses       *follow.Addresses // of the chain's family, which its chains share; nil: of this chain alone
	Registry        *bursar.Registry
	IDs             *bursar.IDs
	Log             *slog.Logger
	Epoch           chain.Epoch    // the epoch of the hot wallet
	Hot             string         // the hot wallet's address on the chain
	OperatorAddress string         // the same if transfers to it are operator funds; empty if wallets share the address
	Old             []chain.Source // the hot wallets of earlier epochs
	Cold            []bursar.ColdWallet
	Pace            time.Duration
	Screened        bool // nothing is credited that the screening service has not passed
}

// Followed is a chain's follower with its block handlers.
type Followed struct {
	*follow.Follower
	Deposits  *deposit.Handler
	Externals *outgoing.Externals
	Quorum    *deposit.Quorum
}

// Follow assembles the follower of a chain and its handlers, and starts nothing.
func Follow(f Following) Followed {
	watched := f.watched()
	deposits := f.depositHandler(watched)
	cold := f.coldSpends(watched)
	externals := f.externals(watched)
	follower := follow.New(follow.Config{
		DB:       f.DB,
		Chain:    f.Chain,
		Watch:    watched.watch,
		Registry: f.Registry,
		Log:      f.Log,
		Hot:      f.OperatorAddress,
		Pace:     f.Pace,
		Handlers: outgoing.Handlers(externals, cold, deposits),
		Creditor: follow.Creditors{deposits, cold},
	})
	externals.MayForget = follower.MayForget
	opinions := &deposit.Quorum{
		DB:       f.DB,
		Chain:    f.Chain,
		Watch:    watched.watch,
		Registry: f.Registry,
		Log:      f.Log,
		Pace:     f.Pace,
		Deposits: deposits,
	}
	return Followed{Follower: follower, Deposits: deposits, Externals: externals, Quorum: opinions}
}

// watched are the addresses of a chain whose transfers are followed, in the forms that the handlers take.
type watched struct {
	watch *follow.Watch
	old   map[string]chain.KeyRef // the hot wallets of earlier epochs
	cold  map[string]bool
}

func (f Following) watched() watched {
	capabilities := f.Chain.Capabilities()
	addresses := cmp.Or(f.Addresses, follow.NewAddresses(f.DB, capabilities.Family))
	bases := bursar.ColdBases(f.Cold)
	ours, old := []string{f.Hot}, map[string]chain.KeyRef{}
	for _, s := range f.Old {
		ours, old[s.Base] = append(ours, s.Base), s.Key
	}
	isCold := map[string]bool{}
	for _, base := range bases {
		isCold[base] = true
	}
	return watched{watch: follow.NewColdWatch(addresses, capabilities, bases, ours...), old: old, cold: isCold}
}

func (f Following) depositHandler(w watched) *deposit.Handler {
	return &deposit.Handler{
		Announcer:    deposit.Announcer{Registry: f.Registry, IDs: f.IDs, Log: f.Log},
		DB:           f.DB,
		Capabilities: f.Chain.Capabilities(),
		Hot:          f.OperatorAddress,
		Old:          w.old,
		Screened:     f.Screened,
		Cold:         w.cold,
	}
}

func (f Following) coldSpends(w watched) *outgoing.ColdSpends {
	return &outgoing.ColdSpends{
		Capabilities: f.Chain.Capabilities(),
		Registry:     f.Registry,
		Log:          f.Log,
		Hot:          f.Hot,
		Old:          w.old,
		Bases:        w.cold,
	}
}

func (f Following) externals(w watched) *outgoing.Externals {
	capabilities := f.Chain.Capabilities()
	return &outgoing.Externals{Inclusions: &outgoing.Inclusions{
		Capabilities: capabilities,
		Registry:     f.Registry,
		IDs:          f.IDs,
		Log:          f.Log,
		Hot:          f.OperatorAddress,
		Key:          chain.HotIn(capabilities, f.Epoch),
		Old:          w.old,
	}, Cold: w.cold}
}
