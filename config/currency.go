package config

import (
	"regexp"
	"slices"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain/registry"
)

// currencyDraft is a currency that is being parsed.
type currencyDraft struct {
	bursar.Currency
	own  bool // a native asset, whose chain, contract and decimals are fixed
	cfg  *Config
	node *node
}

// natureSettings define what a currency is. They are read before the limits, because the decimals decide what an amount
// means.
var natureSettings = []setting[currencyDraft]{
	{"chain", func(r *reader, n *node, to *currencyDraft) {
		if text, ok := r.text(n); ok && r.mayChange(n, to) && r.chainExists(n, text, to.cfg) {
			to.Chain = bursar.ChainID(text)
		}
	}},
	{"contract", func(r *reader, n *node, to *currencyDraft) {
		text, ok := r.text(n)
		if !ok || !r.mayChange(n, to) {
			return
		}
		if strings.ContainsFunc(text, func(c rune) bool { return c <= ' ' || c > '~' }) {
			r.fail(n, "%.60q is not a contract address", text)
			return
		}
		to.Contract = text
	}},
	{"decimals", func(r *reader, n *node, to *currencyDraft) {
		if decimals, ok := r.whole(n, 0, maxDecimals); ok && r.mayChange(n, to) {
			to.rescale(r, int(decimals))
		}
	}},
	{"places", func(r *reader, n *node, to *currencyDraft) {
		places, ok := r.whole(n, 0, uint64(to.Decimals))
		keep(&to.Places)(int(places), ok)
	}},
}

// limitSettings define limits and fees of a currency.
var limitSettings = []setting[currencyDraft]{
	{"minimum", func(r *reader, n *node, to *currencyDraft) { keep(&to.Minimum)(r.amount(n, to.Decimals)) }},
	{"withdrawal_minimum", func(r *reader, n *node, to *currencyDraft) {
		keep(&to.WithdrawalMinimum)(r.amount(n, to.Decimals))
	}},
	{"withdrawal_maximum", func(r *reader, n *node, to *currencyDraft) {
		keep(&to.WithdrawalMaximum)(r.amount(n, to.Decimals))
	}},
	{"approval_above", func(r *reader, n *node, to *currencyDraft) { keep(&to.ApprovalAbove)(r.amount(n, to.Decimals)) }},
	{"approvers", func(r *reader, n *node, to *currencyDraft) {
		if bands, ok := r.bands(n, to.Decimals); ok {
			if to.cfg.Bands == nil {
				to.cfg.Bands = map[bursar.CurrencyCode][]Band{}
			}
			to.cfg.Bands[to.Code] = bands
		}
	}},
	{amountKeys[0], func(r *reader, n *node, to *currencyDraft) { keep(&to.HourlyLimit)(r.amount(n, to.Decimals)) }},
	{amountKeys[1], func(r *reader, n *node, to *currencyDraft) { keep(&to.DailyLimit)(r.amount(n, to.Decimals)) }},
	{amountKeys[2], func(r *reader, n *node, to *currencyDraft) { keep(&to.WeeklyLimit)(r.amount(n, to.Decimals)) }},
	{ceilingKey, func(r *reader, n *node, to *currencyDraft) { keep(&to.HotCeiling)(r.amount(n, to.Decimals)) }},
	{targetKey, func(r *reader, n *node, to *currencyDraft) { keep(&to.HotTarget)(r.amount(n, to.Decimals)) }},
	{"sweep_from", func(r *reader, n *node, to *currencyDraft) {
		amount, ok := r.amount(n, to.Decimals)
		if ok && !to.IsToken() {
			r.fail(n, "the setting is for tokens only: the worth of sweeping a native asset is known without it")
			return
		}
		keep(&to.SweepFrom)(amount, ok)
	}},
	{"deposit_fee", func(r *reader, n *node, to *currencyDraft) {
		fee, ok := r.fee(n, to.Decimals)
		if ok && fee.Network {
			r.fail(n, "a deposit has no network fee; allowed are an amount, a percentage, or both with a + between")
			return
		}
		keep(&to.DepositFee)(fee, ok)
	}},
	{"withdrawal_fee", func(r *reader, n *node, to *currencyDraft) {
		fee, ok := r.fee(n, to.Decimals)
		if ok && fee.Network && to.IsToken() {
			r.fail(n,
				"the network fee of a token is paid in the chain's native asset by the operator; allowed are an amount, a "+
					"percentage, or both with "+
					"a + between")
			return
		}
		keep(&to.WithdrawalFee)(fee, ok)
	}},
}

