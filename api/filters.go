package api

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// chosen returns one of some values that a parameter may have, "" if it was not sent.
func chosen[T ~string](in *input, name string, of []T) (v T) {
	text, sent := in.optional(name)
	if sent && !slices.Contains(of, T(text)) {
		in.refuse(name, "%s must be one of %v", name, of)
		return ""
	}
	return T(text)
}

// hash returns the spellings of a transaction hash, nil if it was not sent.
func (in *input) hash(name string) []string {
	text, sent := in.optional(name)
	if !sent {
		return nil
	}
	if !isHash(text) {
		in.refuse(name, "%s must be a transaction hash", name)
		return nil
	}
	return spellings(text)
}

func isHash(text string) bool {
	unprintable := func(r rune) bool { return r <= ' ' || r > '~' }
	return len(text) > 0 && len(text) <= maxHash && !strings.ContainsFunc(text, unprintable)
}

// addressed returns what a parameter means as an address, on each chain that has it; nil if it was not sent.
func (a *api) addressed(c *call, name string) []store.WalletAddress {
	text, sent := c.in.optional(name)
	if !sent {
		return nil
	}
	found := a.addressesOf(text)
	if len(found) == 0 {
		c.in.refuse(name, "%s must be an address of a chain that is configured here", name)
	}
	return found
}

// addressesOf returns the addresses that a text is, in any spelling that a chain has. Chains of one family share
// theirs.
func (a *api) addressesOf(text string) (found []store.WalletAddress) {
	if a.Destinations == nil || len(text) > maxAddress {
		return nil
	}
	for _, id := range a.everyChain() {
		c, on := a.Destinations.Chains[id]
		if !on {
			continue
		}
		address, err := c.ParseAddress(text)
		if at := (store.WalletAddress{Family: c.Capabilities().Family, Address: address}); err == nil &&
			!slices.Contains(found, at) {
			found = append(found, at)
		}
	}
	return found
}

// maxAddress is more than the bytes of any address with its memo.
const maxAddress = 256

func (a *api) depositFilter(c *call) (f store.DepositFilter, to []store.WalletAddress) {
	return a.depositsIn(c), a.addressed(c, "address")
}

// depositsIn reads which deposits a list shows, wherever they were paid to.
func (a *api) depositsIn(c *call) (f store.DepositFilter) {
	f.Status = chosen(&c.in, "status", bursar.DepositStatuses())
	f.Currency = a.optionalCurrency(c)
	f.From, _ = c.in.instant("from")
	f.To, _ = c.in.instant("to")
	if f.TxIDs = c.in.hash("hashID"); f.TxIDs != nil {
		f.Chains = a.everyChain()
	}
	return f
}

// listAllDeposits is GET account/deposits.
func (a *api) listAllDeposits(ctx context.Context, c *call) (any, error) {
	page := c.in.page(depositList)
	filter, to := a.depositFilter(c)
	if c.in.err != nil {
		return nil, c.in.err
	}
	return a.depositsOf(ctx, c.identity.Account, page, func(tx *store.Tx) (store.DepositFilter, error) {
		f := filter
		if to == nil {
			return f, nil
		}
		own, err := ownWallets(ctx, tx, c.identity.Account, to)
		f.Wallets = numbersOf(own)
		return f, err
	})
}

// ownWallets returns the wallets and charges of an account at some addresses, the newest first. Those of other accounts
// are as if they were not there.
func ownWallets(
	ctx context.Context, tx *store.Tx, account bursar.ID, at []store.WalletAddress,
) (own []bursar.Wallet, err error) {
	found, err := tx.Wallets().At(ctx, at)
	for _, w := range found {
		if w.AccountID == account {
			own = append(own, w)
		}
	}
	slices.SortFunc(own, func(a, b bursar.Wallet) int { return cmp.Compare(b.Number, a.Number) })
	return own, err
}

// numbersOf returns the numbers of wallets, an empty list for none.
func numbersOf(wallets []bursar.Wallet) []int64 {
	numbers := []int64{}
	for _, w := range wallets {
		numbers = append(numbers, w.Number)
	}
	return numbers
}

func (a *api) withdrawalFilter(c *call) (f store.WithdrawalFilter) {
	f.Status = chosen(&c.in, "status", bursar.WithdrawalStatuses())
	f.Currency = a.optionalCurrency(c)
	f.From, _ = c.in.instant("from")
	f.To, _ = c.in.instant("to")
	f.TxIDs = c.in.hash("hashID")
	f.Reference = c.in.reference()
	f.Metadata = c.in.namedMetadata()
	for _, at := range a.addressed(c, "address") {
		f.Addresses = append(f.Addresses, at.Address)
	}
	return f
}

// reference returns a client's own name of something, "" if it was not sent.
func (in *input) reference() string {
	text, sent := in.optional("reference")
	if sent && (text == "" || !bursar.Storable(text, bursar.MaxReference)) {
		in.refuse("reference", "a reference is UTF-8 without zero bytes, with 1 to %d bytes", bursar.MaxReference)
	}
	return text
}

// namedMetadata returns the metadata of the withdrawals that a list is to show, as it is stored; "" if it was not sent.
func (in *input) namedMetadata() string {
	values := in.texts("metadata")
	text, err := bursar.MetadataText(values)
	switch _, sent := in.params["metadata"]; {
	case err != nil && in.err == nil:
		in.err = err
	case sent && text == "":
		in.refuse("metadata", "metadata must have a name")
	}
	return text
}

// flag returns a parameter that is true or false, nil if it was not sent.
func (in *input) flag(name string) *bool {
	text, sent := in.optional(name)
	if !sent {
		return nil
	}
	if text != "true" && text != "false" {
		in.refuse(name, "%s must be true or false", name)
	}
	is := text == "true"
	return &is
}

// metadata returns the metadata of what a list is to show, "" if it was not sent.
func (in *input) metadata() string {
	text, sent := in.optional("metadata")
	if sent && (text == "" || !bursar.Storable(text, bursar.MaxMetadata)) {
		in.refuse("metadata", "metadata is UTF-8 without zero bytes, with 1 to %d bytes", bursar.MaxMetadata)
	}
	return text
}
