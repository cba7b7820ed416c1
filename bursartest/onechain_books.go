package bursartest

import (
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/reconcile"
	"github.com/bursar/bursar/store"
)

// Available returns what an account has available of COIN, which must not be below zero.
func (r *OneChain) Available(account int) bursar.Amount {
	r.T.Helper()
	return r.Balance(ledger.Available(r.Accounts[account]), "COIN")
}

// Reconcile makes the service compare its books with the chain.
func (r *OneChain) Reconcile() error {
	lines, err := r.Compare()
	for _, l := range lines {
		if err == nil && !l.Balanced() {
			err = fmt.Errorf("the books and the chain differ: %+v", l)
		}
	}
	return err
}

// Compare returns the lines of a reconciliation.
func (r *OneChain) Compare() ([]reconcile.Line, error) {
	return (&reconcile.Reconciler{DB: r.DB, Chain: r.Chain, Registry: r.Registry, Hot: r.Hot.Base,
		Old: r.oldBases(), Cold: bursar.ColdBases(r.Cold)}).Run(ctx)
}

// Audit compares the books with the chain: debits equal credits, custody is to the unit what the chain holds at
// addresses of ours, and all of it can be spent.
func (r *OneChain) Audit() error {
	if err := r.Chain.Check(); err != nil {
		return err
	}
	var debits, credits, custody, held, amount, cold, coldHeld bursar.Amount
	err := r.DB.View(ctx, func(tx *store.Tx) error {
		err := tx.Ledger().EachBalance(ctx, func(k ledger.Key, b ledger.Balance) (err error) {
			debits, err = debits.Add(b.Debits)
			credits, _ = credits.Add(b.Credits)
			if k.Account == ledger.Custody {
				custody, _ = b.Net(ledger.Asset)
			}
			if k.Account == ledger.CustodyCold {
				cold, _ = b.Net(ledger.Asset)
			}
			return err
		})
		if err != nil {
			return err
		}
		newest, err := tx.Wallets().Newest(ctx)
		if err != nil {
			return err
		}
		if amount, err = tx.UTXOs().Sum(ctx, r.Chain.Capabilities().ID, 1<<40); err != nil {
			return err
		}
		held = r.Chain.Balance(r.Hot.Base, "")
		for _, base := range r.oldBases() {
			held, _ = held.Add(r.Chain.Balance(base, ""))
		}
		return tx.Wallets().EachWatched(ctx, r.Chain.Capabilities().Family, 0, newest, func(base string) {
			if base != r.Hot.Base {
				held, _ = held.Add(r.Chain.Balance(base, ""))
			}
		}, nil)
	})
	if err == nil {
		err = r.Reconcile()
	}
	if err == nil && debits != credits {
		err = fmt.Errorf("debits are %s, credits %s", debits, credits)
	}
	for _, base := range bursar.ColdBases(r.Cold) {
		coldHeld, _ = coldHeld.Add(r.Chain.Balance(base, ""))
	}
	if err == nil && cold != coldHeld {
		err = fmt.Errorf("custody of cold wallets is %s, the chain holds %s there", cold, coldHeld)
	}
	if err == nil && custody != held {
		err = fmt.Errorf("custody is %s, the chain holds %s", custody, held)
	}
	if err == nil && r.Chain.Capabilities().Model == chain.UTXOModel && amount != held {
		err = fmt.Errorf("the spendable UTXOs are worth %s, the chain holds %s", amount, held)
	}
	return err
}

// Holding returns what an address holds of an asset by the books.
func (r *OneChain) Holding(base, contract string) (held bursar.Amount) {
	r.T.Helper()
	r.View(func(tx *store.Tx) error {
		h, err := tx.Holdings().Current(ctx, r.Chain.Capabilities().ID, base, contract)
		held = h.Amount
		return err
	})
	return held
}

// Book returns the balance of an operator's account.
func (r *OneChain) Book(account ledger.Account) string {
	r.T.Helper()
	var b ledger.Balance
	r.View(func(tx *store.Tx) (err error) {
		b, err = tx.Ledger().Balance(ctx, account, "COIN")
		return err
	})
	amount, negative := b.Net(account.Type())
	if negative {
		return "-" + amount.String()
	}
	return amount.String()
}

// WantBooks checks the operator's accounts.
func (r *OneChain) WantBooks(unattributed, returning, losses string) {
	r.T.Helper()
	if u, b, l := r.Book(ledger.Unattributed), r.Book(ledger.Refunding), r.Book(ledger.Losses); u != unattributed ||
		b != returning || l != losses {
		r.T.Errorf("%s is unattributed, %s on its way back and %s lost; want %s, %s and %s", u, b, l, unattributed, returning,
			losses)
	}
}

// Charged sets a fee of COIN of an account's own.
func (r *OneChain) Charged(account int, kind bursar.FeeKind, fee bursar.Fee) {
	r.T.Helper()
	r.Do(func(tx *store.Tx) error {
		return tx.FeeRules().Set(ctx, bursar.FeeRule{AccountID: r.Accounts[account], Currency: "COIN", Kind: kind, Fee: fee})
	})
}

// Income returns the fees that the operator has taken.
func (r *OneChain) Income(account ledger.Account) bursar.Amount {
	r.T.Helper()
	return r.Balance(account, "COIN")
}
