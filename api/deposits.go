package api

import (
	"context"
	"slices"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/wire"
)

// depths is the height of each chain at the time when deposits were read.
type depths map[bursar.ChainID]uint64

func readDepths(ctx context.Context, tx *store.Tx) (depths, error) {
	states, err := tx.Chains().States(ctx)
	latest := depths{}
	for _, s := range states {
		latest[s.Chain] = s.Latest
	}
	return latest, err
}

func (a *api) viewDeposit(d bursar.Deposit, latest depths) (wire.Deposit, error) {
	c, err := a.currency(d.Currency)
	if err != nil {
		return wire.Deposit{}, err
	}
	return wire.NewDeposit(d, c, wire.ConfirmationContext{Latest: latest[d.Chain],
		Required: a.Chains[d.Chain].Confirmations}), nil
}

// readDeposits reads deposits and the height of their chains in one transaction, so that they fit together.
func (a *api) readDeposits(
	ctx context.Context, read func(tx *store.Tx) ([]bursar.Deposit, error),
) (list []bursar.Deposit, latest depths, err error) {
	err = a.DB.View(ctx, func(tx *store.Tx) error {
		if list, err = read(tx); err != nil {
			return err
		}
		latest, err = readDepths(ctx, tx)
		return err
	})
	return list, latest, err
}

func (a *api) viewDeposits(list []bursar.Deposit, latest depths) ([]wire.Deposit, error) {
	return each(list, func(d bursar.Deposit) (wire.Deposit, error) { return a.viewDeposit(d, latest) })
}

// getDeposit is GET wallet/deposit.
func (a *api) getDeposit(ctx context.Context, c *call) (any, error) {
	id := c.in.requiredID("depositID")
	if c.in.err != nil {
		return nil, c.in.err
	}
	list, latest, err := a.readDeposits(ctx, func(tx *store.Tx) ([]bursar.Deposit, error) {
		d, err := tx.Deposits().Get(ctx, c.identity.Account, id)
		return []bursar.Deposit{d}, store.AsRefusal(err)
	})
	if err != nil {
		return nil, err
	}
	view, err := a.viewDeposit(list[0], latest)
	return struct {
		Deposit wire.Deposit `json:"deposit"`
	}{view}, err
}

type depositsAnswer struct {
	Deposits   []wire.Deposit `json:"deposits"`
	NextCursor string         `json:"nextCursor,omitempty"`
}

// listDeposits is GET wallet/deposits.
func (a *api) listDeposits(ctx context.Context, c *call) (any, error) {
	id, page := c.in.requiredID("walletID"), c.in.page(depositList)
	filter := a.depositsIn(c)
	if c.in.err != nil {
		return nil, c.in.err
	}
	return a.depositsOf(ctx, c.identity.Account, page, func(tx *store.Tx) (store.DepositFilter, error) {
		w, err := tx.Wallets().Get(ctx, c.identity.Account, id)
		f := filter
		f.Wallets = []int64{w.Number}
		return f, store.AsRefusal(err)
	})
}

// depositsOf answers with a page of the deposits of an account that a filter selects, which is made in the database
// transaction that reads them.
func (a *api) depositsOf(
	ctx context.Context, account bursar.ID, page store.Page, filter func(tx *store.Tx) (store.DepositFilter, error),
) (any, error) {
	var next int64
	list, latest, err := a.readDeposits(ctx, func(tx *store.Tx) (list []bursar.Deposit, err error) {
		f, err := filter(tx)
		if err != nil {
			return nil, err
		}
		list, next, err = tx.Deposits().Select(ctx, account, f, page)
		return list, err
	})
	if err != nil {
		return nil, err
	}
	var answer depositsAnswer
	list, answer.NextCursor = cutAt(next, list, page, depositList, func(d bursar.Deposit) int64 { return d.Number })
	answer.Deposits, err = a.viewDeposits(list, latest)
	return answer, err
}

// maxHash is the maximum length of a transaction ID; Solana's signatures are the longest with 88 characters.
const maxHash = 128

// getDepositByHash is GET wallet/deposit/hash. One transaction may hold several deposits of the account.
func (a *api) getDepositByHash(ctx context.Context, c *call) (any, error) {
	hash := c.in.required("hashID")
	if !isHash(hash) {
		c.in.refuse("hashID", "hashID must be a transaction hash")
	}
	if c.in.err != nil {
		return nil, c.in.err
	}
	list, latest, err := a.readDeposits(ctx, func(tx *store.Tx) ([]bursar.Deposit, error) {
		return tx.Deposits().ByTx(ctx, c.identity.Account, a.everyChain(), spellings(hash))
	})
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, bursar.ErrNotFound
	}
	views, err := a.viewDeposits(list, latest)
	if err != nil {
		return nil, err
	}
	return struct {
		Deposit  wire.Deposit   `json:"deposit"`
		Deposits []wire.Deposit `json:"deposits"`
	}{views[0], views}, nil
}

// spellings returns the forms in which the chains may write a hash that the client wrote in one of them: hexadecimal in
// lower case (Bitcoin, Tron), in upper case (XRPL), or after 0x (Ethereum). A hash in another alphabet has one form.
func spellings(hash string) []string {
	bare := strings.ToLower(hash)
	bare = strings.TrimPrefix(bare, "0x")
	list := []string{hash}
	if strings.Trim(bare, "0123456789abcdef") == "" {
		list = append(list, bare, strings.ToUpper(bare), "0x"+bare)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// everyChain returns the chains of all currencies, also of those that are not configured now: their deposits remain.
func (a *api) everyChain() []bursar.ChainID {
	var chains []bursar.ChainID
	for _, c := range a.Registry.All() {
		chains = append(chains, c.Chain)
	}
	slices.Sort(chains)
	return slices.Compact(chains)
}
