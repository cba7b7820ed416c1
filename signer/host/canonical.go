package host

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain/registry"
	"github.com/bursar/bursar/chain/rpc"
	"github.com/bursar/bursar/config"
)

// Canonical returns the configuration with every token's contract in the form in which its chain's adapter writes it,
// so that contracts may be compared as texts everywhere: in the registry, in the database, by an adapter and by the
// signer. It asks no node. An invalid contract, a contract that is configured twice in two spellings, and an unknown
// provider are config.Mistakes with their lines. Canonical is idempotent.
func Canonical(cfg config.Config) (config.Config, error) {
	var list []bursar.Currency
	var mistakes config.Mistakes
	taken := map[[2]string]bursar.CurrencyCode{}
	for _, currency := range cfg.Registry.All() {
		at := "currencies." + string(currency.Code) + ".contract"
		if currency.IsToken() {
			contract, err := canonicalContract(currency.Chain, currency.Contract)
			if err != nil {
				mistakes = append(mistakes, cfg.MistakeAt(at, "this is not a contract of %s: %v", currency.Chain, err))
				continue
			}
			currency.Contract = contract
		}
		asset := [2]string{string(currency.Chain), currency.Contract}
		if other := taken[asset]; other != "" {
			mistakes = append(mistakes,
				cfg.MistakeAt(at, "it is the same asset as %s: every token needs its own contract", other))
			continue
		}
		taken[asset] = currency.Code
		list = append(list, currency)
	}
	mistakes = append(mistakes, unknownProviders(cfg)...)
	if len(mistakes) > 0 {
		return cfg, mistakes
	}
	registry, err := bursar.NewRegistry(list)
	if err != nil {
		return cfg, fmt.Errorf("register currencies: %w", err)
	}
	cfg.Registry = registry
	return cfg, nil
}

// canonicalContract asks the part of a chain's adapter that needs no node.
func canonicalContract(id bursar.ChainID, contract string) (string, error) {
	of := registry.Of(id)
	if of.Contract == nil {
		return "", fmt.Errorf("%w: this chain has no tokens in this version", bursar.ErrBadAddress)
	}
	return of.Contract(contract)
}

// unknownProviders returns mistakes for provider profiles that do not exist.
func unknownProviders(cfg config.Config) (mistakes config.Mistakes) {
	known := []string{rpc.NoProvider}
	for _, p := range rpc.Profiles() {
		known = append(known, p.Name)
	}
	for _, id := range slices.Sorted(maps.Keys(cfg.Chains)) {
		if name := cfg.Chains[id].Nodes.Provider; name != "" && !slices.Contains(known, name) {
			mistakes = append(mistakes, cfg.MistakeAt("chains."+string(id)+".provider",
				"%q is unknown; allowed are %s", name, strings.Join(known, ", ")))
		}
	}
	return mistakes
}

// Usable makes contracts canonical and removes the tokens that a configured chain does not have on this network. A
// currency whose whole chain is not configured stays known, because customers may have balances in it.
func Usable(cfg config.Config) (*bursar.Registry, error) {
	cfg, err := Canonical(cfg)
	if err != nil {
		return nil, err
	}
	var list []bursar.Currency
	for _, currency := range cfg.Registry.All() {
		_, off := cfg.Off[currency.Code]
		_, on := cfg.Chains[currency.Chain]
		if !off || !on {
			list = append(list, currency)
		}
	}
	return bursar.NewRegistry(list)
}

// ChainOrder returns the configured chains in the order of the registry, so that lists are stable.
func ChainOrder(cfg config.Config) []bursar.ChainID {
	var order []bursar.ChainID
	seen := map[bursar.ChainID]bool{}
	for _, currency := range cfg.Registry.All() {
		if _, on := cfg.Chains[currency.Chain]; on && !seen[currency.Chain] {
			seen[currency.Chain] = true
			order = append(order, currency.Chain)
		}
	}
	return order
}
