package rpc

import (
	"context"
	"fmt"
	"strings"
)

// Endpoint names one configured endpoint. It carries no credential.
type Endpoint struct {
	Name string // as in EndpointStats
	Host string // without the port: two endpoints of one host are not a second opinion
}

// Endpoints returns the endpoints in configured order.
func (c *Client) Endpoints() []Endpoint {
	list := make([]Endpoint, len(c.pool.endpoints))
	for i, e := range c.pool.endpoints {
		list[i] = Endpoint{Name: e.name, Host: strings.ToLower(e.url.Hostname())}
	}
	return list
}

// On is Pin at the endpoint with a name, as in Endpoints. The endpoint is checked if a check is due. The error is
// ErrUnavailable if it fails its check or its cool-down is not over.
func (c *Client) On(ctx context.Context, name string) (*Session, error) {
	op := "use " + plain(name)
	for _, e := range c.pool.endpoints {
		if e.name != name {
			continue
		}
		epoch, err := c.enter(ctx, e)
		if err == nil {
			return &Session{client: c, endpoint: e, epoch: epoch}, nil
		}
		if ctx.Err() != nil {
			return nil, fmt.Errorf("%s: %w", op, err)
		}
		return nil, &unavailableError{op: op, faults: []endpointFault{{e.name, c.faultOf(err)}}}
	}
	return nil, fmt.Errorf("%s: no endpoint has this name", op)
}
