package approval

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func compromise() Compromise {
	return Compromise{Instance: instance, ID: Nonce{4}, Version: 7, Policy: HashOf("policy"), Created: noon,
		Expires: noon.Add(LongestCompromise), Cold: []ColdDestination{
			{"bitcoin", "bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3"},
			{"ethereum", "0x5B38Da6a701c568545dCfcB03FcB875f56beddC4"},
		}}
}

func TestACompromiseOrderIsReadWhole(t *testing.T) {
	t.Parallel()
	c := compromise()
	got, err := ParseCompromise(c.Text())
	if err != nil || got.Text() != c.Text() || got.ID != c.ID || got.Version != 7 || len(got.Cold) != 2 {
		t.Errorf("got %+v, %v, want %+v", got, err, c)
	}
	if to := got.To("ethereum"); to != c.Cold[1].Base {
		t.Errorf("ethereum goes to %q, want %s", to, c.Cold[1].Base)
	}
	if to := got.To("tron"); to != "" {
		t.Errorf("tron goes to %q, want nowhere", to)
	}
}

// What is signed beforehand has one spelling: another one that means the same would be a second order.
func TestACompromiseOrderHasOneSpelling(t *testing.T) {
	t.Parallel()
	text, c := compromise().Text(), compromise()
	bitcoin, ethereum, _ := strings.Cut(text[strings.Index(text, "cold: "):], "\n")
	zero, long, ended := c, c, c
	zero.ID = Nonce{}
	long.Expires = c.Created.Add(LongestCompromise + time.Second)
	ended.Expires = c.Created
	for name, other := range map[string]string{
		"no cold wallet":    text[:strings.Index(text, "cold: ")],
		"another order":     text[:strings.Index(text, "cold: ")] + ethereum + bitcoin + "\n",
		"a chain twice":     text + ethereum,
		"two addresses":     replaced(t, text, "cold: bitcoin ", "cold: bitcoin 1Cdid9KFAaatwczBwBttQcwXYCpvK8h7FK "),
		"no address":        replaced(t, text, " 0x5B38Da6a701c568545dCfcB03FcB875f56beddC4", ""),
		"two spaces":        replaced(t, text, "cold: bitcoin ", "cold: bitcoin  "),
		"a capital letter":  replaced(t, text, "cold: bitcoin", "cold: Bitcoin"),
		"a capital ID":      replaced(t, text, "order: 04", "order: 0A"),
		"the zero ID":       zero.Text(),
		"more than a year":  long.Text(),
		"no time":           ended.Text(),
		"a version of two":  replaced(t, text, "policy: 7", "policy: 07"),
		"another zone":      replaced(t, text, "12:00:00Z", "13:00:00+01:00"),
		"a line more":       text + "why: a theft\n",
		"another line end":  strings.ReplaceAll(text, "\n", "\r\n"),
		"no last line end":  strings.TrimSuffix(text, "\n"),
		"another kind":      replaced(t, text, KindCompromise, KindFreeze),
		"a later version":   replaced(t, text, KindCompromise, "bursar-compromise/2"),
		"an empty instance": replaced(t, text, "instance: "+instance, "instance: "),
	} {
		if got, err := ParseCompromise(other); !errors.Is(err, ErrText) {
			t.Errorf("%s: got %+v, %v, want %v", name, got, err, ErrText)
		}
	}
}
