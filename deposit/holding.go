package deposit

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// addHoldings records what addresses hold after deposits, where the chain spends from addresses: sweeps select
// addresses by it. Once an address holds the currency's minimum, its sweep is due.
func (h *Handler) addHoldings(ctx context.Context, tx *store.Tx, deposits []bursar.Deposit) error {
	assets := h.heldBy(deposits)
	if len(assets) == 0 {
		return nil
	}
	indexes, err := keyIndexes(ctx, tx, h.Capabilities.Family, assets)
	if err != nil {
		return err
	}
	holdings, err := tx.Holdings().Of(ctx, h.Capabilities.ID, assets)
	if err != nil {
		return err
	}
	for _, d := range deposits {
		asset := store.Asset{Base: d.Address.Base, Contract: d.Contract}
		now, is := holdings[asset]
		if !is {
			continue
		}
		currency, err := h.Registry.Get(d.Currency)
		if err != nil {
			return err
		}
		if now.Amount, err = now.Amount.Add(d.Amount); err != nil {
			return err
		}
		index, known := indexes[asset.Base]
		if !known {
			return fmt.Errorf("deposit %s: %s is no address that was given out", d.ID, asset.Base)
		}
		now.Branch, now.Index = chain.DepositBranch, index
		now.Due, now.Rests = !now.Amount.Less(currency.Minimum), time.Time{}
		holdings[asset] = now
	}
	return h.put(ctx, tx, assets, holdings)
}

// removeHoldings undoes addHoldings for deposits that are rolled back.
func (h *Handler) removeHoldings(ctx context.Context, tx *store.Tx, deposits ...bursar.Deposit) error {
	assets := h.heldBy(deposits)
	if len(assets) == 0 {
		return nil
	}
	holdings, err := tx.Holdings().Of(ctx, h.Capabilities.ID, assets)
	if err != nil {
		return err
	}
	for _, d := range deposits {
		asset := store.Asset{Base: d.Address.Base, Contract: d.Contract}
		if now, is := holdings[asset]; is {
			now.Amount = now.Amount.SubOrZero(d.Amount)
			now.Due = now.Due && !now.Amount.IsZero()
			holdings[asset] = now
		}
	}
	return h.put(ctx, tx, assets, holdings)
}

// heldBy returns the assets that deposits bring to addresses which are swept, each once and in the order of their
// names: none where the chain spends UTXOs or wallets share the hot address. What hot wallets of earlier epochs hold is
// asked of the chain; see package sweep.
func (h *Handler) heldBy(deposits []bursar.Deposit) (assets []store.Asset) {
	if h.Capabilities.Model != chain.AccountModel || h.Capabilities.SharedAddress {
		return nil
	}
	seen := map[store.Asset]bool{}
	for _, d := range deposits {
		asset := store.Asset{Base: d.Address.Base, Contract: d.Contract}
		if !h.isHot(asset.Base) && !h.Cold[asset.Base] && !seen[asset] {
			seen[asset], assets = true, append(assets, asset)
		}
	}
	slices.SortFunc(assets, func(a, b store.Asset) int {
		return cmp.Or(cmp.Compare(a.Contract, b.Contract), cmp.Compare(a.Base, b.Base))
	})
	return assets
}

func (h *Handler) put(
	ctx context.Context, tx *store.Tx, assets []store.Asset, holdings map[store.Asset]store.Holding,
) error {
	list := make([]store.Holding, len(assets))
	for i, a := range assets {
		list[i] = holdings[a]
	}
	return tx.Holdings().Put(ctx, h.Capabilities.ID, list...)
}

// keyIndexes returns the key indexes of deposit addresses that were given out, or may have been.
func keyIndexes(
	ctx context.Context, tx *store.Tx, family bursar.Family, assets []store.Asset,
) (map[string]uint32, error) {
	addresses := make([]bursar.Address, len(assets))
	for i, a := range assets {
		addresses[i] = bursar.Address{Base: a.Base}
	}
	wallets, err := tx.Wallets().ByAddresses(ctx, family, addresses)
	if err != nil {
		return nil, err
	}
	indexes := make(map[string]uint32, len(assets))
	for a, w := range wallets {
		indexes[a.Base] = w.Index
	}
	var others []string
	for _, a := range assets {
		if _, known := indexes[a.Base]; !known {
			others = append(others, a.Base)
		}
	}
	gaps, err := tx.GapAddresses().Of(ctx, family, others)
	for base, g := range gaps {
		indexes[base] = g.Index
	}
	return indexes, err
}
