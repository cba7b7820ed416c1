package signer

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/signer/memory"
)

// addHots derives the hot wallets of a chain: that of the epoch in force, and those of the epochs before.
func (d *chainBounds) addHots(keys *Keys) error {
	d.hots = map[string]chain.Source{}
	d.epoch = chain.HotIn(d.Capabilities, keys.Epoch()).Epoch()
	for e := range d.epoch + 1 {
		key := chain.HotIn(d.Capabilities, e)
		base, err := d.baseOf(keys, key)
		if err != nil {
			return err
		}
		d.hot = chain.Source{Key: key, Base: base}
		d.hots[base] = d.hot
	}
	return nil
}

// isHot reports whether a source is the hot wallet of an epoch.
func (d *chainBounds) isHot(s chain.Source) bool { return d.hots[s.Base].Is(s) && s.Base != "" }

// home returns the address to which a transaction returns what it does not pay: the hot wallet's, or that of an earlier
// epoch, if the request says so. Whether it may is for sweepOld to say.
func (c *check) home() string {
	home := c.request.Change.Base
	switch c.request.Kind {
	case chain.KindSweep, chain.KindConsolidation:
		home = c.request.Payments[0].Address.Base
	default:
		if c.bounds.Capabilities.Model == chain.AccountModel {
			return c.bounds.hot.Base
		}
	}
	if _, ours := c.bounds.hots[home]; ours {
		return home
	}
	return c.bounds.hot.Base
}

// returnsHome reports whether a payment goes home without a memo, which could direct it elsewhere.
func (c *check) returnsHome(p chain.Payment) bool { return p.Address == bursar.Address{Base: c.home()} }

// usesOld reports whether a key of an earlier epoch signs, or an address of one is paid.
func (c *check) usesOld() bool {
	old := func(key chain.KeyRef) bool { return key.Epoch() < c.bounds.epoch }
	signs := slices.ContainsFunc(c.contents.Inputs, func(i chain.Input) bool { return old(i.Source.Key) })
	if c.bounds.Capabilities.Model == chain.AccountModel {
		signs = signs || old(c.request.From.Key)
	}
	return signs || c.home() != c.bounds.hot.Base
}

// goesHome reports whether all that a transaction moves goes to the hot wallet of the epoch in force, or to a cold
// wallet of this signer's own configuration. The checks of the request's kind have compared the bytes with that.
func (c *check) goesHome() bool {
	switch c.request.Kind {
	case chain.KindSweep, chain.KindConsolidation, chain.KindToCold:
		return c.home() == c.bounds.hot.Base
	case chain.KindGasTopUp:
		return c.isPaidHome()
	}
	return false
}

// isPaidHome reports whether a gas top-up goes from the hot wallet of an earlier epoch to that of the epoch in force.
// It sweeps nothing, but uses up a nonce of the old one which holds up all its sweeps: what it pays is bounded as every
// top-up is, and is still ours.
func (c *check) isPaidHome() bool {
	from := c.request.From
	return c.bounds.isHot(from) && from.Key.Epoch() < c.bounds.epoch && c.request.Change.Is(c.bounds.hot)
}

// sweepOld refuses what a key of an earlier epoch must not sign: anything but a payment of all to the hot wallet of the
// epoch in force, or to a cold wallet. The only other transaction allowed is a replacement of an earlier one: same
// inputs, same payments, and no output of a later epoch.
//
// It prevents an attack after a rotation: a seed is replaced because somebody else may have a copy of it, or may get
// its keys later. Anyone who controls the service could otherwise pay customers, or themselves, with keys that nobody
// watches any more, or move money to the addresses that the rotation was to empty.
func (c *check) sweepOld(sharing []memory.Flow, whole bool) error {
	if !c.usesOld() || c.goesHome() {
		return nil
	}
	same := func(f memory.Flow) bool {
		return f.Outgoing == c.request.ID && f.Kind == string(c.request.Kind) && f.Pays != "" && f.Pays == c.pays()
	}
	if len(sharing) == 1 && same(sharing[0]) && !c.addsNewer() {
		return nil
	}
	return &RefusalError{Chain: c.bounds.Capabilities.ID, OutgoingID: c.request.ID, Reason: ReasonSweepOld,
		Never: whole && len(sharing) == 0 && len(c.contents.Reservations) > 0,
		Detail: fmt.Sprintf("epoch %d has begun: keys of earlier epochs pay all they have to its hot wallet %s, or to a "+
			"cold wallet, and nobody else. If the service still pays from the hot wallet before, start it again", c.bounds.epoch,
			c.bounds.hot.Base)}
}

