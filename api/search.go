package api

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/charge"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/wire"
)

// maxFound is the most objects of one kind that a search shows; the lists with filters show all.
const maxFound = 100

type searchAnswer struct {
	Wallets     []wire.Wallet     `json:"wallets"`
	Charges     []any             `json:"charges"`
	Deposits    []wire.Deposit    `json:"deposits"`
	Withdrawals []wire.Withdrawal `json:"withdrawals"`
}

// finds are the objects of an account that a search has found, before they are read for the view.
type finds struct {
	wallets     []bursar.Wallet
	charges     []bursar.ID
	deposits    []bursar.Deposit
	withdrawals []bursar.Withdrawal
}

// search is GET account/search. It finds what has exactly the text: each kind of text by its own index.
func (a *api) search(ctx context.Context, c *call) (any, error) {
	q := c.in.required("q")
	if q == "" || !bursar.Storable(q, bursar.MaxReference) {
		c.in.refuse("q", "q is UTF-8 without zero bytes, with 1 to %d bytes", bursar.MaxReference)
	}
	if c.in.err != nil {
		return nil, c.in.err
	}
	var found finds
	var latest depths
	err := a.DB.View(ctx, func(tx *store.Tx) (err error) {
		found = finds{}
		s := searching{Tx: tx, api: a, account: c.identity.Account, finds: &found}
		for _, by := range []func(context.Context, string) error{s.byID, s.byHash, s.byAddress, s.byTag, s.byReference,
			s.byMetadata} {
			if err := by(ctx, q); err != nil {
				return err
			}
		}
		latest, err = readDepths(ctx, tx)
		return err
	})
	if err != nil {
		return nil, err
	}
	return a.viewFinds(ctx, c, found, latest)
}

func (a *api) viewFinds(ctx context.Context, c *call, found finds, latest depths) (answer searchAnswer, err error) {
	if answer.Wallets, err = each(found.wallets, a.viewWallet); err != nil {
		return answer, err
	}
	if answer.Deposits, err = a.viewDeposits(found.deposits, latest); err != nil {
		return answer, err
	}
	if answer.Withdrawals, err = a.viewWithdrawals(ctx, found.withdrawals...); err != nil {
		return answer, err
	}
	var charges []charge.Found
	for _, id := range found.charges {
		one, err := a.Charges.Find(ctx, c.identity.Account, id)
		if errors.Is(err, bursar.ErrNotFound) {
			continue
		}
		if err != nil {
			return answer, err
		}
		charges = append(charges, one)
	}
	answer.Charges, err = each(charges, func(one charge.Found) (any, error) { return a.viewFound(one, c.now) })
	return answer, err
}

// searching is one search in its transaction.
type searching struct {
	*store.Tx
	*api
	account bursar.ID
	*finds
}

var firstFound = store.Page{Limit: maxFound}

// byID looks for the object of a UUID.
func (s searching) byID(ctx context.Context, q string) error {
	id, err := bursar.ParseID(q)
	if err != nil {
		return nil
	}
	if w, err := s.Tx.Wallets().Get(ctx, s.account, id); err == nil {
		s.wallets = append(s.wallets, w)
	} else if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if d, err := s.Tx.Deposits().Get(ctx, s.account, id); err == nil {
		s.deposits = append(s.deposits, d)
	} else if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if w, err := s.Tx.Withdrawals().Get(ctx, s.account, id); err == nil {
		s.withdrawals = append(s.withdrawals, w)
	} else if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	s.addCharge(id) // unless it is none
	return nil
}

// byHash looks for deposits in a transaction, and withdrawals that it pays.
func (s searching) byHash(ctx context.Context, q string) error {
	if !isHash(q) {
		return nil
	}
	deposits, _, err := s.Tx.Deposits().Select(ctx, s.account,
		store.DepositFilter{TxIDs: spellings(q), Chains: s.everyChain()}, firstFound)
	if err != nil {
		return err
	}
	withdrawals, _, err := s.Tx.Withdrawals().Select(ctx, s.account,
		store.WithdrawalFilter{TxIDs: spellings(q)}, firstFound)
	s.addDeposits(deposits)
	s.addWithdrawals(withdrawals)
	return err
}

