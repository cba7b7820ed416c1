package config

import (
	"cmp"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bursar/bursar"
)

// Prices configures the sources of rates in fiat, for charges with a price.
type Prices struct {
	Feeds     []PriceFeed
	MaxAge    time.Duration // how old a rate may be
	MaxSpread uint32        // by how much two feeds may differ, in millionths
}

// PriceFeed is a source of rates in fiat: fixed ones, a file, or an HTTP source.
type PriceFeed struct {
	Name     string
	URL      Secret
	File     string
	Refresh  time.Duration
	Pointers map[PricePair]string      // of URL and File: JSON pointers to rates (RFC 6901)
	Fixed    map[PricePair]bursar.Rate // of neither
}

// Origin returns where a feed has its rates from: the host of its URL, or its file; "" for fixed rates. Two feeds of
// one origin agree in every error, so they count as one source.
func (f PriceFeed) Origin() string {
	if f.File != "" {
		return "file " + filepath.Clean(f.File)
	}
	u, err := url.Parse(f.URL.Reveal())
	if err != nil || u.Host == "" {
		return ""
	}
	return "host " + strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
}

// PricePair names what a whole unit of a currency is worth in a fiat currency.
type PricePair struct{ Currency, Fiat bursar.CurrencyCode }

// The keys of the sections below prices.
const (
	feedsKey      = "feeds"
	fixedRatesKey = "rates"
)

var pricesSettings = []setting[Prices]{
	{"max_age", func(r *reader, n *node, to *Prices) {
		keep(&to.MaxAge)(r.period(n, 5*time.Second, 24*time.Hour))
	}},
	{"max_spread", func(r *reader, n *node, to *Prices) {
		text, ok := r.text(n)
		if !ok {
			return
		}
		const decimals = 4 // of a percentage
		share, ok := r.decimal(n, text, decimals)
		millionths, fits := share.Uint64()
		if ok && (!fits || millionths > 200_000) {
			r.fail(n, "the value must be a percentage from 0 to 20, such as 1.5")
			return
		}
		keep(&to.MaxSpread)(uint32(millionths), ok)
	}},
}

var feedSettings = []setting[PriceFeed]{
	{"url", func(r *reader, n *node, to *PriceFeed) { keep(&to.URL)(r.nodeURL(n)) }},
	{"file", func(r *reader, n *node, to *PriceFeed) {
		path, ok := r.text(n)
		keep(&to.File)(r.resolve(n, path), ok)
	}},
	{"refresh", func(r *reader, n *node, to *PriceFeed) {
		keep(&to.Refresh)(r.period(n, 5*time.Second, time.Hour))
	}},
}

// prices parses the sources of rates in fiat; the currencies are parsed before it.
func (r *reader) prices(section *node, cfg *Config) {
	if section == nil || cfg.Registry == nil {
		return
	}
	before := len(r.mistakes)
	to := Prices{MaxAge: 10 * time.Minute, MaxSpread: 10_000}
	read(r, section, pricesSettings, &to, feedsKey)
	feeds := r.subsection(section, feedsKey)
	if feeds == nil {
		r.fail(section, "feeds is required: two sources of rates at least")
		return
	}
	for _, n := range feeds.named {
		if n = r.asSection(n, "{url: https://rates.example/v1, pointers: {EUR: {BTC: /btc/eur}}}"); n != nil {
			to.Feeds = append(to.Feeds, r.feed(n, cfg.Registry))
		}
	}
	if len(r.mistakes) > before {
		return
	}
	r.paired(feeds, to)
	for _, f := range to.Feeds {
		if f.Fixed == nil && to.MaxAge < f.Refresh {
			r.fail(section, "max_age is below the refresh of %s: no rate would stay valid until the next", f.Name)
		}
	}
	if len(r.mistakes) == before {
		cfg.Prices = to
	}
}

