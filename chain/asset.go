package chain

import "context"

// AssetChecker is a chain whose configured tokens can be checked one by one. A token that is not what the configuration
// says stops its own currency, and never the endpoint or the chain.
type AssetChecker interface {
	// CheckAssets asks the healthiest endpoint about every configured token and returns those that must not be credited or
	// paid now, in configured order; none where all are well. A token about which no endpoint gives an answer is not in
	// it: that is a question of endpoints. It costs one or two calls for each token.
	CheckAssets(ctx context.Context) []AssetProblem
}

// AssetProblem is why one token cannot be used.
type AssetProblem struct {
	Contract string // canonical
	What     string // for an operator: what is wrong, and what to do about it
}

// Counting is a chain whose adapter counts what it passed by a second method. The counts are for metrics: they begin at
// zero with the process, only grow, and have one name each in snake case.
type Counting interface {
	Counters() map[string]uint64
}
