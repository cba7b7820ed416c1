package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ceremony"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/registry"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/signer"
)

// HotKeys are the public keys of the hot wallet's seed, by which a machine knows where a refill must go.
type HotKeys interface {
	Public(ref chain.KeyRef) (chain.PublicKey, error)
	Fingerprint() string
	Epoch() chain.Epoch
}

// Ceremony returns what this machine knows by itself of a chain and an asset whose refills it evaluates, with the
// chain's adapter. It asks no node. The error is one of a chain or an asset that is not configured, or that has no cold
// wallets with transactions that are signed offline.
func Ceremony(
	ctx context.Context, cfg config.Config, hot HotKeys, id bursar.ChainID, contract string,
) (own ceremony.Own, adapter chain.Chain, err error) {
	section, found := cfg.Chains[id]
	if !found {
		return own, nil, fmt.Errorf("chain %.40q is not configured on this machine", id)
	}
	adapter, err = Connector{Network: cfg.Network, Keys: hot, Registry: cfg.Registry,
		Log: slog.New(slog.DiscardHandler)}.Connect(ctx, section)
	if err != nil {
		return own, nil, err
	}
	capabilities := adapter.Capabilities()
	rules, offline := adapter.(chain.OfflineRules)
	if !offline {
		return own, nil, fmt.Errorf("transactions of %s cannot be signed offline in this version", id)
	}
	own = ceremony.Own{Instance: hot.Fingerprint(), Network: string(cfg.Network),
		Kinds: registry.Of(id).ColdKinds, Rules: rules,
		MaxFee: section.MaxFee, MaxRate: section.MaxFeeRate}
	pub, err := hot.Public(chain.HotIn(capabilities, hot.Epoch()))
	if errors.Is(err, signer.ErrNeedsSeed) {
		err = fmt.Errorf("the exported public keys have no hot wallet of %s: export them again with `bursar seed "+
			"export-public`: %w", id, err)
	}
	if err != nil {
		return own, nil, err
	}
	home, err := adapter.Address(pub, 0)
	if err != nil {
		return own, nil, err
	}
	own.Home, own.Epoch = home.Base, hot.Epoch()
	for _, currency := range cfg.Registry.On(id) {
		if currency.Contract == "" {
			own.Native = currency
		}
		if currency.Contract == contract {
			own.Asset = currency
		}
	}
	if own.Native.Code == "" || own.Asset.Code == "" {
		return own, nil, fmt.Errorf("asset %.60q of %s is not configured on this machine", contract, id)
	}
	return own, adapter, nil
}

// CheckParts refuses a cold wallet whose parts do not fit: a descriptor that does not have the listed addresses, or a
// nonce account that is none. The addresses are in the form
// of the chain: what is paid to them by itself could not be brought back by a refill.
func CheckParts(adapter chain.Chain, wallet bursar.ColdWallet) error {
	rules, offline := adapter.(chain.OfflineRules)
	if !offline || wallet.Kind == bursar.ColdAddress {
		return nil
	}
	return rules.CheckCold(wallet)
}

// checkParts does that for the cold wallets of a configured chain.
func checkParts(cfg config.Config, adapter chain.Chain, id bursar.ChainID) error {
	for _, w := range cfg.Chains[id].Cold {
		known, err := ColdWallet(cfg, adapter, id, w.Name)
		if err == nil {
			err = CheckParts(adapter, known)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ColdWallet returns a configured cold wallet, with its addresses as the chain writes them.
func ColdWallet(cfg config.Config, rules chain.Addresses, id bursar.ChainID, name string) (bursar.ColdWallet, error) {
	for _, w := range cfg.Chains[id].Cold {
		if w.Name != name {
			continue
		}
		known := w
		known.Addresses = nil
		for _, text := range w.Addresses {
			address, err := rules.ParseAddress(text)
			if err != nil {
				return bursar.ColdWallet{}, fmt.Errorf("cold wallet %s: %w", name, err)
			}
			known.Addresses = append(known.Addresses, address.Base)
		}
		return known, nil
	}
	return bursar.ColdWallet{}, fmt.Errorf("no cold wallet %q is configured under chains.%s.cold", name, id)
}
