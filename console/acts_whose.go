package console

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/treasury"
)

// whose returns the account that the object of an act belongs to.
type whose func(ctx context.Context, tx *store.Tx, v *visit, object bursar.ID) (bursar.ID, error)

// reaches checks, before anything else is read of the object of an act, that the person may see it. A person who is
// restricted to some accounts must not learn from what the act refuses that an object of another account exists, or how
// it is.
func (c *Console) reaches(v *visit, d deed, object string) error {
	if len(v.person.Accounts) == 0 {
		return nil
	}
	if d.whose == nil {
		return v.person.May(d.verb, bursar.ID{})
	}
	id, _ := bursar.ParseID(object) // what is not an ID belongs to nobody
	return c.DB.View(v.ctx, func(tx *store.Tx) error {
		account, err := d.whose(v.ctx, tx, v, id)
		if err == nil && !v.person.Sees(account) {
			err = bursar.ErrNotFound
		}
		return store.AsRefusal(err)
	})
}

func accountItself(_ context.Context, _ *store.Tx, _ *visit, id bursar.ID) (bursar.ID, error) {
	return id, nil
}

func theTreasury(context.Context, *store.Tx, *visit, bursar.ID) (bursar.ID, error) {
	return treasury.Account, nil
}

func ofWithdrawal(ctx context.Context, tx *store.Tx, _ *visit, id bursar.ID) (bursar.ID, error) {
	w, err := tx.Withdrawals().ByID(ctx, id)
	return w.AccountID, err
}

func ofDeposit(ctx context.Context, tx *store.Tx, _ *visit, id bursar.ID) (bursar.ID, error) {
	d, err := tx.Deposits().ByID(ctx, id)
	return d.AccountID, err
}

func ofCharge(ctx context.Context, tx *store.Tx, _ *visit, id bursar.ID) (bursar.ID, error) {
	d, err := tx.Invoices().ByID(ctx, id)
	return d.AccountID, err
}

func ofEvent(ctx context.Context, tx *store.Tx, _ *visit, id bursar.ID) (bursar.ID, error) {
	d, err := tx.Deliveries().ByID(ctx, id)
	return d.AccountID, err
}

func ofKey(ctx context.Context, tx *store.Tx, v *visit, id bursar.ID) (bursar.ID, error) {
	for _, account := range v.person.Accounts {
		keys, err := tx.APIKeys().List(ctx, account)
		if err != nil {
			return account, err
		}
		for _, k := range keys {
			if k.ID == id {
				return account, nil
			}
		}
	}
	return bursar.ID{}, store.ErrNotFound
}