// byAddress looks for the wallet or charge of an address, deposits to it, and withdrawals to it.
func (s searching) byAddress(ctx context.Context, q string) error {
	at := s.addressesOf(q)
	if len(at) == 0 {
		return nil
	}
	own, err := ownWallets(ctx, s.Tx, s.account, at)
	if err != nil {
		return err
	}
	if err := s.of(ctx, own); err != nil {
		return err
	}
	addresses := make([]bursar.Address, len(at))
	for i, a := range at {
		addresses[i] = a.Address
	}
	withdrawals, _, err := s.Tx.Withdrawals().Select(ctx, s.account,
		store.WithdrawalFilter{Addresses: addresses}, firstFound)
	s.addWithdrawals(withdrawals)
	return err
}

// byTag looks for what has a destination tag, without the address that wallets share.
func (s searching) byTag(ctx context.Context, q string) error {
	tag, err := strconv.ParseUint(q, 10, 32)
	if err != nil || strconv.FormatUint(tag, 10) != q {
		return nil
	}
	own, err := s.Tx.Wallets().OfMemo(ctx, s.account, int64(tag), maxFound)
	if err != nil {
		return err
	}
	return s.of(ctx, own)
}

// byReference looks for what the account itself has named so.
func (s searching) byReference(ctx context.Context, q string) error {
	invoice, err := s.Tx.Invoices().ByReference(ctx, s.account, q)
	if err == nil {
		s.addCharge(invoice.ID)
	} else if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	withdrawals, _, err := s.Tx.Withdrawals().Select(ctx, s.account, store.WithdrawalFilter{Reference: q}, firstFound)
	s.addWithdrawals(withdrawals)
	return err
}

// byMetadata looks for wallets and charges that have exactly this metadata.
func (s searching) byMetadata(ctx context.Context, q string) error {
	wallets, _, err := s.Tx.Wallets().Select(ctx, s.account, store.WalletFilter{Metadata: q}, firstFound)
	if err != nil {
		return err
	}
	for _, w := range wallets {
		if !slices.ContainsFunc(s.wallets, func(o bursar.Wallet) bool { return o.ID == w.ID }) {
			s.wallets = append(s.wallets, w)
		}
	}
	charges, _, err := s.Tx.Charges().Select(ctx, s.account, store.ChargeFilter{Metadata: q}, firstFound)
	if err != nil {
		return err
	}
	for _, c := range charges {
		s.addCharge(c.ID)
	}
	sums, _, err := s.Tx.Invoices().List(ctx, s.account, store.ChargeFilter{Metadata: q}, firstFound)
	for _, v := range sums {
		s.addCharge(v.ID)
	}
	return err
}

// of adds wallets and charges, with deposits to them.
func (s searching) of(ctx context.Context, own []bursar.Wallet) error {
	var sums []int64
	for _, w := range own {
		switch {
		case w.ForInvoice:
			sums = append(sums, w.Number)
		case w.ForCharge:
			s.addCharge(w.ID)
		default:
			s.wallets = append(s.wallets, w)
		}
	}
	charges, err := s.Tx.Invoices().IDsOfWallets(ctx, sums)
	if err != nil {
		return err
	}
	for _, number := range sums {
		s.addCharge(charges[number])
	}
	deposits, _, err := s.Tx.Deposits().Select(ctx, s.account, store.DepositFilter{Wallets: numbersOf(own)}, firstFound)
	s.addDeposits(deposits)
	return err
}

func (s searching) addCharge(id bursar.ID) {
	if !id.IsZero() && !slices.Contains(s.charges, id) {
		s.charges = append(s.charges, id)
	}
}

func (s searching) addDeposits(list []bursar.Deposit) {
	for _, d := range list {
		if !slices.ContainsFunc(s.deposits, func(o bursar.Deposit) bool { return o.ID == d.ID }) {
			s.deposits = append(s.deposits, d)
		}
	}
}

func (s searching) addWithdrawals(list []bursar.Withdrawal) {
	for _, w := range list {
		if !slices.ContainsFunc(s.withdrawals, func(o bursar.Withdrawal) bool { return o.ID == w.ID }) {
			s.withdrawals = append(s.withdrawals, w)
		}
	}
}
