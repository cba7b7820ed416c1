package chain

import "context"

// Endpoint names one configured endpoint of a chain's nodes. It carries no credential.
type Endpoint struct {
	Name string // as metrics and logs name it
	Host string // two endpoints of one host are no second opinion
}

// EndpointReader reads a chain through one endpoint alone, by the very path that Blocks.After takes. The health check
// of an operator, the probe of single blocks and the credit quorum use it: what they see is what the follower would
// see.
type EndpointReader interface {
	// Endpoints returns the endpoints in configured order.
	Endpoints() []Endpoint
	// HeadOn is Blocks.Head through one endpoint.
	HeadOn(ctx context.Context, endpoint string) (Head, error)
	// BlockOn reads the canonical block at a height through one endpoint. It returns ErrNoBlock where the endpoint has
	// none there: above its head, or in a slot that is empty.
	BlockOn(ctx context.Context, endpoint string, height uint64, watch Watch) (Block, error)
}
