package bursar

// Confirmations is the number of blocks that a deposit needs before it is credited, its own block included. It only
// adds to the chain's own finality: a deposit is credited once its block is final and it has so many confirmations.
type Confirmations struct {
	Default int                  // for every amount; 0: the chain's own finality is enough
	Above   []ConfirmationsAbove // in ascending order of Amount; Count grows with it
}

// ConfirmationsAbove is the number of confirmations that a deposit of more than an amount needs.
type ConfirmationsAbove struct {
	Amount Amount // in smallest units of the currency
	Count  int
}

// For returns the number of confirmations that an amount needs; 0: the chain's own finality is enough.
func (c Confirmations) For(amount Amount) int {
	needed := c.Default
	for _, step := range c.Above {
		if step.Amount.Less(amount) {
			needed = max(needed, step.Count)
		}
	}
	return needed
}

// CreditQuorum says that a deposit of more than Above, in smallest units of the currency, is credited only once so many
// endpoints of different hosts report the same block and the same transfer. The zero value asks no other endpoint.
type CreditQuorum struct {
	Endpoints int // 0 and 1: the endpoint that the follower reads from is enough
	Above     Amount
}

// Asks reports whether an amount needs a second opinion.
func (q CreditQuorum) Asks(amount Amount) bool { return q.Endpoints > 1 && q.Above.Less(amount) }
