package chain

import "context"

// Endpoint names one configured endpoint of a chain's nodes. It carries no credential.
type Endpoint struct {
	Name string // as in metrics and logs
	Host string // two endpoints of one host are not a second opinion
}

// EndpointReader reads a chain through one endpoint alone, by the same code as Blocks.After. The operator's health
// check, the probe of single blocks and the credit quorum use it: they see what the follower would see.
type EndpointReader interface {
	// Endpoints returns the endpoints in configured order.
	Endpoints() []Endpoint
	// HeadOn is Blocks.Head through one endpoint.
	HeadOn(ctx context.Context, endpoint string) (Head, error)
	// BlockOn reads the canonical block at a height through one endpoint. It returns ErrNoBlock where the endpoint has
	// none: above its head, or in an empty slot.
	BlockOn(ctx context.Context, endpoint string, height uint64, watch Watch) (Block, error)
}
