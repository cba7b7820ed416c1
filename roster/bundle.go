// Package roster defines the approval policy: who may decide what, with the people who may approve, as one versioned
// text that a quorum of authors signs.
//
// It owns the text (bursar-policy/1), the evaluation of a payment by it, the comparison of two versions, and whose
// signatures count. Its invariants: what no rule allows is refused; a deny wins over every allow; persons are counted,
// never keys; whatever is not clearly a tightening counts as loosening. It never keeps anything between calls: package
// signer has the memory, the clock and the transaction.
package roster

import (
	"cmp"
	"crypto/ed25519"
	"errors"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/passkey"
	"github.com/bursar/bursar/sshsig"
)

// KindPolicy is the first line of a policy.
const KindPolicy = "bursar-policy/1"

// ErrUnsound is returned for a policy that contradicts itself, or that nobody could ever use.
var ErrUnsound = errors.New("the policy is not usable")

// The roles. A rule may demand approvals in others too.
const (
	RoleAuthor   = "author"   // signs policies and thaws
	RoleApprover = "approver" // approves payments and destinations
)

// Policy is one version of the policy with its people.
type Policy struct {
	Instance  string // of the signer's state that it is for
	Network   string
	Version   int64         // the one before, and 1
	Previous  approval.Hash // of the text before; zero for the first version
	Created   time.Time
	NotBefore time.Time // when it begins

	Authors      int           // how many authors must sign the next version
	Destinations int           // how many approvers must sign a destination
	Hold         time.Duration // how long a new destination waits
	Reference    string        // the currency of Price and of the rules' amounts

	Screeners []ed25519.PublicKey // of screening services whose pass counts; sorted by their text

	Site passkey.Origin // where people's passkeys sign; zero: there are none

	Epoch Epoch // the seed that may have the hot wallet next

	Assets []Asset  // by name
	People []Person // by name
	Rules  []Rule

	hash      approval.Hash // of the text, where it was tightened since; see Tightened
	tightened int64         // the newest version that tightened it
	versions  []Policy      // where it was tightened: as it was signed, and those that tightened it
}

// Asset is an asset that may leave. Its price is a ceiling of the signer's own: no rate from outside raises a limit.
type Asset struct {
	Name     string
	Chain    bursar.ChainID
	Contract string // canonical; empty for the native asset
	Decimals int
	Price    Value // of 10^Decimals units
}

// Person is one person with their keys.
type Person struct {
	Name  string
	Until time.Time // their signatures count until then
	Roles []string
	Keys  []sshsig.Key
	// Passkeys approve payments under rules that count them, and sign nothing else.
	Passkeys []passkey.Key
}

// Has reports whether a person has a role at a time.
func (p Person) Has(role string, now time.Time) bool {
	return now.Before(p.Until) && slices.Contains(p.Roles, role)
}

// The kinds of transactions that a rule may be for, as chain.Kind has them.
const (
	KindWithdrawal    = "withdrawal"
	KindSweep         = "sweep"
	KindGasTopUp      = "gas_top_up"
	KindConsolidation = "consolidation"
	KindToCold        = "to_cold"
)

var kinds = []string{KindConsolidation, KindGasTopUp, KindSweep, KindToCold, KindWithdrawal}

// Where a rule's payments go.
const (
	ToListed = "listed" // to a destination that approvers signed
	ToAny    = "any"
	ToOwn    = "own" // to addresses of ours, hot or cold: everything but withdrawals
)

// Rule allows or denies payments.
type Rule struct {
	ID     string
	Deny   bool
	For    []string // kinds; sorted
	Assets []string // names of assets; nil: all that have a price
	// To is ToListed, ToAny or ToOwn; in a deny ToAny, ToOwn or one address.
	To string
	// Each is the most that one payment may be worth; in a deny only what is worth more is denied. Zero: any.
	Each Value

	// The rest is of allows only.
	Windows    []Window // of what leaves, with fees; shortest first, as all of these
	Fees       []Window // of what its transactions can cost; demands prices of the native assets
	Payments   []Window // of how many payments; Most is a number
	PerAccount []Window // of what leaves for one account; it then allows only what a client of the account signed
	Need       int      // approvals by different persons
	Role       string   // in which they approve; empty without Need
	// Keys are the kinds of keys whose approvals count, sorted; nil: those of SSH.
	Keys  []KeyKind
	Hold  time.Duration
	Hours Hours
	// Screened is for how long a pass of the screening service counts; zero: none is needed.
	Screened time.Duration

	addresses map[bursar.ChainID]bursar.Address // To as each chain writes it; see Spell
}

// Window is the most that may count of a Measure by a rule within a time that slides.
type Window struct {
	Length time.Duration
	Most   Value
}

// Hash returns the hash of a policy's text; of a tightened one, of the text that was signed.
func (p Policy) Hash() approval.Hash {
	if p.hash != (approval.Hash{}) {
		return p.hash
	}
	return approval.HashOf(p.Text())
}

// Person returns a person by name.
func (p Policy) Person(name string) (Person, bool) {
	i := slices.IndexFunc(p.People, func(one Person) bool { return one.Name == name })
	if i < 0 {
		return Person{}, false
	}
	return p.People[i], true
}

// asset returns the asset of a contract.
func (p Policy) asset(chain bursar.ChainID, contract string) (Asset, bool) {
	i := slices.IndexFunc(p.Assets, func(a Asset) bool { return a.Chain == chain && a.Contract == contract })
	if i < 0 {
		return Asset{}, false
	}
	return p.Assets[i], true
}

// Worth returns what units of an asset are worth by the policy's price; false: it has none.
func (p Policy) Worth(chain bursar.ChainID, contract string, units bursar.Amount) (Value, bool) {
	a, priced := p.asset(chain, contract)
	return a.worth(units), priced
}

// Longest returns the length of the longest window of the rules.
func (p Policy) Longest() (longest time.Duration) {
	for _, r := range p.Rules {
		for _, b := range r.bounds() {
			for _, w := range b.windows {
				longest = max(longest, w.Length)
			}
		}
	}
	return longest
}

// compareRules orders allows, the strictest first.
func compareRules(a, b Rule) int {
	each := func(r Rule) Value {
		if r.Each.IsZero() {
			return bursar.LargestAmount()
		}
		return r.Each
	}
	order := func(holds bool) int {
		if holds {
			return 0
		}
		return 1
	}
	return cmp.Or(b.Need-a.Need, cmp.Compare(b.Hold, a.Hold), order(a.Hours != "")-order(b.Hours != ""),
		order(a.To != ToAny)-order(b.To != ToAny),
		order(a.Screened > 0)-order(b.Screened > 0), each(a).Cmp(each(b)), cmp.Compare(a.ID, b.ID))
}
