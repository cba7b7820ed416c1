package roster

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/approval"
)

// What was signed once must be readable for ever: the golden file never changes.
func TestThePolicysTextIsAsItWas(t *testing.T) {
	t.Parallel()
	path := filepath.Join("testdata", "policy.txt")
	text := policy().Text()
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	golden, err := os.ReadFile(path)
	if err != nil || string(golden) != text {
		t.Errorf("got\n%s, want\n%s (%v)", text, golden, err)
	}
	p, err := Parse(text)
	if err != nil || p.Text() != text || p.Hash() != approval.HashOf(text) {
		t.Errorf("read as\n%s, %v", p.Text(), err)
	}
}

func TestUnsoundPoliciesAreRefused(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(p *Policy){
		"version 0":                     func(p *Policy) { p.Version = 0 },
		"a first version with a hash":   func(p *Policy) { p.Previous = approval.HashOf("x") },
		"a second version without one":  func(p *Policy) { p.Version = 2 },
		"no author signs":               func(p *Policy) { p.Authors = 0 },
		"more authors than there are":   func(p *Policy) { p.Authors = 4 },
		"no approver of a destination":  func(p *Policy) { p.Destinations = 0 },
		"more than there are":           func(p *Policy) { p.Destinations = 4 },
		"it begins before it is made":   func(p *Policy) { p.NotBefore = noon.Add(-time.Second) },
		"one key of two persons":        func(p *Policy) { p.People[1].Keys = p.People[0].Keys },
		"one key twice":                 func(p *Policy) { p.People[0].Keys = append(p.People[0].Keys, p.People[0].Keys[0]) },
		"a person without keys":         func(p *Policy) { p.People[3].Keys = nil },
		"a person who has ended":        func(p *Policy) { p.People[3].Until = noon },
		"persons out of order":          func(p *Policy) { slices.Reverse(p.People) },
		"a person twice":                func(p *Policy) { p.People[1].Name = "ann" },
		"roles out of order":            func(p *Policy) { slices.Reverse(p.People[0].Roles) },
		"assets out of order":           func(p *Policy) { slices.Reverse(p.Assets) },
		"an asset twice":                func(p *Policy) { p.Assets[1].Chain, p.Assets[1].Contract = "bitcoin", "" },
		"a rule twice":                  func(p *Policy) { p.Rules[1].ID = "small" },
		"a rule of another kind":        func(p *Policy) { p.Rules[0].For = []string{"approve"} },
		"a rule of two kinds":           func(p *Policy) { p.Rules[0].For = []string{KindSweep, KindWithdrawal} },
		"a withdrawal to ourselves":     func(p *Policy) { p.Rules[0].To = ToOwn },
		"a sweep to anybody":            func(p *Policy) { p.Rules[2].To = ToAny },
		"a sweep that is approved":      func(p *Policy) { p.Rules[2].Need, p.Rules[2].Role = 1, RoleApprover },
		"a hold of nothing":             func(p *Policy) { p.Rules[0].Hold = time.Hour },
		"a role that nobody has":        func(p *Policy) { p.Rules[1].Role = "pope" },
		"more than have the role":       func(p *Policy) { p.Rules[1].Need = 4 },
		"an asset without a price":      func(p *Policy) { p.Rules[1].Assets = []string{"ETH"} },
		"windows out of order":          func(p *Policy) { slices.Reverse(p.Rules[0].Windows) },
		"a window beyond what is known": func(p *Policy) { p.Rules[0].Windows[1].Length = 8 * 24 * time.Hour },
		"a deny of listed ones":         func(p *Policy) { p.Rules[4].To = ToListed },
		"fees out of order": func(p *Policy) {
			p.Rules[1].Fees = []Window{{24 * time.Hour, value("5")}, {time.Hour, value("1")}}
		},
		"fees beyond what is known":   func(p *Policy) { p.Rules[1].Fees = []Window{{169 * time.Hour, value("5")}} },
		"no fees at all":              func(p *Policy) { p.Rules[1].Fees = []Window{{time.Hour, Value{}}} },
		"fees of a chain without one": func(p *Policy) { p.Rules[0].Fees = []Window{{time.Hour, value("5")}} },
		"no payment at all":           func(p *Policy) { p.Rules[0].Payments = []Window{{time.Hour, Value{}}} },
		"a sweep of an account":       func(p *Policy) { p.Rules[2].PerAccount = []Window{{time.Hour, value("5")}} },
	} {
		p := policy()
		change(&p)
		if _, err := Parse(p.Text()); !errors.Is(err, ErrUnsound) {
			t.Errorf("%s: got %v, want %v", name, err, ErrUnsound)
		}
	}
}

func TestOtherSpellingsOfAPolicyAreRefused(t *testing.T) {
	t.Parallel()
	for _, change := range [][2]string{
		{"hold: 1h", "hold: 60m"}, {"hold: 1h", "hold: 1h0m0s"}, {"hold: 1h", "hold: -1h"}, {"hold: 1h", "hold: 90s"},
		{"each: 1000", "each: 1000.0"}, {"each: 1000", "each: 01000"}, {"each: 1000", "each: 1e3"}, {"each: 1000", "each: 0"},
		{"need: 2 approver", "need: 2"}, {"need: 2 approver", "need: 02 approver"}, {"need: 2 approver", "need: 0 approver"},
		{"hours: Mon-Fri 07-19", "hours: mon-fri 07-19"}, {"hours: Mon-Fri 07-19", "hours: Fri-Mon 07-19"},
		{"hours: Mon-Fri 07-19", "hours: Mon-Fri 19-07"}, {"hours: Mon-Fri 07-19", "hours: Mon-Fri 07-25"},
		{"hours: Mon-Fri 07-19", "hours: Mon-Fri 7-19"}, {"hours: Mon-Fri 07-19", "hours: Mon-Fri 0x-19"},
		{"to: listed", "to: listed any"}, {"assets: BTC", "assets: BTC,BTC"}, {"assets: BTC", "assets: "},
		{"BTC bitcoin native 8 120000", "BTC bitcoin native 08 120000"}, {"native 8 120000", "native 8 120000 "},
		{"native 8 120000", "native 8 0"}, {"native 8 120000", "native 8 1.1234567"}, {"native 8 120000", "native 8"},
		{"asset: BTC", "asset: btc"}, {"version: 1", "version: 01"}, {"authors: 2", "authors: +2"},
		{"previous: -", "previous: none"},
		{"roles: auditor", "roles: auditor,"}, {"person: dan", "person: Dan"}, {"ssh-ed25519 ", "ssh-rsa "},
		{"allow: gas", "permit: gas"}, {"window: 24h 300", "window: 1440m 300"}, {"window: 24h 300", "window: - 300"},
		{"deny: never", "deny: never\ndeny: never"},
	} {
		text := strings.Replace(policy().Text(), change[0], change[1], 1)
		if text == policy().Text() {
			t.Fatalf("%q is not in the policy", change[0])
		}
		if _, err := Parse(text); !errors.Is(err, approval.ErrText) && !errors.Is(err, ErrUnsound) {
			t.Errorf("%q for %q: got %v, want a refusal", change[1], change[0], err)
		}
	}
}

// Whatever is read is written again with the same bytes.
func FuzzParse(f *testing.F) {
	f.Add(policy().Text())
	f.Add(bounded().Text())
	f.Fuzz(func(t *testing.T, text string) {
		if p, err := Parse(text); err == nil && p.Text() != text {
			t.Errorf("%q was read, and is written as %q", text, p.Text())
		}
	})
}