// feed parses one source.
func (r *reader) feed(n *node, registry *bursar.Registry) PriceFeed {
	f := PriceFeed{Name: n.key, Refresh: time.Minute}
	read(r, n, feedSettings, &f, pointersKey, fixedRatesKey)
	kinds := 0
	for _, is := range []bool{n.field("url") != nil, n.field("file") != nil, n.field(fixedRatesKey) != nil} {
		if is {
			kinds++
		}
	}
	if kinds != 1 {
		r.fail(n, "exactly one of url, file and rates is required")
		return f
	}
	if fixed := r.subsection(n, fixedRatesKey); fixed != nil {
		if pointers := n.field(pointersKey); pointers != nil {
			r.fail(pointers, "the setting is not used with rates")
		}
		f.Fixed = map[PricePair]bursar.Rate{}
		r.pairsOf(fixed, registry, func(at *node, p PricePair, text string) {
			rate, err := bursar.ParseRate(text)
			if err != nil {
				r.fail(at, "%.40q is not a rate; allowed are plain decimal numbers above zero, such as 0.92", text)
			}
			f.Fixed[p] = rate
		})
		return f
	}
	pointers := r.subsection(n, pointersKey)
	if pointers == nil {
		r.fail(n, "pointers is required: where each rate is, such as {EUR: {BTC: /btc/eur}}")
		return f
	}
	f.Pointers = map[PricePair]string{}
	r.pairsOf(pointers, registry, func(at *node, p PricePair, text string) {
		if !isPointer(text) {
			r.fail(at, "%.60q is not a JSON pointer, such as /bitcoin/eur or /data/0/price", text)
		}
		f.Pointers[p] = text
	})
	return f
}

// pairsOf reads values by fiat currency and currency.
func (r *reader) pairsOf(section *node, registry *bursar.Registry, take func(*node, PricePair, string)) {
	var codes []string
	for _, c := range registry.All() {
		codes = append(codes, string(c.Code))
	}
	for _, fiat := range section.named {
		at := *fiat
		at.path = section.path
		if _, is := bursar.FiatUnit(bursar.CurrencyCode(fiat.key)); !is || slices.Contains(codes, fiat.key) {
			r.fail(&at, "%q is not a fiat currency by ISO 4217, such as EUR", fiat.key)
			continue
		}
		if r.asSection(fiat, `{BTC: "60000"}`) == nil {
			continue
		}
		for _, n := range fiat.named {
			if !slices.Contains(codes, n.key) {
				at := *n
				at.path = fiat.path
				r.fail(&at, "unknown currency %q%s", n.key, didYouMean(n.key, codes))
				continue
			}
			if text, ok := r.text(n); ok {
				take(n, PricePair{bursar.CurrencyCode(n.key), bursar.CurrencyCode(fiat.key)}, text)
			}
		}
	}
}

// paired refuses a pair that one source alone has: it would never count.
func (r *reader) paired(feeds *node, p Prices) {
	count, origins := map[PricePair]int{}, map[PricePair]map[string]bool{}
	note := func(pair PricePair, f PriceFeed) {
		if origins[pair] == nil {
			origins[pair] = map[string]bool{}
		}
		count[pair]++
		origins[pair][cmp.Or(f.Origin(), "feed "+f.Name)] = true
	}
	for _, f := range p.Feeds {
		for pair := range f.Fixed {
			note(pair, f)
		}
		for pair := range f.Pointers {
			note(pair, f)
		}
	}
	var alone, same []string
	for pair, n := range count {
		name := string(pair.Currency) + " in " + string(pair.Fiat)
		if n < 2 {
			alone = append(alone, name)
		} else if len(origins[pair]) < 2 {
			same = append(same, name)
		}
	}
	slices.Sort(alone)
	slices.Sort(same)
	if len(alone) > 0 {
		r.fail(feeds, "%s has one feed only; a rate counts where two agree", alone[0])
	} else if len(same) > 0 {
		r.fail(feeds, "all feeds of %s have one host or file; a rate counts where two sources agree", same[0])
	}
}
