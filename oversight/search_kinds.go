package oversight

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// byHash looks for deposits in a transaction, and for withdrawals that it pays.
func (f *search) byHash(ctx context.Context) error {
	if !isHash(f.q) {
		return nil
	}
	hashes := spellings(f.q)
	deposits, err := f.tx.Deposits().InTxs(ctx, f.Accounts, f.everyChain(), hashes, mostFound)
	if err != nil {
		return err
	}
	withdrawals, err := f.tx.Withdrawals().Found(ctx, f.Accounts, store.WithdrawalFilter{TxIDs: hashes}, mostFound)
	f.deposits, f.withdrawals = append(f.deposits, deposits...), append(f.withdrawals, withdrawals...)
	if err == nil && len(deposits)+len(withdrawals) == 0 && len(f.Accounts) == 0 {
		f.notes = append(f.notes, "No deposit or withdrawal has this transaction. If it paid an address of this service, "+
			"search its block again: `bursar chain rescan --chain CHAIN --tx "+f.q+"`")
		f.rescan = url.Values{"tx": {f.q}}.Encode()
	}
	return err
}

// isHash reports whether a text may be a transaction's ID: Solana's are the shortest alphabet and the longest text.
func isHash(q string) bool {
	return len(q) >= 43 && len(q) <= 128 && strings.Trim(q, "0123456789abcdefghijklmnopqrstuvwxyz"+
		"ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// spellings returns the forms in which chains may write a hash that was written in one of them: hexadecimal in lower
// case (Bitcoin, Tron), in upper case (XRPL), or after 0x (Ethereum). A hash in another alphabet has one form.
func spellings(hash string) []string {
	bare := strings.TrimPrefix(strings.ToLower(hash), "0x")
	all := []string{hash}
	if strings.Trim(bare, "0123456789abcdef") == "" {
		all = append(all, bare, strings.ToUpper(bare), "0x"+bare)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// byAddress looks for the wallet or charge of an address, for deposits to it, and for withdrawals to it.
func (f *search) byAddress(ctx context.Context) error {
	f.parse()
	if len(f.at) == 0 {
		return nil
	}
	owned, err := f.tx.Wallets().At(ctx, f.at)
	if err != nil {
		return err
	}
	var own []bursar.Wallet
	for _, w := range owned {
		if f.shows(w.AccountID) {
			own = append(own, w)
		}
	}
	slices.SortFunc(own, func(a, b bursar.Wallet) int { return int(b.Number - a.Number) })
	if err := f.of(ctx, own); err != nil {
		return err
	}
	addresses := make([]bursar.Address, len(f.at))
	for i, a := range f.at {
		addresses[i] = a.Address
	}
	withdrawals, err := f.tx.Withdrawals().Found(ctx, f.Accounts, store.WithdrawalFilter{Addresses: addresses}, mostFound)
	f.withdrawals = append(f.withdrawals, withdrawals...)
	f.whose(len(own) > 0, len(withdrawals) > 0)
	return err
}

// parse reads the text as an address, in any spelling that a chain has. Chains of one family share theirs.
func (f *search) parse() {
	for _, id := range f.everyChain() {
		c, on := f.Chains[id]
		if !on {
			continue
		}
		address, err := c.ParseAddress(f.q)
		if err != nil {
			continue
		}
		f.on = append(f.on, id)
		if at := (store.WalletAddress{Family: c.Capabilities().Family, Address: address}); !slices.Contains(f.at, at) {
			f.at = append(f.at, at)
		}
	}
}

// whose says whose address it is, or whose it could be, and how to look for what arrived there.
func (f *search) whose(ours, paid bool) {
	for _, id := range f.on {
		address, err := f.Chains[id].ParseAddress(f.q)
		switch {
		case err != nil:
		case f.Hot(id) != "" && address.Base == f.Hot(id):
			f.notes = append(f.notes, fmt.Sprintf("It is the hot wallet's address on %s.", id))
			ours = true
		case f.isCold(id, address.Base):
			f.notes = append(f.notes, fmt.Sprintf("It is the address of a cold wallet on %s.", id))
			ours = true
		}
	}
	if ours {
		return
	}
	is := "It is a valid address of " + list(f.on) + ", and no wallet or charge has it here."
	if paid {
		is += " Withdrawals went there."
	}
	if len(f.Accounts) == 0 {
		is += " It may be somebody else's, of another service, or of a database before a restore. If value of ours " +
			"arrived at an address of ours and is not shown, search the blocks again: `bursar chain rescan --chain " +
			string(f.on[0]) + " --from HEIGHT`"
		f.rescan = url.Values{"object": {string(f.on[0])}}.Encode()
	}
	f.notes = append(f.notes, is)
}

// byTag looks for what has a destination tag, without the address that wallets share.
func (f *search) byTag(ctx context.Context) error {
	tag, err := strconv.ParseUint(f.q, 10, 32)
	if err != nil || strconv.FormatUint(tag, 10) != f.q {
		return nil
	}
	own, err := f.tx.Wallets().WithMemo(ctx, f.Accounts, int64(tag), mostFound)
	if err != nil {
		return err
	}
	return f.of(ctx, own)
}

// byReference looks for what a client has named so, or what is a customer's.
func (f *search) byReference(ctx context.Context) error {
	invoices, err := f.tx.Invoices().Named(ctx, f.Accounts, store.ChargeFilter{Reference: f.q}, mostFound)
	if err != nil {
		return err
	}
	customers, err := f.tx.Invoices().OfCustomer(ctx, f.Accounts, f.q, mostFound)
	if err != nil {
		return err
	}
	f.charges = append(append(f.charges, sums(invoices)...), sums(customers)...)
	withdrawals, err := f.tx.Withdrawals().Found(ctx, f.Accounts, store.WithdrawalFilter{Reference: f.q}, mostFound)
	f.withdrawals = append(f.withdrawals, withdrawals...)
	return err
}

// byAmount looks for deposits and withdrawals of exactly an amount, such as "0.15" or "0.15 BTC", among the newest.
func (f *search) byAmount(ctx context.Context) error {
	figure, code, _ := strings.Cut(f.q, " ")
	if strings.Trim(figure, "0123456789.") != "" || !strings.ContainsAny(figure, "123456789") || len(figure) > 40 {
		return nil
	}
	looked := false
	for _, c := range f.Registry.All() {
		if code != "" && !strings.EqualFold(code, string(c.Code)) {
			continue
		}
		a, err := bursar.ParseDecimal(figure, c.Decimals)
		if err != nil {
			continue
		}
		looked = true
		walk := store.Walk{Limit: mostFound, Accounts: f.Accounts}
		deposits, _, err := f.tx.Deposits().Walk(ctx, store.DepositFilter{Amount: a, Currency: c.Code}, walk)
		if err != nil {
			return err
		}
		withdrawals, _, err := f.tx.Withdrawals().Walk(ctx, store.WithdrawalFilter{Amount: a, Currency: c.Code}, walk)
		if err != nil {
			return err
		}
		f.deposits, f.withdrawals = append(f.deposits, deposits...), append(f.withdrawals, withdrawals...)
	}
	if looked {
		f.notes = append(f.notes, "An amount is looked for among the newest 20000 deposits and withdrawals.")
	}
	return nil
}
