package wallet

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// errNoKey is the error while the pool is empty: a process with the seed fills it within moments.
var errNoKey = bursar.Refuse(bursar.CodeUnavailable,
	"no address of this currency is ready at this moment; try again, and with the same Idempotency-Key if it was sent")

// errEnded is the error while this process does not have the keys of the newest epoch of the seed: another process has
// them, or this one is about to get them. No address of an earlier epoch is given out any more.
var errEnded = bursar.Refuse(bursar.CodeUnavailable,
	"no address can be given out here at this moment; try again, and with the same Idempotency-Key if it was sent")

// address gives each wallet the index that was taken for it and the address at that index. It returns the positions of
// those for which the pool has no key.
func (s *Service) address(
	ctx context.Context, tx *store.Tx, wallets []bursar.Wallet, t taken,
) (refused map[int]bool, err error) {
	refused = map[int]bool{}
	for _, f := range t.families {
		if err := s.mark(tx, t.answers, f.Family, f.first, len(f.places)); err != nil {
			return nil, err // it may find that the database was set back, to an epoch that has ended
		}
		if s.Ended != nil && !f.SharedAddress && s.Ended(f.first) {
			return nil, errEnded
		}
		for n, i := range f.places {
			wallets[i].Family, wallets[i].Index = f.Family, f.first+uint32(n)
		}
		if !Pooled(f.Capabilities) {
			if err := s.fromKeys(wallets, f.places); err != nil {
				return nil, err
			}
			continue
		}
		short, err := s.fromPool(ctx, tx, f.Capabilities, wallets, f.places)
		if err != nil {
			return nil, err
		}
		for _, i := range short {
			refused[i] = true
		}
	}
	return refused, nil
}

func (s *Service) fromKeys(wallets []bursar.Wallet, places []int) (err error) {
	for _, i := range places {
		if wallets[i].Address, err = s.ahead.get(wallets[i].Currency, wallets[i].Index); err != nil {
			return fmt.Errorf("derive address: %w", err)
		}
	}
	return nil
}

// fromPool makes the addresses of one family from the pool's keys, which are read in one query. It releases the indexes
// for which there is no key, raises an alarm, and returns the positions of those wallets.
func (s *Service) fromPool(
	ctx context.Context, tx *store.Tx, capabilities chain.Capabilities, wallets []bursar.Wallet, places []int,
) (short []int, err error) {
	keys, err := tx.KeyPool().Keys(ctx, capabilities.Family, wallets[places[0]].Index, len(places))
	if err != nil {
		return nil, err
	}
	for n, k := range keys {
		w := &wallets[places[n]]
		c, err := s.chainOf(w.Currency)
		if err != nil {
			return nil, err
		}
		if w.Address, err = c.Address(chain.PublicKey(k.Public), 0); err != nil {
			return nil, fmt.Errorf("address of key %d of the pool of %s: %w", k.Index, capabilities.Family, err)
		}
	}
	short = places[len(keys):]
	if len(short) == 0 {
		return nil, nil
	}
	if err := tx.KeyIndexes().Return(ctx, capabilities.Family, len(short)); err != nil {
		return nil, err
	}
	return short, tx.Alarms().Raise(ctx, store.Alarm{
		Chain: capabilities.ID,
		Kind:  AlarmPoolEmpty,
		Ref:   string(capabilities.Family),
		Message: fmt.Sprintf("no address of %s is ready: wallets are refused until the process with the seed fills the pool",
			capabilities.ID),
	})
}

// derive makes the address at an index from the keys. It is never called for chains that are Pooled.
func (s *Service) derive(code bursar.CurrencyCode, index uint32) (bursar.Address, error) {
	c, err := s.chainOf(code)
	if err != nil {
		return bursar.Address{}, err
	}
	capabilities := c.Capabilities()
	ref, tag := chain.KeyRef{Family: capabilities.Family, Branch: chain.DepositBranch, Index: index}, uint32(0)
	if capabilities.SharedAddress {
		ref, tag = chain.Hot(capabilities.Family), index+1 // tag 0 is not used: many senders write it where they mean none
	}
	pub, err := s.keys.Public(ref)
	if err != nil {
		return bursar.Address{}, err
	}
	return c.Address(pub, tag)
}

// deriveSeveral makes the addresses at n consecutive indexes, each as derive makes it.
func (s *Service) deriveSeveral(
	keys manyKeys, code bursar.CurrencyCode, from uint32, n int,
) (list []bursar.Address, err error) {
	c, err := s.chainOf(code)
	if err != nil {
		return nil, err
	}
	capabilities := c.Capabilities()
	if capabilities.SharedAddress {
		return nil, errOneKey
	}
	publics, err := keys.Publics(
		chain.KeyRef{Family: capabilities.Family, Branch: chain.DepositBranch, Index: from}, n)
	if err != nil {
		return nil, err
	}
	list = make([]bursar.Address, len(publics))
	for i, public := range publics {
		if list[i], err = c.Address(public, 0); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// errOneKey is the error of deriving many keys for a chain whose addresses differ in their memos alone.
var errOneKey = errors.New("all addresses of this chain have one key")
