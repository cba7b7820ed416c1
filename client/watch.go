package client

import (
	"context"
	"iter"
	"net/http"
	"time"
)

// Watched is a charge as it was at one moment.
type Watched struct {
	Charge Charge `json:"charge"`
	Seen   string `json:"seen"` // names its state
}

// WatchCharge returns a charge as soon as its state is not the one that seen names, or after wait, in whole seconds up
// to 25. An empty seen, and a wait of less than a second, return it at once. The error is NotFound for a charge that is
// unknown or another account's, and RateLimited where too many requests of the account wait.
func (c *Client) WatchCharge(ctx context.Context, chargeID, seen string, wait time.Duration) (Watched, error) {
	values := set(map[string]string{"chargeID": chargeID, "seen": seen})
	if wait >= time.Second {
		values["wait"] = int(wait / time.Second)
	}
	return call[Watched](ctx, c, request{method: http.MethodGet, path: "charge/events", values: values})
}

// FollowCharge reads a charge as it is now, and again at each change of it, until ctx ends or a call fails:
//
//	for charge, err := range c.FollowCharge(ctx, chargeID) { … }
func (c *Client) FollowCharge(ctx context.Context, chargeID string) iter.Seq2[Charge, error] {
	const wait = 25 * time.Second
	return func(yield func(Charge, error) bool) {
		for seen := ""; ; {
			now, err := c.WatchCharge(ctx, chargeID, seen, wait)
			if err != nil {
				yield(Charge{}, err)
				return
			}
			if now.Seen != seen && !yield(now.Charge, nil) {
				return
			}
			seen = now.Seen
		}
	}
}
