package config

import (
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain/registry"
)

// Pay configures the payer's page. Without URL there is none.
type Pay struct {
	URL       string // scheme and host under which payers reach the API's listener
	Brand            // of every account that has none of its own
	Accounts  map[bursar.ID]Brand
	Explorers map[bursar.ChainID]string // URLs of transactions, with {tx} for the ID

	WalletApps []string // keys of wallets that the page links to by their makers' sites; empty: none
}

// Brand is how a shop shows itself on the payer's page.
type Brand struct {
	Name     string // of the shop; empty: none is shown
	Logo     string // a PNG file; empty: none
	Accent   string // of buttons, as #rrggbb
	OnAccent string // of the text on them

	FrameAncestors []string // origins whose pages may show the payer's page in a frame; empty: none
}

const (
	payKey         = "pay"
	explorersKey   = "explorers"
	payAccountsKey = "accounts"
)

// The colours of a page that has none of its own.
const (
	defaultAccent   = "#0f5132"
	defaultOnAccent = "#ffffff"
)

// leastContrast is what WCAG 2.2 asks of text (1.4.3).
const leastContrast = 4.5

const maxShopName = 60 // characters

var paySettings = append([]setting[Pay]{
	{"url", func(r *reader, n *node, to *Pay) { keep(&to.URL)(r.origin(n)) }},
	{"wallet_apps", func(r *reader, n *node, to *Pay) {
		to.WalletApps = nil
		for _, item := range r.list(n) {
			if key, ok := r.walletApp(item); ok {
				to.WalletApps = append(to.WalletApps, key)
			}
		}
	}},
}, ofPay(brandSettings)...)

var brandSettings = []setting[Brand]{
	{"name", func(r *reader, n *node, to *Brand) {
		text, ok := r.text(n)
		if ok && (len([]rune(text)) > maxShopName || strings.ContainsFunc(text, func(c rune) bool { return c < ' ' })) {
			r.fail(n, "a shop's name has at most %d characters on one line", maxShopName)
			return
		}
		keep(&to.Name)(text, ok)
	}},
	{"logo", func(r *reader, n *node, to *Brand) { r.file(n, &to.Logo) }},
	{"accent", func(r *reader, n *node, to *Brand) { keep(&to.Accent)(r.colour(n)) }},
	{"on_accent", func(r *reader, n *node, to *Brand) { keep(&to.OnAccent)(r.colour(n)) }},
	{"frame_ancestors", func(r *reader, n *node, to *Brand) {
		to.FrameAncestors = nil
		for _, item := range r.list(n) {
			if origin, ok := r.frameAncestor(item); ok {
				to.FrameAncestors = append(to.FrameAncestors, origin)
			}
		}
	}},
}

// ofPay has settings of a brand read into the one of all accounts.
func ofPay(of []setting[Brand]) (list []setting[Pay]) {
	for _, s := range of {
		list = append(list, setting[Pay]{s.key, func(r *reader, n *node, to *Pay) { s.read(r, n, &to.Brand) }})
	}
	return list
}

// walletApp reads the key of a wallet that a chain knows.
func (r *reader) walletApp(n *node) (string, bool) {
	text, ok := r.text(n)
	if !ok {
		return "", false
	}
	var known []string
	for _, d := range registry.All() {
		for _, link := range []bursar.WalletLink{d.Link.Native, d.Link.Token} {
			if key := link.App.Key; key != "" && !slices.Contains(known, key) {
				known = append(known, key)
			}
		}
	}
	if !slices.Contains(known, text) {
		r.fail(n, "there is no wallet %.40q: it is one of %s", text, strings.Join(known, ", "))
		return "", false
	}
	return text, true
}

// readable refuses colours of which nobody can read one on the other.
func (r *reader) readable(section *node, b Brand) {
	if has := contrast(b.Accent, b.OnAccent); has < leastContrast {
		r.fail(section, "the contrast of accent %s and on_accent %s is %.1f to 1: text needs %.1f to 1", b.Accent,
			b.OnAccent, has, leastContrast)
	}
}

