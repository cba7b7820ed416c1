package bursar

import "time"

// DestinationList says whether an account may withdraw to its destinations only. The zero value is a list that was
// never switched on.
type DestinationList struct {
	On    bool
	Until time.Time // end of the list's effect; zero: it stays on
}

// Binds reports whether the account may withdraw to its destinations only at that time.
func (l DestinationList) Binds(at time.Time) bool {
	return l.On && (l.Until.IsZero() || at.Before(l.Until))
}

// Destination is an address to which an account may withdraw while its list binds.
type Destination struct {
	Number     int64
	ID         ID
	AccountID  ID
	Family     Family       // of the chains on which the address is valid
	Currency   CurrencyCode // the one currency that may go there; empty: every currency of the family's chains
	Address    Address      // in the canonical form of the family's chains; a memo is part of it
	Label      string
	CreatedAt  time.Time
	UsableFrom time.Time
}

// Takes reports whether a currency may go there once the destination is usable.
func (d Destination) Takes(currency CurrencyCode) bool {
	return d.Currency == "" || d.Currency == currency
}

// UsableAt reports whether the waiting period is over at that time.
func (d Destination) UsableAt(at time.Time) bool { return !at.Before(d.UsableFrom) }