// wholeSince is how long after a memory is whole a request must have been made for the memory to have all that was
// signed of it: the clock of the service may be ahead.
const wholeSince = time.Hour

// remembersAllOf reports whether a memory has everything that was ever signed of a request. What uses outputs or a
// nonce is never forgotten; a memory that began again does not know what was signed before, even where its limits began
// unused.
func remembersAllOf(whole time.Time, request chain.TxRequest) bool {
	made := time.UnixMilli(int64(binary.BigEndian.Uint64(append([]byte{0, 0}, request.ID[:6]...)))) // as a UUIDv7 has it
	return whole.IsZero() || made.After(whole.Add(wholeSince))
}

// addsNewer reports whether a transaction whose rest goes to the hot wallet of an earlier epoch spends an output of a
// later one than that.
//
// The attack: a service in other hands raises the fee of a small payment that was signed before the epoch began, adds
// the outputs of the hot wallet in force, and with that has all their rest brought to the address that was given up.
func (c *check) addsNewer() bool {
	if c.bounds.Capabilities.Model != chain.UTXOModel {
		return false
	}
	home := c.bounds.hots[c.home()].Key.Epoch()
	return slices.ContainsFunc(c.contents.Inputs, func(i chain.Input) bool { return i.Source.Key.Epoch() > home })
}

// refuseOld is sweepOld within a transaction of the memory.
func refuseOld(ctx context.Context, tx memory.Tx, c *check) error {
	if !c.usesOld() || c.goesHome() {
		return nil
	}
	sharing, err := tx.Sharing(ctx, c.bounds.Capabilities.ID, c.contents.Reservations)
	if err != nil {
		return err
	}
	if len(sharing) > 0 {
		return c.sweepOld(sharing, false)
	}
	whole, err := tx.WholeFrom(ctx)
	if err != nil {
		return err
	}
	return c.sweepOld(sharing, remembersAllOf(whole, c.request))
}

// pays returns the hash of what the request pays, in whatever order.
func (c *check) pays() string {
	list := slices.Clone(c.request.Payments)
	slices.SortFunc(list, func(a, b chain.Payment) int {
		return cmp.Or(cmp.Compare(a.Address.String(), b.Address.String()), cmp.Compare(a.Contract, b.Contract),
			a.Amount.Cmp(b.Amount))
	})
	if c.request.Kind == chain.KindSweep || c.request.Kind == chain.KindConsolidation {
		for i := range list {
			list[i].Amount = bursar.Amount{} // another fee leaves another rest
		}
	}
	text, err := json.Marshal(list)
	if err != nil {
		panic("signer: " + err.Error()) // texts and numbers
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// epochsHaveBegun refuses keys of an epoch that has not.
//
// The attack: anyone who controls the service begins an epoch by saying so, and with that decides where the hot wallet
// is.
func (c *check) epochsHaveBegun() error {
	for _, input := range c.contents.Inputs {
		if err := c.hasBegun(input.Source.Key); err != nil {
			return err
		}
	}
	for _, source := range []chain.Source{c.request.From, c.request.Change} {
		if err := c.hasBegun(source.Key); err != nil {
			return err
		}
	}
	return nil
}

func (c *check) hasBegun(key chain.KeyRef) error {
	if key.Epoch() > c.bounds.epoch {
		return c.refuse(ReasonEpoch, "a key of epoch %d: epoch %d is in force", key.Epoch(), c.bounds.epoch)
	}
	return nil
}
