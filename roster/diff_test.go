package roster

import (
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/sshsig"
)

func TestWhatLoosens(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change  func(p *Policy)
		loosens bool
		says    string
	}{
		"nothing":           {func(*Policy) {}, false, ""},
		"fewer authors":     {func(p *Policy) { p.Authors = 1 }, true, "authors: 1 instead of 2"},
		"more authors":      {func(p *Policy) { p.Authors = 3 }, false, "authors: 3 instead of 2"},
		"fewer for a place": {func(p *Policy) { p.Destinations = 1 }, true, "destinations: 1 instead of 2"},
		"a shorter hold":    {func(p *Policy) { p.Hold = time.Hour }, true, "destination_hold: 1h instead of 48h"},
		"a longer hold":     {func(p *Policy) { p.Hold = 72 * time.Hour }, false, "destination_hold: 72h instead of 48h"},
		"a new person":      {func(p *Policy) { p.People[3].Name = "eve" }, true, "person eve is new; person dan is gone"},
		"a person less":     {func(p *Policy) { p.People = p.People[:3] }, false, "person dan is gone"},
		"a new role": {func(p *Policy) { p.People[3].Roles = []string{RoleApprover, "auditor"} }, true,
			"person dan: role approver is new"},
		"a role less": {func(p *Policy) { p.People[2].Roles = []string{RoleAuthor} }, false,
			"person cat: role approver is gone"},
		"a new key": {func(p *Policy) { p.People[3].Keys = []sshsig.Key{keyOf(9)} }, true, "is new"},
		"longer": {func(p *Policy) { p.People[3].Until = noon.AddDate(2, 0, 0) }, true,
			"person dan: until 2028"},
		"shorter": {func(p *Policy) { p.People[3].Until = noon.AddDate(0, 1, 0) }, false,
			"person dan: until 2026"},
		"a lower price": {func(p *Policy) { p.Assets[0].Price = value("60000") }, true,
			"asset BTC: price 60000 instead of 120000"},
		"a higher price": {func(p *Policy) { p.Assets[0].Price = value("240000") }, false, "asset BTC: price 240000"},
		"other decimals": {func(p *Policy) { p.Assets[0].Decimals = 9 }, true, "other decimals"},
		"a new asset": {func(p *Policy) { p.Assets[1].Contract = "T" }, true,
			"asset USDT is new; asset USDT is gone"},
		"another reference": {func(p *Policy) { p.Reference = "JPY" }, true, "the reference currency"},
		"an allow less":     {func(p *Policy) { p.Rules = p.Rules[1:] }, false, "rule small is gone"},
		"an allow renamed": {func(p *Policy) { p.Rules[0].ID = "little" }, true,
			"allow little is new; rule small is gone"},
		"a deny less":      {func(p *Policy) { p.Rules = p.Rules[:4] }, true, "rule never is gone"},
		"a deny elsewhere": {func(p *Policy) { p.Rules[4].To = "bc1qworse" }, true, "deny never: to bc1qworse"},
		"a deny above":     {func(p *Policy) { p.Rules[4].Each = value("1") }, true, "deny never: above 1 instead of -"},
		"a deny of one asset": {func(p *Policy) { p.Rules[4].Assets = []string{"BTC"} }, true,
			"deny never: no longer every asset"},
		"a deny turned allow": {func(p *Policy) { p.Rules[4].Deny, p.Rules[4].To = false, ToAny }, true,
			"allow never is new; rule never is gone"},
		"to any": {func(p *Policy) { p.Rules[0].To = ToAny }, true, "allow small: to any instead of listed"},
		"more each": {func(p *Policy) { p.Rules[0].Each = value("1000.000001") }, true,
			"allow small: each 1000.000001 instead of 1000"},
		"any each":  {func(p *Policy) { p.Rules[0].Each = Value{} }, true, "allow small: each - instead of 1000"},
		"less each": {func(p *Policy) { p.Rules[0].Each = value("999") }, false, "allow small: each 999"},
		"a window less": {func(p *Policy) { p.Rules[0].Windows = p.Rules[0].Windows[:1] }, true,
			"allow small: window 24h is gone"},
		"a wider window": {func(p *Policy) { p.Rules[0].Windows[0].Most = value("5001") }, true,
			"allow small: window 1h 5001"},
		"a narrower window": {func(p *Policy) { p.Rules[0].Windows[0].Most = value("1") }, false,
			"allow small: window 1h 1"},
		"fees bounded": {func(p *Policy) { p.Rules[1].Fees = []Window{{time.Hour, value("5")}} }, false,
			"allow large: fees 1h 5"},
		"payments counted": {func(p *Policy) { p.Rules[0].Payments = []Window{{time.Hour, bursar.Units(500)}} }, false,
			"allow small: count 1h 500"},
		"accounts bounded": {func(p *Policy) { p.Rules[0].PerAccount = []Window{{time.Hour, value("5")}} }, false,
			"allow small: per_account 1h 5"},
		"fewer approvals": {func(p *Policy) { p.Rules[1].Need = 1 }, true,
			"allow large: need 1 approver instead of 2 approver"},
		"more approvals":   {func(p *Policy) { p.Rules[1].Need = 3 }, false, "allow large: need 3"},
		"another role":     {func(p *Policy) { p.Rules[1].Role = RoleAuthor }, true, "allow large: need 2 author"},
		"no hold":          {func(p *Policy) { p.Rules[1].Hold = 0 }, true, "allow large: hold - instead of 1h"},
		"longer hours":     {func(p *Policy) { p.Rules[1].Hours = "Mon-Fri 07-20" }, true, "allow large: hours"},
		"all hours":        {func(p *Policy) { p.Rules[1].Hours = "" }, true, "allow large: hours"},
		"shorter hours":    {func(p *Policy) { p.Rules[1].Hours = "Tue-Fri 08-19" }, false, "allow large: hours"},
		"an allow of more": {func(p *Policy) { p.Rules[1].Assets = nil }, true, "allow large: every asset"},
		"an allow of one more": {func(p *Policy) { p.Rules[1].Assets = []string{"BTC", "USDT"} }, true,
			"allow large: asset USDT is new"},
		"an allow of one": {func(p *Policy) { p.Rules[0].Assets = []string{"BTC"} }, false,
			"allow small: no longer every asset"},
	} {
		next := policy()
		test.change(&next)
		changes := Diff(policy(), next)
		wantChanges(t, name, changes, test.loosens, test.says)
	}
}