func currencyKeys() []string { return append(keysOf(natureSettings), keysOf(limitSettings)...) }

// maxDecimals leaves room for amounts of 100 million whole units in 128 bits.
const maxDecimals = 30

// mayChange refuses to redefine a native asset.
func (r *reader) mayChange(n *node, to *currencyDraft) bool {
	if to.own {
		r.fail(n, "%s is the native asset of %s: its chain, contract and decimals are fixed", to.Code, to.Chain)
	}
	return !to.own
}

func (r *reader) chainExists(n *node, name string, cfg *Config) bool {
	id := bursar.ChainID(name)
	if _, configured := cfg.Chains[id]; configured || slices.Contains(registry.IDs(), id) {
		return true
	}
	var names []string
	for _, c := range registry.IDs() {
		names = append(names, string(c))
	}
	r.fail(n, "unknown chain %.40q%s, or a chain of this file", name, didYouMean(name, names))
	return false
}

// rescale converts the limits of a standard token to other decimals.
func (d *currencyDraft) rescale(r *reader, decimals int) {
	for _, a := range []*bursar.Amount{&d.Minimum, &d.WithdrawalMinimum} {
		if !a.IsZero() {
			*a, _ = r.decimal(d.node, a.Decimal(d.Decimals, 0), decimals)
		}
	}
	d.Decimals = decimals
}

var currencyCode = regexp.MustCompile(`^[A-Z][A-Z0-9]{0,11}(-[A-Z0-9]{1,12}){0,2}$`)

// currencies builds the registry: the standard currencies with the changes of the file, and those that it adds.
func (r *reader) currencies(section *node, cfg *Config) {
	list := bursar.Standard()
	changed := map[bursar.CurrencyCode]bool{}
	if section != nil {
		for _, n := range section.named {
			c, ok := r.currency(n, list, cfg)
			if !ok {
				continue
			}
			changed[c.Code] = n.field("contract") != nil
			if i := slices.IndexFunc(list, func(l bursar.Currency) bool { return l.Code == c.Code }); i >= 0 {
				list[i] = c
			} else {
				list = append(list, c)
			}
		}
	}
	applyCredit(list, cfg)
	for i, c := range list {
		list[i].Link = linkOf(c, cfg)
	}
	var err error
	if cfg.Registry, err = bursar.NewRegistry(list); err != nil {
		if section == nil {
			section = &node{path: currenciesKey, place: r.name}
		}
		r.fail(section, "%v", err)
		return
	}
	cfg.Off = off(cfg, changed)
}

// linkOf returns how a URI says to a wallet what to pay, on the chain as it is configured.
func linkOf(c bursar.Currency, cfg *Config) bursar.WalletLink {
	d := registry.Of(c.Chain)
	id := d.ChainIDs[cfg.Network]
	if configured := cfg.Chains[c.Chain].ChainID; configured != 0 {
		id = configured
	}
	return d.LinkOf(c, id)
}

// off returns which currencies cannot be used, and why. Built-in contracts are those of the main networks.
func off(cfg *Config, contracts map[bursar.CurrencyCode]bool) map[bursar.CurrencyCode]string {
	reasons := map[bursar.CurrencyCode]string{}
	for _, c := range cfg.Registry.All() {
		if _, on := cfg.Chains[c.Chain]; !on {
			reasons[c.Code] = "its chain " + string(c.Chain) + " is not configured"
		} else if c.IsToken() && cfg.Network != Mainnet && !contracts[c.Code] {
			reasons[c.Code] = "its contract on this network is not configured"
		}
	}
	return reasons
}

