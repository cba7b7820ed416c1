package chain

import "context"

// AssetChecker is a chain whose configured tokens can be checked one by one. A token that differs from its
// configuration stops its own currency, and never the endpoint or the chain.
type AssetChecker interface {
	// CheckAssets asks the healthiest endpoint about every configured token and returns those that must not be credited
	// or paid now, in configured order; none if all are correct. A token about which no endpoint gives an answer is not
	// among them: that is a fault of endpoints. It costs one or two calls for each token.
	CheckAssets(ctx context.Context) []AssetProblem
}

// AssetProblem says why one token cannot be used.
type AssetProblem struct {
	Contract string // canonical
	What     string // for an operator: what is wrong, and what to do
}

// Counting is a chain whose adapter counts what it read by a fallback method.
type Counting interface {
	// Counters returns the counts for metrics by their names in snake case. They start at zero with the process and only
	// grow.
	Counters() map[string]uint64
}
