package wallet

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// taken is what the transaction of a batch takes and reads before it writes wallets.
type taken struct {
	number   int64 // of the first wallet
	families []familyTaken
	versions store.WebhookVersions
	answers  store.Identity // the copy of the database that answers
}

// familyTaken are the indexes of one family.
type familyTaken struct {
	chain.Capabilities
	places []int  // of the wallets that they are for
	first  uint32 // index
	soon   *store.Deferred[uint32]
}

// take takes the numbers and indexes of a batch, and reads what else the batch needs, in one round trip.
func (s *Service) take(ctx context.Context, tx *store.Tx, orders []New) (t taken, err error) {
	if t.families, err = s.familiesOf(orders); err != nil {
		return t, err
	}
	number := tx.Wallets().TakeNumbersDeferred(ctx, len(orders))
	for i, f := range t.families {
		t.families[i].soon = tx.KeyIndexes().TakeDeferred(ctx, f.Family, len(f.places))
	}
	var answers *store.Deferred[store.Identity]
	if s.Marks != nil {
		// Ask the server in this transaction: since the service last asked, another server may have been promoted, which
		// does not know the indexes that other processes gave out.
		answers = tx.Settings().IdentityDeferred(ctx)
	}
	accounts := make([]bursar.ID, len(orders))
	for i, n := range orders {
		accounts[i] = n.Account
	}
	versions := tx.Wallets().WebhookVersionsDeferred(ctx, accounts)
	if t.number, err = number.Get(ctx); err != nil {
		return t, err
	}
	for i := range t.families {
		if t.families[i].first, err = t.families[i].soon.Get(ctx); err != nil {
			return t, err
		}
	}
	if answers != nil {
		if t.answers, err = answers.Get(ctx); err != nil {
			return t, err
		}
	}
	t.versions, err = versions.Get(ctx)
	return t, err
}

// familiesOf groups the requested wallets by the family of their keys.
func (s *Service) familiesOf(orders []New) (families []familyTaken, err error) {
	at := map[bursar.Family]int{}
	for i, n := range orders {
		c, err := s.chainOf(n.Currency)
		if err != nil {
			return nil, err
		}
		capabilities := c.Capabilities()
		place, known := at[capabilities.Family]
		if !known {
			place = len(families)
			at[capabilities.Family] = place
			families = append(families, familyTaken{Capabilities: capabilities})
		}
		families[place].places = append(families[place].places, i)
	}
	return families, nil
}
