package bursar

import "time"

// Charge is a deposit request with an end. It is paid once one confirmed deposit of at least Minimum was seen in a
// block before Expires. Its ID is also the ID of the wallet that receives its payment.
type Charge struct {
	Number    int64
	ID        ID
	AccountID ID
	Currency  CurrencyCode
	Address   Address
	Minimum   Amount
	Token     ID // 128 random bits for the payer's page; set when the charge is made, and not read back
	Webhook   string
	Metadata  string
	CreatedAt time.Time
	Expires   time.Time
	PaidBy    ID   // the deposit that paid it; zero while unpaid
	Deposits  []ID // every confirmed deposit to its address
	Awaited   bool // a deposit that will pay it is in a block that is not final
}

// Paid reports whether a deposit has paid the charge.
func (c Charge) Paid() bool { return !c.PaidBy.IsZero() }

// Expired reports whether the charge ended unpaid before that time. A charge whose payment was seen in time and waits
// for its confirmations has not expired: it will be paid, unless the payment is reorged out.
func (c Charge) Expired(at time.Time) bool {
	return !c.Paid() && !c.Awaited && !at.Before(c.Expires)
}

// Left returns the seconds until the charge's end, rounded up, so that 0 means that the charge has ended.
func (c Charge) Left(at time.Time) int64 {
	return int64(max(0, c.Expires.Sub(at)+time.Second-1) / time.Second)
}

// PaidWith reports whether a confirmed deposit of that amount, first seen in a block at that time, pays the charge. The
// amount is the one that the chain delivered, before any fee. Several deposits that are each too small never add up.
func (c Charge) PaidWith(amount Amount, seen time.Time) bool {
	return !c.Paid() && !amount.Less(c.Minimum) && seen.Before(c.Expires)
}

// Limits of a charge's lifetime.
const (
	DefaultChargeLife = time.Hour
	MinChargeLife     = time.Minute
	MaxChargeLife     = 30 * 24 * time.Hour
)
