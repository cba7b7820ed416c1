package wire

import (
	"time"

	"github.com/bursar/bursar"
)

// Link is a payment link as its client sees it.
type Link struct {
	LinkID        bursar.ID             `json:"linkID"`
	Token         bursar.ID             `json:"token"` // opens the link's page
	Currencies    []bursar.CurrencyCode `json:"currencies"`
	PriceCurrency bursar.CurrencyCode   `json:"priceCurrency"` // of Amount
	Amount        *string               `json:"amount"`        // null: each payer chooses the amount
	Fields        []string              `json:"fields"`
	MaxUses       *int64                `json:"maxUses"` // null: no bound
	Expires       int64                 `json:"expires"` // seconds that each charge lasts
	Description   string                `json:"description"`
	Webhook       string                `json:"webhook"`
	Metadata      string                `json:"metadata"`
	CreatedAt     time.Time             `json:"createdAt"`
	ClosesAt      *time.Time            `json:"closesAt"` // null: never by itself
	ClosedAt      *time.Time            `json:"closedAt"` // null unless its client closed it
}

// NewLink returns a link as its client sees it.
func NewLink(l bursar.PaymentLink) Link {
	life := l.Terms.Life
	if life == 0 {
		life = bursar.DefaultChargeLife
	}
	return Link{
		LinkID:        l.ID,
		Token:         l.Token,
		Currencies:    l.Terms.Currencies,
		PriceCurrency: l.Terms.Unit,
		Amount:        optional(l.Terms.Amount),
		Fields:        append([]string{}, l.Fields...),
		MaxUses:       optional(l.MaxUses),
		Expires:       int64(life / time.Second),
		Description:   l.Terms.Description,
		Webhook:       l.Terms.Webhook,
		Metadata:      l.Terms.Metadata,
		CreatedAt:     l.CreatedAt,
		ClosesAt:      optional(l.Closes),
		ClosedAt:      optional(l.ClosedAt),
	}
}
