package approval

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bursar/bursar"
)

// NamespaceCompromise is the namespace of signatures over a Compromise.
const NamespaceCompromise = "compromise@bursar"

// KindCompromise is the first line of a Compromise.
const KindCompromise = "bursar-compromise/1"

// LongestCompromise is the longest that a compromise order may be valid: a leap year.
const LongestCompromise = 366 * 24 * time.Hour

// Compromise is a compromise order: once it is used, the signer signs nothing any more but what moves everything to the
// cold wallets that it names. It is signed beforehand, and used once.
type Compromise struct {
	Instance string
	ID       Nonce // of the order: no second one of this ID is ever used
	Version  int64 // of the policy that is in force when it is signed, and when it is used
	Policy   Hash  // the hash of that policy's text
	Created  time.Time
	Expires  time.Time // at most LongestCompromise after Created
	Cold     []ColdDestination
}

// ColdDestination is where everything of one chain goes: an address of a cold wallet, in the form of the chain.
type ColdDestination struct {
	Chain bursar.ChainID
	Base  string
}

// Text returns the text of a compromise order.
func (c Compromise) Text() string {
	w := NewWriter(KindCompromise)
	w.Field("instance", c.Instance)
	w.Field("order", c.ID.String())
	w.Field("policy", fmt.Sprintf("%d %s", c.Version, c.Policy))
	w.Time("created", c.Created)
	w.Time("expires", c.Expires)
	for _, d := range c.Cold {
		w.Field("cold", string(d.Chain)+" "+d.Base)
	}
	return w.Text()
}

// ParseCompromise reads the text of a compromise order. It names at least one chain, each once, sorted. The error is
// ErrText.
func ParseCompromise(text string) (c Compromise, err error) {
	r := NewReader(text, KindCompromise)
	c.Instance = r.Word("instance")
	c.ID = r.Nonce("order")
	r.Demand(r.Err() != nil || c.ID != Nonce{}, "the order is the zero ID")
	c.Version, c.Policy = r.Version("policy")
	c.Created, c.Expires = r.Time("created"), r.Time("expires")
	for r.Has("cold") {
		chain, base, _ := strings.Cut(r.Line("cold"), " ")
		r.Demand(IsName(chain) && base != "" && !strings.Contains(base, " ") && len(base) <= 200,
			"cold is %.80q, want a chain and an address", chain+" "+base)
		c.Cold = append(c.Cold, ColdDestination{bursar.ChainID(chain), base})
	}
	r.Demand(r.Err() != nil || len(c.Cold) > 0, "the text names no cold wallet")
	for i := 1; i < len(c.Cold); i++ {
		r.Demand(c.Cold[i-1].Chain < c.Cold[i].Chain, "the chains are to be sorted, each once")
	}
	r.Demand(r.Err() != nil || c.Created.Before(c.Expires) && c.Expires.Sub(c.Created) <= LongestCompromise,
		"the text must end after it begins, within %d days", LongestCompromise/(24*time.Hour))
	return Canonical(r, c, text)
}

// To returns the address that an order names for a chain; "" if it names none.
func (c Compromise) To(id bursar.ChainID) string {
	i := slices.IndexFunc(c.Cold, func(d ColdDestination) bool { return d.Chain == id })
	if i < 0 {
		return ""
	}
	return c.Cold[i].Base
}
