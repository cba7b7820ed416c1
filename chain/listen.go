package chain

import "context"

// Listener is a chain whose nodes announce new blocks. An announcement is only a hint to poll: it may be early, late,
// duplicated or missing, and nothing is read from it.
type Listener interface {
	// Listen keeps one subscription at url open and calls announced, which does not block, for each announcement. It
	// returns when the subscription ends, with the reason, or with the context's error. It does not reconnect by itself.
	Listen(ctx context.Context, url string, announced func()) error
}
