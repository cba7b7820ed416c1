package config

import (
	"slices"
	"strings"
	"time"

	"github.com/bursar/bursar"
)

// The sources of rates.
const (
	RatesStatic = "static"
	RatesHTTP   = "http"
)

// Rates configures the source of what currencies are worth in USDT.
type Rates struct {
	Source   string                              // RatesStatic, RatesHTTP, or empty: no figures in USDT anywhere
	Static   map[bursar.CurrencyCode]bursar.Rate // of RatesStatic
	URL      Secret                              // of RatesHTTP: the URL of the source; it may contain a key
	Pointers map[bursar.CurrencyCode]string      // of RatesHTTP: JSON pointers to rates in the response (RFC 6901)
	Refresh  time.Duration                       // of RatesHTTP: interval of requests
	MaxAge   time.Duration                       // of RatesHTTP: how long a rate is valid
}

// The keys of the sections below rates.
const (
	staticKey   = "static"
	pointersKey = "pointers"
)

var ratesSettings = []setting[Rates]{
	{"source", func(r *reader, n *node, to *Rates) { keep(&to.Source)(r.oneOf(n, RatesStatic, RatesHTTP)) }},
	{"url", func(r *reader, n *node, to *Rates) {
		if r.usedBy(n, to, RatesHTTP) {
			keep(&to.URL)(r.nodeURL(n))
		}
	}},
	{"refresh", func(r *reader, n *node, to *Rates) {
		if r.usedBy(n, to, RatesHTTP) {
			keep(&to.Refresh)(r.period(n, 5*time.Second, time.Hour))
		}
	}},
	{"max_age", func(r *reader, n *node, to *Rates) {
		if r.usedBy(n, to, RatesHTTP) {
			keep(&to.MaxAge)(r.period(n, 5*time.Second, 24*time.Hour))
		}
	}},
}

// usedBy refuses a key that the chosen source does not use.
func (r *reader) usedBy(n *node, to *Rates, source string) bool {
	if to.Source != "" && to.Source != source {
		r.fail(n, "the setting is not used with source: %s", to.Source)
	}
	return to.Source == source
}

// period parses a duration without zero, which would mean never.
func (r *reader) period(n *node, least, most time.Duration) (time.Duration, bool) {
	d, ok := r.duration(n, least, most)
	if ok && d == 0 {
		r.fail(n, "the value must be between %s and %s", least, most)
	}
	return d, ok && d != 0
}

// rates parses the source of rates; the currencies are parsed before it.
func (r *reader) rates(section *node, cfg *Config) {
	if section == nil || cfg.Registry == nil {
		return
	}
	before := len(r.mistakes)
	to := Rates{Refresh: time.Minute, MaxAge: 10 * time.Minute}
	read(r, section, ratesSettings, &to, staticKey, pointersKey)
	if len(r.mistakes) == before && to.Source == "" {
		r.fail(section, "source is required: static or http")
	}
	if named := r.subsection(section, staticKey); named != nil && r.usedBy(named, &to, RatesStatic) {
		to.Static = r.staticRates(named, cfg.Registry)
	}
	if named := r.subsection(section, pointersKey); named != nil && r.usedBy(named, &to, RatesHTTP) {
		to.Pointers = r.pointers(named, cfg.Registry)
	}
	if len(r.mistakes) == before {
		r.completeRates(section, &to, cfg.Registry)
	}
	if len(r.mistakes) == before {
		cfg.Rates = to
	}
}

// completeRates checks the whole, and fills in missing pointers: the currency's code.
func (r *reader) completeRates(section *node, to *Rates, registry *bursar.Registry) {
	switch {
	case to.Source == RatesStatic && len(to.Static) == 0:
		r.fail(section, "static is required: a rate for each currency, such as {BTC: \"65000.5\"}")
	case to.Source == RatesHTTP && to.URL.Reveal() == "":
		r.fail(section, "url is required: the address of a source of rates in JSON")
	case to.Source == RatesHTTP && to.MaxAge < to.Refresh:
		r.fail(section, "max_age is below refresh: no rate would stay valid until the next")
	}
	if to.Source != RatesHTTP {
		return
	}
	pointers := map[bursar.CurrencyCode]string{}
	for _, c := range registry.All() {
		if pointers[c.Code] = "/" + string(c.Code); to.Pointers[c.Code] != "" {
			pointers[c.Code] = to.Pointers[c.Code]
		}
	}
	delete(pointers, bursar.USDT)
	to.Pointers = pointers
}

func (r *reader) staticRates(section *node, registry *bursar.Registry) map[bursar.CurrencyCode]bursar.Rate {
	rates := map[bursar.CurrencyCode]bursar.Rate{}
	for _, n := range section.named {
		code, known := r.rated(section, n, registry)
		text, ok := r.text(n)
		if !known || !ok {
			continue
		}
		rate, err := bursar.ParseRate(text)
		if err != nil {
			r.fail(n,
				"%.40q is not a rate; allowed are plain decimal numbers above zero with at most 18 decimals, such as 65000.5", text)
			continue
		}
		rates[code] = rate
	}
	return rates
}

func (r *reader) pointers(section *node, registry *bursar.Registry) map[bursar.CurrencyCode]string {
	pointers := map[bursar.CurrencyCode]string{}
	for _, n := range section.named {
		code, known := r.rated(section, n, registry)
		text, ok := r.text(n)
		if !known || !ok {
			continue
		}
		if !isPointer(text) {
			r.fail(n, "%.60q is not a JSON pointer, such as /bitcoin/usdt or /data/0/price", text)
			continue
		}
		pointers[code] = text
	}
	return pointers
}

// rated returns the currency that a key of a section names. USDT is the unit of all rates and has none.
func (r *reader) rated(section, n *node, registry *bursar.Registry) (bursar.CurrencyCode, bool) {
	if bursar.CurrencyCode(n.key) == bursar.USDT {
		r.fail(n, "USDT is the unit of rates: its rate is 1")
		return "", false
	}
	var codes []string
	for _, c := range registry.All() {
		if c.Code != bursar.USDT {
			codes = append(codes, string(c.Code))
		}
	}
	if slices.Contains(codes, n.key) {
		return bursar.CurrencyCode(n.key), true
	}
	at := *n
	at.path = section.path
	r.fail(&at, "unknown currency %q%s", n.key, didYouMean(n.key, codes))
	return "", false
}

// isPointer reports whether a text points to something inside a JSON document (RFC 6901).
func isPointer(text string) bool {
	return strings.HasPrefix(text, "/") && !strings.Contains(strings.NewReplacer("~0", "", "~1", "").Replace(text), "~")
}
