package store

import (
	"context"

	"github.com/bursar/bursar"
)

// WalletName is a wallet as an account asks for it.
type WalletName struct{ Account, ID bursar.ID }

// Get returns an account's wallet; another account's, and a charge's, is ErrNotFound.
func (tx Wallets) Get(ctx context.Context, account, id bursar.ID) (bursar.Wallet, error) {
	return walletColumns.one(ctx, tx.Tx, "read wallet",
		walletFrom+` WHERE w.id = $1 AND w.account_id = $2 AND w.for_charge = FALSE`, id, account)
}

// ByID returns any account's wallet, a charge's too.
func (tx Wallets) ByID(ctx context.Context, id bursar.ID) (bursar.Wallet, error) {
	return walletColumns.one(ctx, tx.Tx, "read wallet", walletFrom+` WHERE w.id = $1`, id)
}

// ByAddress returns the wallet of any account or charge that an address of the family belongs to.
func (tx Wallets) ByAddress(ctx context.Context, family bursar.Family, a bursar.Address) (bursar.Wallet, error) {
	return walletColumns.one(ctx, tx.Tx, "read wallet by address", walletFrom+
		` WHERE w.family = $1 AND w.base = $2 AND w.memo = $3`, string(family), a.Base, memoValue(a))
}

// ByAddresses returns the wallets that belong to any of the addresses.
func (tx Wallets) ByAddresses(ctx context.Context, family bursar.Family,
	addresses []bursar.Address) (map[bursar.Address]bursar.Wallet, error) {
	found := map[bursar.Address]bursar.Wallet{}
	for chunk := range parts(tx.Tx, addresses) {
		asked := make([]WalletAddress, len(chunk))
		for i, a := range chunk {
			asked[i] = WalletAddress{family, a}
		}
		wallets, err := tx.At(ctx, asked)
		if err != nil {
			return nil, err
		}
		for a, w := range wallets {
			found[a.Address] = w
		}
	}
	return found, nil
}

// WalletAddress is an address of a family.
type WalletAddress struct {
	Family  bursar.Family
	Address bursar.Address
}

// At returns the wallets of any account or charge that addresses belong to, in one statement.
func (tx Wallets) At(ctx context.Context, addresses []WalletAddress) (map[WalletAddress]bursar.Wallet, error) {
	found, err := tx.AtDeferred(ctx, addresses)
	if err != nil {
		return nil, err
	}
	return found.Get(ctx)
}

// AtDeferred is At together with other reads.
func (tx Wallets) AtDeferred(
	ctx context.Context, addresses []WalletAddress,
) (*Deferred[map[WalletAddress]bursar.Wallet], error) {
	names := make([]any, 0, 3*len(addresses))
	for _, a := range addresses {
		names = append(names, string(a.Family), a.Address.Base, memoValue(a.Address))
	}
	source, those, args, err := sought(tx.Tx, "wallets", "w", []string{"family", "base", "memo"}, names)
	if err != nil {
		return nil, err
	}
	return ask(ctx, tx.Tx, "read wallets by address", walletColumns.scan,
		func(list []bursar.Wallet) (map[WalletAddress]bursar.Wallet, error) {
			found := make(map[WalletAddress]bursar.Wallet, len(list))
			for _, w := range list {
				found[WalletAddress{w.Family, w.Address}] = w
			}
			return found, nil
		}, walletColumns.query+`FROM `+source+walletRules+` WHERE `+those, args...), nil
}
