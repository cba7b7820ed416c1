package bursar

import "time"

// PaymentLink is a template of charges whose deposits add up: each payer who submits its page gets a charge of their
// own. It is reusable until it is closed, has ended or is used up.
type PaymentLink struct {
	Number    int64 // from the numbers of wallets
	ID        ID
	AccountID ID
	Token     ID // 128 random bits that open its page; never the ID
	Terms     LinkTerms
	Fields    []string // that a payer is asked for, all of them
	MaxUses   int64    // charges that are paid or may still be; 0: no bound
	CreatedAt time.Time
	Closes    time.Time // when it ends by itself; zero: never
	ClosedAt  time.Time // zero unless the client closed it
}

// Takes reports whether the link makes charges at a time, as far as that depends on the link alone.
func (l PaymentLink) Takes(now time.Time) bool {
	return l.ClosedAt.IsZero() && (l.Closes.IsZero() || now.Before(l.Closes))
}

// LinkTerms are the terms of the charges of a link, as they were asked for. The texts of amounts are plain decimals.
type LinkTerms struct {
	Currencies  []CurrencyCode
	Unit        CurrencyCode
	Fiat        bool
	Amount      string // empty: each payer says how much
	Under, Over LinkTolerance
	Late, Other Handling
	Life        time.Duration
	RateLock    time.Duration
	Description string
	Webhook     string
	Metadata    string
	Success     string
	Failure     string
	Contact     string
	Locale      string
	LinkFormat  string
	Events      []EventKind
}

// LinkTolerance is a share of the price in millionths, and an amount in its unit; the smaller one counts.
type LinkTolerance struct {
	Millionths uint32
	Amount     string // empty: none
	HasShare   bool
}

// LinkAnswer is what a payer wrote into a field of a link's page.
type LinkAnswer struct {
	Name  string
	Value string
}
