package charge

import (
	"context"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// LinkFilter selects payment links. A zero field does not restrict.
type LinkFilter struct {
	store.LinkFilter
	Currency bursar.CurrencyCode // in which its charges may be paid
	Metadata string              // exactly this
}

// linksOnce is how many links one page looks at for a currency or metadata, which are among the terms of a link.
const linksOnce = 5000

// SelectLinks returns an account's links that a filter selects, newest first. It looks at a bounded number of links:
// where these have no whole page, next is the number from which on another page continues; 0 at the end.
func (s *Service) SelectLinks(
	ctx context.Context, account bursar.ID, f LinkFilter, page store.Page,
) (list []bursar.PaymentLink, next int64, err error) {
	look := page
	if f.Currency != "" || f.Metadata != "" {
		look.Limit = max(page.Limit, linksOnce)
	}
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		list, err = tx.PaymentLinks().Select(ctx, account, f.LinkFilter, look)
		return err
	})
	if len(list) == look.Limit {
		next = list[len(list)-1].Number
	}
	list = slices.DeleteFunc(list, func(l bursar.PaymentLink) bool { return !f.has(l) })
	if len(list) >= page.Limit {
		return list[:max(page.Limit, 0)], 0, err
	}
	return list, next, err
}

func (f LinkFilter) has(l bursar.PaymentLink) bool {
	return (f.Currency == "" || slices.Contains(l.Terms.Currencies, f.Currency)) &&
		(f.Metadata == "" || l.Terms.Metadata == f.Metadata)
}
