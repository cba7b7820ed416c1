package bursar

// Anybody can pay an address of an invoice any number of times, and every change reads all payments. So an invoice
// takes a bounded number of them, and once there are some, only such that matter: a flood of small ones must neither
// slow the chain's follower down nor keep the payer's own payment out.
const (
	FreePayments = 100 // an invoice takes so many payments, whatever they are worth
	MaxPayments  = 500 // it takes no more than so many
	MaxQuotes    = 100 // of one currency
	MaxRefunds   = 500
)

// Takes reports whether an invoice takes another payment of a value, zero where that is not known, while so much is
// due. Once it has FreePayments, that has to be a hundredth of what is required, or all that is due. A deposit that is
// not taken is credited to the account as any other; it belongs to no charge.
func (v Invoice) Takes(value, due Amount) bool {
	switch {
	case v.Count < FreePayments:
		return true
	case v.Count >= MaxPayments || value.IsZero():
		return false
	}
	hundredth, _ := v.Required.Div(100)
	return !value.Less(hundredth) || !due.IsZero() && !value.Less(due)
}
