package bursar

// Confirmations says how many blocks must hold a deposit before it is credited, itself included. It asks for more than
// the chain's own finality, never for less: a deposit is credited once its block is final and it has so many.
type Confirmations struct {
	Default int                  // of every amount; 0: the chain's own finality is enough
	Above   []ConfirmationsAbove // in ascending order of Amount; Count grows with it
}

// ConfirmationsAbove is how many confirmations a deposit of more than an amount needs.
type ConfirmationsAbove struct {
	Amount Amount // in smallest units of the currency
	Count  int
}

// For returns how many confirmations an amount needs; 0: the chain's own finality is enough.
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
// endpoints of different hosts report its block and its transfer alike. The zero value asks nobody.
type CreditQuorum struct {
	Endpoints int // 0 and 1: the one that the follower reads through is believed
	Above     Amount
}

// Asks reports whether an amount needs a second opinion.
func (q CreditQuorum) Asks(amount Amount) bool { return q.Endpoints > 1 && q.Above.Less(amount) }
