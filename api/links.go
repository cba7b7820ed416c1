package api

import (
	"context"
	"slices"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/charge"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/wire"
)

// linkParams are the parameters that identify a request for a payment link.
var linkParams = append(slices.DeleteFunc(slices.Clone(chargeParams), func(name string) bool {
	return name == "minimum" || name == "reference" || name == "customer"
}), "fields", "maxUses", "closesAt")

type linkAnswer struct {
	Link wire.Link `json:"link"`
}

// createLink is POST link.
func (a *api) createLink(ctx context.Context, c *call) (any, error) {
	n := charge.NewLink{
		Terms: charge.Terms{
			Account:    c.identity.Account,
			Currencies: codes(c.in.required("currency")),
			Webhook:    c.in.required("webhook"),
		},
		Made: func(_ context.Context, tx *store.Tx, l bursar.PaymentLink) error {
			return c.keep(tx, linkAnswer{wire.NewLink(l)})
		},
	}
	_, amount := c.in.params["amount"]
	_, price := c.in.params["price"]
	switch fiat, named := c.in.optional("priceCurrency"); {
	case amount && price:
		c.in.refuse("price", "send amount or price, or neither for an open amount")
	case amount || price:
		c.in.price(&n.Terms)
	case named:
		n.Unit, n.Fiat = bursar.CurrencyCode(fiat), true
		c.in.lives(&n.Terms)
	case len(n.Currencies) > 1:
		c.in.refuse("currency", "a link with an open amount in a currency has one currency; send priceCurrency for several")
	default:
		n.Unit = n.Currencies[0]
		c.in.lives(&n.Terms)
	}
	c.in.terms(&n.Terms)
	if fields, sent := c.in.optional("fields"); sent && fields != "" {
		n.Fields = strings.Split(fields, ",")
	}
	if uses, sent := c.in.whole("maxUses", 1, charge.MaxUses); sent {
		n.MaxUses = int64(uses)
	}
	n.Closes, _ = c.in.instant("closesAt")
	if c.in.err != nil {
		return nil, c.in.err
	}
	l, err := a.Charges.CreateLink(ctx, n)
	if err != nil {
		return nil, err
	}
	return linkAnswer{wire.NewLink(l)}, nil
}

// getLink is GET link.
func (a *api) getLink(ctx context.Context, c *call) (any, error) {
	id := c.in.requiredID("linkID")
	if c.in.err != nil {
		return nil, c.in.err
	}
	l, err := a.Charges.Link(ctx, c.identity.Account, id)
	if err != nil {
		return nil, err
	}
	return linkAnswer{wire.NewLink(l)}, nil
}

// closeLink is POST link/close.
func (a *api) closeLink(ctx context.Context, c *call) (any, error) {
	id := c.in.requiredID("linkID")
	if c.in.err != nil {
		return nil, c.in.err
	}
	l, err := a.Charges.CloseLink(ctx, c.identity.Account, id,
		func(_ context.Context, tx *store.Tx, l bursar.PaymentLink) error {
			return c.keep(tx, linkAnswer{wire.NewLink(l)})
		})
	if err != nil {
		return nil, err
	}
	return linkAnswer{wire.NewLink(l)}, nil
}

type linksAnswer struct {
	Links      []wire.Link `json:"links"`
	NextCursor string      `json:"nextCursor,omitempty"`
}

// listLinks is GET account/links.
func (a *api) listLinks(ctx context.Context, c *call) (any, error) {
	page := c.in.page(linkList)
	f := charge.LinkFilter{Currency: a.optionalCurrency(c), Metadata: c.in.metadata()}
	f.Open = c.in.flag("open")
	f.From, _ = c.in.instant("from")
	f.To, _ = c.in.instant("to")
	if c.in.err != nil {
		return nil, c.in.err
	}
	links, next, err := a.Charges.SelectLinks(ctx, c.identity.Account, f, page)
	if err != nil {
		return nil, err
	}
	var answer linksAnswer
	links, answer.NextCursor = cut(links, page, linkList, func(l bursar.PaymentLink) int64 { return l.Number })
	if next > 0 { // as many links as a page looks at have no more that are selected
		answer.NextCursor = linkList.cursor(next)
	}
	answer.Links, err = each(links, func(l bursar.PaymentLink) (wire.Link, error) { return wire.NewLink(l), nil })
	return answer, err
}
