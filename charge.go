package bursar

import "time"

// Charge is a deposit request with an end: paid once one confirmed deposit of at least Minimum was seen in a block
// before Expires. Its ID is also the ID of the wallet that receives for it.
type Charge struct {
	Number    int64
	ID        ID
	AccountID ID
	Currency  CurrencyCode
	Address   Address
	Minimum   Amount
	Webhook   string
	Metadata  string
	CreatedAt time.Time
	Expires   time.Time
	PaidBy    ID   // the deposit that paid it; zero while unpaid
	Deposits  []ID // every confirmed deposit to its address
	Awaited   bool // a deposit that will pay it stands in a block that is not final
}

// Paid reports whether a deposit has paid the charge.
func (c Charge) Paid() bool { return !c.PaidBy.IsZero() }

// Expired reports whether the charge ended unpaid before that time. One whose payment was seen in time and waits for
// its confirmations has not: it will be paid, unless the payment leaves its chain.
func (c Charge) Expired(at time.Time) bool {
	return !c.Paid() && !c.Awaited && !at.Before(c.Expires)
}

// Left returns the seconds until the charge's end, a begun one counted whole, so that 0 says that it has come.
func (c Charge) Left(at time.Time) int64 {
	return int64(max(0, c.Expires.Sub(at)+time.Second-1) / time.Second)
}

// PaidWith reports whether a confirmed deposit of that amount, first seen in a block at that time, pays the charge.
// What counts is what the chain delivered, before any fee. Several that are short never add up.
func (c Charge) PaidWith(amount Amount, seen time.Time) bool {
	return !c.Paid() && !amount.Less(c.Minimum) && seen.Before(c.Expires)
}

// Limits of a charge's life.
const (
	DefaultChargeLife = time.Hour
	MinChargeLife     = time.Minute
	MaxChargeLife     = 30 * 24 * time.Hour
)
