package service

import (
	"context"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/reconcile"
	"github.com/bursar/bursar/signer/host"
	"github.com/bursar/bursar/store"
)

// coldOf returns cold wallets with their addresses as the chain writes them. It refuses an address that is not of the
// chain and network, that has a memo, that is the hot wallet's, that two wallets have, or that its
// wallet's descriptor does not have, a nonce account that is none, and an executor that could not send its calls.
func coldOf(rules chain.Chain, wallets []bursar.ColdWallet, hot string) (list []bursar.ColdWallet, err error) {
	taken := map[string]string{}
	for _, w := range wallets {
		known := w
		known.Addresses = nil
		for _, text := range w.Addresses {
			address, err := rules.ParseAddress(text)
			switch {
			case err != nil:
				return nil, fmt.Errorf("cold wallet %s: the address %.100q: %w", w.Name, text, err)
			case address.HasMemo:
				return nil, fmt.Errorf("cold wallet %s: the address %.100q has a memo", w.Name, text)
			case address.Base == hot:
				return nil, fmt.Errorf("cold wallet %s has the hot wallet's address %s: its key is the signer's", w.Name, hot)
			case taken[address.Base] != "":
				return nil, fmt.Errorf("cold wallet %s: %s is an address of %s already", w.Name, text, taken[address.Base])
			}
			if forms, has := rules.(chain.ColdRules); has {
				if err := forms.Followable(address.Base); err != nil {
					return nil, fmt.Errorf("cold wallet %s: the address %.100q: %w", w.Name, text, err)
				}
			}
			taken[address.Base] = w.Name
			known.Addresses = append(known.Addresses, address.Base)
		}
		if err := host.CheckParts(rules, known); err != nil {
			return nil, err
		}
		if known.NonceAccount != "" && known.NonceAccount == hot {
			return nil, fmt.Errorf("cold wallet %s: its nonce account is the hot wallet's address %s", w.Name, hot)
		}
		if known.Executor, err = executorOf(rules, known, hot); err != nil {
			return nil, err
		}
		list = append(list, known)
	}
	return list, nil
}

// executorOf returns the executor of a cold wallet as the chain writes it, empty for none. It refuses one that no
// account has, that is the hot wallet, whose nonces belong to outgoing transactions, or that is the contract itself.
func executorOf(rules chain.Chain, w bursar.ColdWallet, hot string) (string, error) {
	if w.Executor == "" {
		return "", nil
	}
	address, err := rules.ParseAddress(w.Executor)
	switch {
	case err != nil:
		return "", fmt.Errorf("cold wallet %s: the executor %.100q: %w", w.Name, w.Executor, err)
	case address.Base == hot:
		return "", fmt.Errorf("cold wallet %s: its executor has the hot wallet's address %s: name another account", w.Name,
			hot)
	case w.Has(address.Base):
		return "", fmt.Errorf("cold wallet %s: %s is its executor too: a contract sends no transaction", w.Name, address.Base)
	}
	return address.Base, nil
}

// CheckCold refuses a cold wallet whose address was given out as a deposit address: the signer has its key, and what
// arrives there is a customer's.
func (s *Service) CheckCold(ctx context.Context) error {
	return s.DB.View(ctx, func(tx *store.Tx) error {
		for _, id := range s.order {
			family := s.workers[id].chain.Capabilities().Family
			var bases []string
			var addresses []bursar.Address
			for _, base := range bursar.ColdBases(s.workers[id].sender.Cold) {
				bases, addresses = append(bases, base), append(addresses, bursar.Address{Base: base})
			}
			wallets, err := tx.Wallets().ByAddresses(ctx, family, addresses)
			if err != nil {
				return err
			}
			gaps, err := tx.GapAddresses().Of(ctx, family, bases)
			if err != nil {
				return err
			}
			for _, base := range bases {
				_, given := wallets[bursar.Address{Base: base}]
				if _, gap := gaps[base]; given || gap {
					return fmt.Errorf("%s of a cold wallet of %s is a deposit address of this service: its key is the signer's",
						base, id)
				}
			}
		}
		return nil
	})
}

// ColdWallets returns the cold wallets of all chains, in the order of the chains.
func (s *Service) ColdWallets() (wallets []bursar.ColdWallet) {
	for _, id := range s.order {
		wallets = append(wallets, s.workers[id].sender.Cold...)
	}
	return wallets
}

// ColdKeysFinding is what a chain's node says of who may spend from a cold wallet.
type ColdKeysFinding struct {
	Wallet    bursar.ColdWallet
	OtherWays []string // past the keys of its kind; see chain.ColdKeys
	Err       error    // the node did not say
}

// CheckColdKeys asks the nodes who may spend from each cold wallet, in the order of the chains.
func (s *Service) CheckColdKeys(ctx context.Context) (found []ColdKeysFinding) {
	for _, id := range s.order {
		for _, w := range s.workers[id].sender.Cold {
			ways, err := reconcile.OtherWays(ctx, s.workers[id].chain, w)
			found = append(found, ColdKeysFinding{Wallet: w, OtherWays: ways, Err: err})
		}
	}
	return found
}

// basesOf returns the addresses of hot wallets.
func basesOf(hots []chain.Source) (bases []string) {
	for _, one := range hots {
		bases = append(bases, one.Base)
	}
	return bases
}