// A bound that is raised or left out loosens, of whatever it is.
func TestWhatLoosensABound(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change  func(r *Rule)
		loosens bool
		says    string
	}{
		"more fees":         {func(r *Rule) { r.Fees[0].Most = value("201") }, true, "allow small: fees 24h 201"},
		"less fees":         {func(r *Rule) { r.Fees[0].Most = value("199") }, false, "allow small: fees 24h 199"},
		"any fees":          {func(r *Rule) { r.Fees = nil }, true, "allow small: fees 24h is gone"},
		"fees of a week":    {func(r *Rule) { r.Fees[0].Length *= 7 }, true, "fees 168h 200; allow small: fees 24h is gone"},
		"more payments":     {func(r *Rule) { r.Payments[0].Most = bursar.Units(6) }, true, "allow small: count 1h 6"},
		"fewer payments":    {func(r *Rule) { r.Payments[0].Most = bursar.Units(4) }, false, "allow small: count 1h 4"},
		"any payments":      {func(r *Rule) { r.Payments = nil }, true, "allow small: count 1h is gone"},
		"more for each":     {func(r *Rule) { r.PerAccount[1].Most = value("3001") }, true, "per_account 24h 3001"},
		"less for each":     {func(r *Rule) { r.PerAccount[1].Most = value("2999") }, false, "per_account 24h 2999"},
		"an hour less":      {func(r *Rule) { r.PerAccount = r.PerAccount[1:] }, true, "per_account 1h is gone"},
		"accounts all open": {func(r *Rule) { r.PerAccount = nil }, true, "per_account 1h is gone"},
	} {
		next := bounded()
		test.change(&next.Rules[0])
		wantChanges(t, name, Diff(bounded(), next), test.loosens, test.says)
	}
}

func wantChanges(t *testing.T, name string, changes []Change, loosens bool, want string) {
	t.Helper()
	var says []string
	for _, c := range changes {
		says = append(says, c.What)
	}
	if got := strings.Join(says, "; "); Loosens(changes) != loosens || !strings.Contains(got, want) ||
		(got == "") != (want == "") {
		t.Errorf("%s: got loosens %t: %s, want %t: %s", name, Loosens(changes), got, loosens, want)
	}
}
