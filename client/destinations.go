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

// Destinations lists the destinations to which withdrawals are restricted.
func (c *Client) Destinations(ctx context.Context, p Page) (Destinations, error) {
	answer, err := call[struct {
		Enabled      bool          `json:"enabled"`
		EnabledUntil *time.Time    `json:"enabledUntil"`
		Destinations []Destination `json:"destinations"`
		NextCursor   string        `json:"nextCursor"`
	}](ctx, c, request{method: http.MethodGet, path: "account/destinations", values: p.values(nil)})
	return Destinations{List[Destination]{answer.Destinations, answer.NextCursor}, answer.Enabled, answer.EnabledUntil},
		err
}
