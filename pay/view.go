package pay

import (
	"fmt"
	"html/template"
	"time"

	"github.com/bursar/bursar"
)

// Page is everything that the templates show. What a state does not show is empty.
type Page struct {
	Lang, Dir    string
	Languages    []Choice
	Style        string
	Script       string
	Logo         string
	Shop         string
	Problem      string // of a page without a charge
	Path         string // of the page, with its query
	Events, Part string // paths of the stream and of the changing part
	Key          string // changes with what is shown
	Seen         Seen

	ID          bursar.ID
	Description string
	Required    Money
	State       State
	Figures     Figures
	Notices     []string
	Options     []Option
	Pay         *Payable // what is asked for
	Progress    *Progress
	Payments    []Received
	Refunds     []RefundForm
	Wrong       bool   // the address for a refund was not taken
	Token       string // in the paths of forms
	Back        string // URL of the shop
	Contact     string
	ContactURL  string
	Live        bool // changes are expected

	texts   *catalogue
	chosen  string // language
	account bursar.ID
}

// Money is an amount for people.
type Money struct{ Amount, Currency string }

// String returns the amount with its currency.
func (m Money) String() string { return m.Amount + "\u00a0" + m.Currency }

// Figures fill the sentences of a state.
type Figures struct{ Received, Due, Required, Over string }

// Choice is a link that shows the page in another way.
type Choice struct {
	Name, Code, URL string
	Chosen          bool
}

// Option is a currency that a payer may choose.
type Option struct {
	Code     bursar.CurrencyCode
	Money    Money
	Network  string
	Minimum  bool // it is asked for no less than this
	URL      string
	HasQuote bool // it is chosen already, and a link shows it
}

// Payable is what a payer is asked to pay.
type Payable struct {
	Currency bursar.CurrencyCode
	Money    Money
	Network  string
	Address  string
	Tag      string
	URI      string
	App      string        // of a wallet that opens by a web address; empty: none is offered
	AppURL   string        // which that is
	Form     string        // what Image holds
	Image    template.HTML // a QR code
	Forms    []Choice      // of the QR code; none where there is one form only
	Until    time.Time
	Left     int // whole minutes
	Others   string
}

// Progress is how far the payments of a charge are.
type Progress struct {
	Of, Done int // confirmations; 0: none are counted
	Minutes  int // that it takes yet; 0: unknown
}

// Received is a payment on the receipt.
type Received struct {
	Money   Money
	Network string
	At      time.Time
	TxID    string
	URL     string // of an explorer; empty: none is named
	State   string // key of a text
}

// T returns a text of the page's language.
func (p Page) T(key string, values ...string) string { return p.texts.say(key, 0, values...) }

// N returns a text in the plural form of a number, which it shows as {n}.
func (p Page) N(key string, n int, values ...string) string {
	return p.texts.say(key, n, append(values, "n", fmt.Sprint(n))...)
}
