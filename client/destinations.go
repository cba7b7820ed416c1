package client

import (
	"context"
	"net/http"
	"time"
)

// Destination is an address to which withdrawals may go while the account's list is enabled.
type Destination struct {
	DestinationID string    `json:"destinationID"`
	Currencies    []string  `json:"currencies"` // those that may go there
	Address       string    `json:"address"`    // in its chain's canonical form; a memo is part of it
	Label         string    `json:"label"`
	Usable        bool      `json:"usable"`
	UsableFrom    time.Time `json:"usableFrom"` // end of its waiting period
	CreatedAt     time.Time `json:"createdAt"`
}

// Destinations is a page of the list that the operator keeps for the account. While it is enabled, Withdraw is refused
// with DestinationRefused for every other address and for one whose waiting period is not over.
type Destinations struct {
	List[Destination]
	Enabled      bool
	EnabledUntil *time.Time // when it ends, if it was switched off
}

// DestinationFilter says which destinations to list. An empty field does not restrict; several must all match.
type DestinationFilter struct {
	Currency string // that may be withdrawn to them
	Address  string // in any form that the chain has
	Usable   string // "true" or "false": the waiting period is over, or not
}

// Destinations lists the destinations to which withdrawals are restricted.
func (c *Client) Destinations(ctx context.Context, p Page) (Destinations, error) {
	return c.DestinationsBy(ctx, DestinationFilter{}, p)
}

// DestinationsBy is Destinations for those that a filter selects.
func (c *Client) DestinationsBy(ctx context.Context, f DestinationFilter, p Page) (Destinations, error) {
	values := set(map[string]string{"currency": f.Currency, "address": f.Address, "usable": f.Usable})
	answer, err := call[struct {
		Enabled      bool          `json:"enabled"`
		EnabledUntil *time.Time    `json:"enabledUntil"`
		Destinations []Destination `json:"destinations"`
		NextCursor   string        `json:"nextCursor"`
	}](ctx, c, request{method: http.MethodGet, path: "account/destinations", values: p.values(values)})
	return Destinations{List[Destination]{answer.Destinations, answer.NextCursor}, answer.Enabled, answer.EnabledUntil},
		err
}
