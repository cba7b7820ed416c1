package roster

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/sshsig"
)

const (
	none  = "-"
	every = "*"
)

// Text returns the text of a policy.
func (p Policy) Text() string {
	w := approval.NewWriter(KindPolicy)
	w.Field("instance", p.Instance)
	w.Field("network", p.Network)
	w.Field("version", strconv.FormatInt(p.Version, 10))
	w.OptionalHash("previous", p.Previous)
	w.Time("created", p.Created)
	w.Time("not_before", p.NotBefore)
	w.Field("authors", strconv.Itoa(p.Authors))
	w.Field("destinations", strconv.Itoa(p.Destinations))
	w.Field("destination_hold", span(p.Hold))
	w.Field("reference", p.Reference)
	for _, key := range p.Screeners {
		w.Field("screening_key", ScreeningKeyText(key))
	}
	if p.Site.String() != "" { // policies from before this have no such line
		w.Field("passkey_origin", p.Site.String())
	}
	if p.Epoch.Number > 0 {
		w.Field("epoch", p.Epoch.String())
	}
	for _, a := range p.Assets {
		w.Field("asset", fmt.Sprintf("%s %s %s %d %s", a.Name, a.Chain, approval.AssetText(a.Contract), a.Decimals,
			valueText(a.Price)))
	}
	for _, one := range p.People {
		w.Field("person", one.Name)
		w.Time("until", one.Until)
		w.Field("roles", strings.Join(one.Roles, ","))
		for _, key := range one.Keys {
			w.Field("key", key.String())
		}
		for _, key := range one.Passkeys {
			w.Field("passkey", key.String())
		}
	}
	for _, r := range p.Rules {
		r.write(w)
	}
	return w.Text()
}

func (r Rule) write(w *approval.Writer) {
	if r.Deny {
		w.Field("deny", r.ID)
	} else {
		w.Field("allow", r.ID)
	}
	w.Field("for", strings.Join(r.For, ","))
	assets := strings.Join(r.Assets, ",")
	if r.Assets == nil {
		assets = every
	}
	w.Field("assets", assets)
	w.Field("to", r.To)
	if r.Deny {
		w.Field("above", optional(r.Each))
		return
	}
	w.Field("each", optional(r.Each))
	for _, b := range r.bounds() { // policies from before fees, counts and accounts were bounded have only windows
		for _, window := range b.windows {
			w.Field(string(b.of), span(window.Length)+" "+b.of.text(window.Most))
		}
	}
	if r.Need == 0 {
		w.Field("need", none)
	} else {
		w.Field("need", strconv.Itoa(r.Need)+" "+r.Role)
	}
	w.Field("hold", span(r.Hold))
	w.Optional("hours", string(r.Hours))
	if r.Screened > 0 { // policies from before this have no such line
		w.Field("screened", span(r.Screened))
	}
	if r.Keys != nil {
		w.Field("keys", strings.Join(textsOf(r.Keys), ","))
	}
}

func optional(v Value) string {
	if v.IsZero() {
		return none
	}
	return valueText(v)
}