// payAccounts parses the brands of accounts. What one does not say is that of all accounts.
func (r *reader) payAccounts(section *node, to *Pay) {
	accounts := r.subsection(section, payAccountsKey)
	if accounts == nil {
		return
	}
	for _, n := range accounts.named {
		id, err := bursar.ParseID(n.key)
		if err != nil {
			r.fail(n, "%.40q is not the ID of an account: `bursar account list` has them", n.key)
			continue
		}
		own := r.subsection(accounts, n.key)
		if own == nil {
			continue
		}
		brand := to.Brand
		read(r, own, brandSettings, &brand)
		r.readable(own, brand)
		to.Accounts[id] = brand
	}
}

// pay parses the payer's page.
func (r *reader) pay(section *node, cfg *Config) {
	if section == nil {
		return
	}
	to := Pay{Brand: Brand{Accent: defaultAccent, OnAccent: defaultOnAccent}, Accounts: map[bursar.ID]Brand{},
		Explorers: map[bursar.ChainID]string{}}
	read(r, section, paySettings, &to, explorersKey, payAccountsKey)
	if to.URL == "" && section.field("url") == nil {
		r.fail(section, "url is required: scheme and host under which payers reach the service")
	}
	if cfg.Network == Mainnet && strings.HasPrefix(to.URL, "http:") {
		r.fail(section.field("url"), "on mainnet payers must reach the page by https: otherwise anybody in between "+
			"can replace the address")
	}
	if cfg.Network != Mainnet && len(to.WalletApps) > 0 {
		r.fail(section.field("wallet_apps"), "such a wallet pays on the main network: leave wallet_apps out on %s",
			cfg.Network)
	}
	r.readable(section, to.Brand)
	r.payAccounts(section, &to)
	if explorers := r.subsection(section, explorersKey); explorers != nil {
		for _, n := range explorers.named {
			if text, ok := r.explorer(n); ok && r.chainExists(n, n.key, cfg) {
				to.Explorers[bursar.ChainID(n.key)] = text
			}
		}
	}
	cfg.Pay = to
}

// origin reads a URL of scheme and host alone.
func (r *reader) origin(n *node) (string, bool) {
	text, ok := r.text(n)
	if !ok {
		return "", false
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil ||
		strings.TrimSuffix(text, "/") != u.Scheme+"://"+u.Host {
		r.fail(n, "the value must be a scheme and a host, such as https://pay.shop.example")
		return "", false
	}
	return u.Scheme + "://" + u.Host, true
}

// frameHost is a host as a Content Security Policy may contain it, with a port: without anything that ends a directive.
var frameHost = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?$`)

// frameAncestor reads the origin of a page that may show another one in a frame.
func (r *reader) frameAncestor(n *node) (string, bool) {
	origin, ok := r.origin(n)
	if !ok {
		return "", false
	}
	scheme, host, _ := strings.Cut(origin, "://")
	if !frameHost.MatchString(host) {
		r.fail(n, "the value must be a scheme and a host in lower case, such as https://shop.example")
		return "", false
	}
	if name, _, _ := strings.Cut(host, ":"); scheme == "http" && name != "localhost" && name != "127.0.0.1" {
		r.fail(n, "a page on another machine must be reached by https: otherwise anybody in between can replace "+
			"what is around the payer's page")
		return "", false
	}
	return origin, true
}

// explorer reads the URL of a transaction in an explorer.
func (r *reader) explorer(n *node) (string, bool) {
	text, ok := r.text(n)
	if !ok {
		return "", false
	}
	u, err := url.Parse(strings.ReplaceAll(text, "{tx}", "tx"))
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || strings.Count(text, "{tx}") != 1 ||
		strings.Contains(u.Host, "{") {
		r.fail(n, "the value must be a URL of https with {tx} where the transaction's ID belongs, such as "+
			"https://explorer.example/tx/{tx}")
		return "", false
	}
	return text, true
}

func (r *reader) colour(n *node) (string, bool) {
	text, ok := r.text(n)
	if _, _, _, is := rgb(text); ok && !is {
		r.fail(n, `%.20q is not a colour: write "#rrggbb"`, text)
		return "", false
	}
	return strings.ToLower(text), ok
}

func rgb(text string) (red, green, blue float64, ok bool) {
	n, err := strconv.ParseUint(strings.TrimPrefix(text, "#"), 16, 24)
	if err != nil || len(text) != len("#rrggbb") || text[0] != '#' {
		return 0, 0, 0, false
	}
	return float64(n>>16) / 255, float64(n>>8&255) / 255, float64(n&255) / 255, true
}
