package config

import (
	"slices"
	"strings"

	"github.com/bursar/bursar"
)

// Credit is what a deposit on a chain needs before it is credited, beyond the chain's own finality. Its amounts are in
// whole units of the deposit's currency, as written: "0.5" is half a unit of each.
type Credit struct {
	Confirmations int          // of every amount, its own block counted; 0: the chain's own finality is enough
	Above         []CreditStep // in ascending order of amount; Confirmations grow with it
	Quorum        Quorum
}

// CreditStep is the confirmations that a deposit of more than an amount needs.
type CreditStep struct {
	Amount        string
	Confirmations int
}

// Quorum is how many endpoints of different hosts must report a deposit of more than Above identically. The zero Quorum
// requires none.
type Quorum struct {
	Endpoints int
	Above     string
}

// The keys of sections below a chain, and of those below them.
const (
	confirmationsKey = "confirmations"
	quorumKey        = "credit_quorum"
	defaultKey       = "default"
	aboveKey         = "above"
	endpointsKey     = "endpoints"
)

// Bounds of these settings. A chain keeps this many blocks for a reorg: a deposit that needs more confirmations could
// be missed.
const (
	maxConfirmations = 100
	maxSteps         = 16
)

var confirmationsSettings = []setting[chainDraft]{
	{defaultKey, func(r *reader, n *node, to *chainDraft) { r.depth(n, to) }},
	{aboveKey, func(r *reader, n *node, to *chainDraft) { to.Credit.Above = r.steps(n) }},
}

var quorumSettings = []setting[Quorum]{
	{endpointsKey, func(r *reader, n *node, to *Quorum) { keep(&to.Endpoints)(r.count(n, 2, maxURLs)) }},
	{aboveKey, func(r *reader, n *node, to *Quorum) {
		if text, ok := r.text(n); ok {
			_, ok = r.decimal(n, text, maxDecimals)
			keep(&to.Above)(text, ok)
		}
	}},
}

// confirmations parses a number, or a section with a default and the confirmations of larger amounts.
func (r *reader) confirmations(n *node, to *chainDraft) {
	if n.shape == isText {
		r.depth(n, to)
		return
	}
	section := r.asSection(n, `{default: 3, above: {"1": 6, "10": 30}}, or a number`)
	if section == nil {
		return
	}
	read(r, section, confirmationsSettings, to)
	last := to.Confirmations
	if to.of.Confirmations == 0 {
		last = to.Credit.Confirmations
	}
	for _, step := range to.Credit.Above {
		if step.Confirmations < last {
			r.fail(section, "above %s it requires %d confirmations, but smaller amounts require %d",
				step.Amount, step.Confirmations, last)
		}
		last = max(last, step.Confirmations)
	}
}

// depth parses the confirmations of every amount. On chains that count confirmations they are the finality too.
func (r *reader) depth(n *node, to *chainDraft) {
	count, ok := r.count(n, 1, maxConfirmations)
	if to.of.Confirmations > 0 {
		keep(&to.Confirmations)(count, ok)
		return
	}
	keep(&to.Credit.Confirmations)(count, ok)
}

// steps parses amounts with their confirmations: a section, or in a variable "1=6,10=30".
func (r *reader) steps(n *node) []CreditStep {
	section := n
	if n.shape == isText && n.fromEnvironment {
		section = r.pairs(n)
	}
	if section = r.asSection(section, `{"1": 6, "10": 30}`); section == nil {
		return nil
	}
	if len(section.named) > maxSteps {
		r.fail(n, "%d steps are too many; at most %d are allowed", len(section.named), maxSteps)
		return nil
	}
	var steps []CreditStep
	amounts := map[string]bursar.Amount{}
	for _, f := range section.named {
		amount, ok := r.decimal(f, f.key, maxDecimals)
		count, counted := r.count(f, 1, maxConfirmations)
		if !ok || !counted {
			continue
		}
		for other, same := range amounts {
			if same == amount {
				r.fail(f, "the amount is the same as %s", other)
			}
		}
		amounts[f.key] = amount
		steps = append(steps, CreditStep{f.key, count})
	}
	slices.SortFunc(steps, func(a, b CreditStep) int { return amounts[a.Amount].Cmp(amounts[b.Amount]) })
	return steps
}

// pairs parses a variable of the form "1=6,10=30" into a section.
func (r *reader) pairs(n *node) *node {
	section := *n
	section.shape = isSection
	for part := range strings.SplitSeq(n.text, ",") {
		key, value, found := strings.Cut(strings.TrimSpace(part), "=")
		if !found {
			r.fail(n, "%.40q is not of the form 1=6,10=30: amounts with their confirmations", n.text)
			return nil
		}
		item := *n
		item.key, item.path, item.text = key, n.below(key), value
		section.named = append(section.named, &item)
	}
	return &section
}

// creditQuorum parses when a second endpoint is asked.
func (r *reader) creditQuorum(n *node, to *chainDraft) {
	section := r.asSection(n, `{endpoints: 2, above: "5"}`)
	if section == nil {
		return
	}
	read(r, section, quorumSettings, &to.Credit.Quorum)
	if section.field(endpointsKey) == nil {
		r.fail(n, "endpoints is required: how many must report a deposit identically, such as 2")
	}
}

// applyCredit gives each currency the requirements of its chain's section, in the currency's smallest units. Finer
// digits are cut off, so that a limit gets lower and never higher.
func applyCredit(list []bursar.Currency, cfg *Config) {
	for i := range list {
		c := &list[i]
		credit := cfg.Chains[c.Chain].Credit
		c.Confirmations = bursar.Confirmations{Default: credit.Confirmations}
		for _, step := range credit.Above {
			c.Confirmations.Above = append(c.Confirmations.Above,
				bursar.ConfirmationsAbove{Amount: cut(step.Amount, c.Decimals), Count: step.Confirmations})
		}
		c.CreditQuorum = bursar.CreditQuorum{Endpoints: credit.Quorum.Endpoints, Above: cut(credit.Quorum.Above, c.Decimals)}
	}
}

// cut converts a decimal of a section, which was parsed with maxDecimals and so fits every currency, into smallest
// units.
func cut(decimal string, decimals int) bursar.Amount {
	whole, fraction, _ := strings.Cut(decimal, ".")
	if fraction = fraction[:min(len(fraction), decimals)]; fraction != "" {
		whole += "." + fraction
	}
	amount, err := bursar.ParseDecimal(whole, decimals)
	if err != nil {
		return bursar.Amount{} // not configured: the strictest limit
	}
	return amount
}