// span writes a time in whole hours or minutes; "-" is none.
func span(d time.Duration) string {
	switch {
	case d == 0:
		return none
	case d%time.Hour == 0:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dm", d/time.Minute)
}

func parseSpan(text string) (time.Duration, bool) {
	if text == none {
		return 0, true
	}
	d, err := time.ParseDuration(text)
	return d, err == nil && d > 0 && span(d) == text
}

// Parse reads the text of a policy that is to be signed or installed. The error is approval.ErrText or ErrUnsound.
func Parse(text string) (p Policy, err error) {
	if p, err = Read(text); err == nil {
		err = p.sound()
	}
	if err != nil {
		return Policy{}, err
	}
	return p, nil
}

// Read reads the text of a policy that was installed, without the checks that only new policies must pass: a signer
// that could not read its own policy any more after an update would stop. The error is approval.ErrText.
func Read(text string) (p Policy, err error) {
	r := approval.NewReader(text, KindPolicy)
	p.Instance = r.Word("instance")
	p.Network = r.Name("network")
	p.Version = r.Number("version")
	p.Previous = r.OptionalHash("previous")
	p.Created, p.NotBefore = r.Time("created"), r.Time("not_before")
	p.Authors, p.Destinations = int(r.Number("authors")), int(r.Number("destinations"))
	p.Hold = readSpan(r, "destination_hold", r.Line("destination_hold"))
	p.Reference = r.Word("reference")
	for r.Has("screening_key") {
		p.Screeners = append(p.Screeners, readScreeningKey(r))
	}
	if r.Has("passkey_origin") {
		p.Site = readSite(r)
	}
	if r.Has("epoch") {
		p.Epoch = readEpoch(r)
	}
	for r.Has("asset") {
		p.Assets = append(p.Assets, readAsset(r))
	}
	for r.Has("person") {
		p.People = append(p.People, readPerson(r))
	}
	for r.Has("allow") || r.Has("deny") {
		p.Rules = append(p.Rules, readRule(r))
	}
	return approval.Canonical(r, p, text)
}

func readSpan(r *approval.Reader, name, text string) time.Duration {
	d, holds := parseSpan(text)
	r.Demand(r.Err() != nil || holds, "%s is %.60q, want whole hours or minutes such as 48h, or -", name, text)
	return d
}

func readAsset(r *approval.Reader) (a Asset) {
	line := r.Line("asset")
	parts := strings.Split(line, " ")
	if len(parts) != 5 {
		r.Demand(false, "asset is %.80q, want NAME CHAIN CONTRACT DECIMALS PRICE", line)
		return a
	}
	decimals, err := strconv.Atoi(parts[3])
	price, priceErr := parseValue(parts[4])
	r.Demand(err == nil && decimals >= 0 && decimals <= 36, "the decimals of %s are %.20q", parts[0], parts[3])
	r.Demand(priceErr == nil && !price.IsZero(), "the price of %s is %.40q", parts[0], parts[4])
	r.Demand(isAssetName(parts[0]), "an asset's name is %.40q, want capital letters, digits and -", parts[0])
	a = Asset{Name: parts[0], Chain: bursar.ChainID(parts[1]), Contract: parts[2], Decimals: decimals, Price: price}
	if a.Contract == approval.AssetText("") {
		a.Contract = ""
	}
	return a
}

func isAssetName(name string) bool {
	other := func(c rune) bool { return (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' }
	return name != "" && name[0] != '-' && !strings.ContainsFunc(name, other)
}

func readPerson(r *approval.Reader) Person {
	one := Person{Name: r.Name("person"), Until: r.Time("until"), Roles: strings.Split(r.Line("roles"), ",")}
	for r.Has("key") {
		key, err := sshsig.ParseKey(r.Line("key"))
		r.Demand(err == nil, "a key of %s: %v", one.Name, err)
		one.Keys = append(one.Keys, key)
	}
	for r.Has("passkey") {
		one.Passkeys = append(one.Passkeys, readPasskey(r, one.Name))
	}
	return one
}

func readRule(r *approval.Reader) (rule Rule) {
	if rule.Deny = r.Has("deny"); rule.Deny {
		rule.ID = r.Name("deny")
	} else {
		rule.ID = r.Name("allow")
	}
	rule.For = strings.Split(r.Line("for"), ",")
	if assets := r.Line("assets"); assets != every {
		rule.Assets = strings.Split(assets, ",")
	}
	rule.To = r.Word("to")
	if rule.Deny {
		rule.Each = readValue(r, "above")
		return rule
	}
	rule.Each = readValue(r, "each")
	rule.Windows, rule.Fees = readWindows(r, MeasureWorth, rule.ID), readWindows(r, MeasureFees, rule.ID)
	rule.Payments = readWindows(r, MeasurePayments, rule.ID)
	rule.PerAccount = readWindows(r, MeasureAccount, rule.ID)
	if need := r.Line("need"); need != none {
		number, role, _ := strings.Cut(need, " ")
		n, err := strconv.Atoi(number)
		r.Demand(err == nil && n > 0 && approval.IsName(role), "need is %.60q, want a number and a role, or -", need)
		rule.Need, rule.Role = n, role
	}
	rule.Hold = readSpan(r, "hold", r.Line("hold"))
	if hours := r.Line("hours"); hours != none {
		rule.Hours = Hours(hours)
		r.Demand(rule.Hours.valid(), "hours are %.60q, want some such as Mon-Fri 07-19, in UTC", hours)
	}
	if r.Has("screened") {
		rule.Screened = readSpan(r, "screened", r.Line("screened"))
	}
	if r.Has("keys") {
		rule.Keys = readKinds(r, rule.ID)
	}
	return rule
}

func readWindows(r *approval.Reader, of Measure, rule string) (list []Window) {
	for name := string(of); r.Has(name); {
		length, most, _ := strings.Cut(r.Line(name), " ")
		value, err := of.parse(most)
		r.Demand(err == nil, "a %s of %s is %.60q, want a value", name, rule, most)
		list = append(list, Window{readSpan(r, name, length), value})
	}
	return list
}

func readValue(r *approval.Reader, name string) Value {
	text := r.Line(name)
	if text == none || r.Err() != nil {
		return Value{}
	}
	v, err := parseValue(text)
	r.Demand(err == nil && !v.IsZero(), "%s is %.60q, want a value above 0, or -", name, text)
	return v
}

// sorted reports whether texts are there, in order, and each once.
func sorted(list []string) bool {
	return slices.IsSorted(list) && len(slices.Compact(slices.Clone(list))) == len(list)
}