// currency reads one section: a change of a listed currency, or a new one.
func (r *reader) currency(n *node, list []bursar.Currency, cfg *Config) (bursar.Currency, bool) {
	if !currencyCode.MatchString(n.key) {
		r.fail(n, "a currency code consists of capitals and digits, such as BTC or USDT-MATIC")
		return bursar.Currency{}, false
	}
	if n.shape != isSection {
		r.fail(n, "this is %s; a section is expected, such as {minimum: \"1\"}", n.shape)
		return bursar.Currency{}, false
	}
	before := len(r.mistakes)
	d := currencyDraft{cfg: cfg, node: n}
	i := slices.IndexFunc(list, func(c bursar.Currency) bool { return c.Code == bursar.CurrencyCode(n.key) })
	if i >= 0 {
		d.Currency, d.own = list[i], !list[i].IsToken()
	} else {
		d.Code = bursar.CurrencyCode(n.key)
		if !r.complete(n, list) {
			return bursar.Currency{}, false
		}
	}
	apply(r, n, natureSettings, &d)
	if len(r.mistakes) == before { // otherwise no amount can be checked
		apply(r, n, limitSettings, &d)
	}
	if len(r.mistakes) == before {
		r.finish(&d, i >= 0, list)
	}
	r.onlyKeys(n, currencyKeys())
	return d.Currency, len(r.mistakes) == before
}

// complete refuses a new currency without the required settings.
func (r *reader) complete(n *node, list []bursar.Currency) bool {
	var missing []string
	for _, key := range []string{"chain", "decimals", "minimum"} {
		if n.field(key) == nil {
			missing = append(missing, key)
		}
	}
	if len(missing) == 0 {
		return true
	}
	var codes []string
	for _, c := range list {
		codes = append(codes, string(c.Code))
	}
	hint := ""
	if near := nearest(n.key, codes); near != "" {
		hint = " (did you mean " + near + "?)"
	}
	r.fail(n, "unknown currency%s; a new one needs %s", hint, strings.Join(missing, ", "))
	return false
}

// finish fills in derived values and checks the whole.
func (r *reader) finish(d *currencyDraft, standard bool, list []bursar.Currency) {
	n := d.node
	if !standard {
		d.defaults()
	}
	d.Places = min(d.Places, d.Decimals)
	if moved := n.field("chain"); standard && moved != nil && (n.field("contract") == nil || n.field("decimals") == nil) {
		r.fail(moved, "%s on another chain needs its contract and decimals on that chain", d.Code)
	}
	of := registry.Of(d.Chain)
	if d.IsToken() && of.Contract == nil {
		r.fail(n, "tokens of %s are not supported", d.Chain)
	}
	if least := units(of.MinDeposit, of.Decimals); !d.IsToken() && d.Minimum.Less(least) {
		r.fail(n.field("minimum"), "a deposit below %s %s cannot stay on its own address: %s charges rent below that",
			d.Exact(least), d.Code, of.Name)
	}
	for _, c := range list {
		if c.Code != d.Code && c.Chain == d.Chain && strings.EqualFold(c.Contract, d.Contract) {
			r.fail(n, "the asset is that of %s: every token needs its own contract", c.Code)
		}
	}
	r.currencyLimits(d)
	r.hotCeiling(d)
	if !d.WithdrawalMaximum.IsZero() && d.WithdrawalMaximum.Less(d.WithdrawalMinimum) {
		r.fail(n, "withdrawal_maximum is below withdrawal_minimum, which is %s", d.Exact(d.WithdrawalMinimum))
	}
}

func (d *currencyDraft) defaults() {
	if d.node.field("places") == nil {
		d.Places = 8
		if d.IsToken() {
			d.Places = 2
		}
	}
	if d.node.field("withdrawal_minimum") == nil {
		d.WithdrawalMinimum = d.Minimum
	}
	if d.node.field("withdrawal_fee") == nil {
		d.WithdrawalFee = bursar.Fee{Network: !d.IsToken()}
	}
}
