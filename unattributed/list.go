package unattributed

import (
	"context"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// Item is an unattributed deposit.
type Item struct {
	bursar.Deposit
	Why        string             // it belongs to no wallet, for the operator
	Wallet     *bursar.Wallet     // that has its address, although the deposit is not the wallet's
	Resolution *bursar.Resolution // the newest; nil while there is none
}

// List returns what waits for a resolution or for finality, newest first; all adds what was reorged out and what was
// resolved. families names each chain's family; where one is missing, no wallet is looked up.
func List(
	ctx context.Context, db *store.DB, families map[bursar.ChainID]bursar.Family, all bool, page store.Page,
) (list []Item, err error) {
	err = db.View(ctx, func(tx *store.Tx) error {
		deposits, err := tx.Deposits().Unattributed(ctx, all, page)
		if err != nil {
			return err
		}
		resolutions, err := tx.Resolutions().About(ctx, deposits)
		if err != nil {
			return err
		}
		ids := make([]bursar.ID, len(deposits))
		for i, d := range deposits {
			ids[i] = d.ID
		}
		screened, err := tx.Screenings().Of(ctx, ids)
		if err != nil {
			return err
		}
		owners, err := walletsAt(ctx, tx, families, deposits)
		if err != nil {
			return err
		}
		list = nil
		for _, d := range deposits {
			item := Item{Deposit: d}
			if n, found := resolutions[d.ID]; found {
				item.Resolution = &n
			}
			if w, found := owners[families[d.Chain]][d.Address]; found {
				item.Wallet = &w
			}
			item.Why = why(d, item.Wallet)
			if s := screened[d.ID]; !s.AccountID.IsZero() {
				item.Why = fmt.Sprintf("it is in quarantine after screening: it was a deposit of account %s", s.AccountID)
			}
			list = append(list, item)
		}
		return nil
	})
	return list, err
}

func walletsAt(
	ctx context.Context, tx *store.Tx, families map[bursar.ChainID]bursar.Family, deposits []bursar.Deposit,
) (map[bursar.Family]map[bursar.Address]bursar.Wallet, error) {
	addresses := map[bursar.Family][]bursar.Address{}
	for _, d := range deposits {
		if family, known := families[d.Chain]; known {
			addresses[family] = append(addresses[family], d.Address)
		}
	}
	found := map[bursar.Family]map[bursar.Address]bursar.Wallet{}
	for family, list := range addresses {
		wallets, err := tx.Wallets().ByAddresses(ctx, family, list)
		if err != nil {
			return nil, err
		}
		found[family] = wallets
	}
	return found, nil
}

// why returns the reason why value belongs to no wallet.
func why(d bursar.Deposit, w *bursar.Wallet) string {
	switch {
	case w == nil && !d.Address.HasMemo:
		return "it came without a tag, or no wallet has its address"
	case w == nil:
		return "no wallet has its tag"
	case w.Currency != d.Currency:
		return fmt.Sprintf("its address is that of a wallet of %s", w.Currency)
	case w.CreatedAt.After(d.SeenAt):
		return "its address was given to a wallet only later"
	}
	return "only a difference of balances shows it: verify it with the node"
}

// Describe describes a resolution and its status for the operator.
func Describe(n bursar.Resolution) string {
	switch n.Kind {
	case bursar.ResolutionAssign:
		if n.WalletID.IsZero() {
			return fmt.Sprintf("assigned to account %s", n.AccountID)
		}
		return fmt.Sprintf("assigned to wallet %s", n.WalletID)
	case bursar.ResolutionKeep:
		return "kept as capital"
	}
	return fmt.Sprintf("return to %s, %s", n.Address, n.Status)
}
