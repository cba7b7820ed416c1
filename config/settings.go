package config

import (
	"slices"
	"time"

	"github.com/bursar/bursar"
)

// setting is a key of a section with the function that parses its value. Settings are read in the order of their table.
type setting[T any] struct {
	key  string
	read func(r *reader, n *node, to *T)
}

func keysOf[T any](settings []setting[T]) []string {
	keys := make([]string, len(settings))
	for i, s := range settings {
		keys[i] = s.key
	}
	return keys
}

// The keys of sections.
const (
	chainsKey      = "chains"
	currenciesKey  = "currencies"
	webhooksKey    = "webhooks"
	limitsKey      = "limits"
	withdrawalsKey = "withdrawals"
	signerKey      = "signer"
	ratesKey       = "rates"
	pricesKey      = "prices"
	screeningKey   = "screening"
)

var topSettings = []setting[Config]{
	{"listen", func(r *reader, n *node, to *Config) { keep(&to.Listen)(r.address(n)) }},
	{"admin_listen", func(r *reader, n *node, to *Config) {
		if n.shape == isText && n.text == "off" {
			to.AdminListen = ""
			return
		}
		keep(&to.AdminListen)(r.address(n))
	}},
	{"admin_pprof", func(r *reader, n *node, to *Config) {
		word, ok := r.oneOf(n, "on", "off")
		keep(&to.AdminPprof)(word == "on", ok)
	}},
	{"database", func(r *reader, n *node, to *Config) { keep(&to.Database)(r.database(n)) }},
	{"database_failover", func(r *reader, n *node, to *Config) {
		word, ok := r.oneOf(n, string(FailoverUnknown), string(FailoverSynchronous))
		keep(&to.Failover)(Failover(word), ok)
	}},
	{"network", func(r *reader, n *node, to *Config) {
		word, ok := r.oneOf(n, string(Mainnet), string(Testnet), string(Regtest))
		keep(&to.Network)(Network(word), ok)
	}},
	{"seed_file", func(r *reader, n *node, to *Config) {
		path, ok := r.text(n)
		keep(&to.SeedFile)(r.resolve(n, path), ok)
	}},
	{"lease", func(r *reader, n *node, to *Config) {
		keep(&to.Lease)(r.duration(n, time.Second, time.Minute))
	}},
	{"poll_interval", func(r *reader, n *node, to *Config) {
		keep(&to.PollInterval)(r.duration(n, 10*time.Millisecond, time.Hour))
	}},
}

var webhookSettings = []setting[Webhooks]{
	{"allow_networks", func(r *reader, n *node, to *Webhooks) {
		to.AllowNetworks = r.networks(n)
	}},
	{"allow_http", func(r *reader, n *node, to *Webhooks) {
		word, ok := r.oneOf(n, "true", "false")
		keep(&to.AllowHTTP)(word == "true", ok)
	}},
}

// keep stores a value that was parsed without a mistake.
func keep[V any](to *V) func(V, bool) {
	return func(value V, ok bool) {
		if ok {
			*to = value
		}
	}
}

// config reads the whole tree.
func (r *reader) config(root *node) Config {
	cfg := Config{
		Listen: "127.0.0.1:8080", AdminListen: "127.0.0.1:8081", Network: Mainnet,
		Database: NewSecret(sqliteScheme + r.resolve(nil, "bursar.db")), SeedFile: r.resolve(nil, "seed.age"),
		Failover: FailoverUnknown, Chains: map[bursar.ChainID]ChainConfig{}, ProxyHeader: XForwardedFor,
		Console:     Console{RoleHold: defaultHold},
		Withdrawals: Withdrawals{DestinationHold: defaultHold},
		RequestLog:  defaultRequestLog,
	}
	read(r, root, slices.Concat(topSettings, accessSettings), &cfg, chainsKey, currenciesKey, webhooksKey, limitsKey,
		withdrawalsKey, signerKey, ratesKey, pricesKey, payKey, screeningKey, tlsKey, adminKey, consoleKey, noticesKey)
	cfg.Webhooks.AllowHTTP = cfg.Network != Mainnet
	if section := r.subsection(root, webhooksKey); section != nil {
		read(r, section, webhookSettings, &cfg.Webhooks)
	}
	if section := r.subsection(root, signerKey); section != nil {
		r.signer(section, &cfg)
	}
	r.access(root, &cfg)
	r.listeners(root, &cfg)
	if section := r.subsection(root, chainsKey); section != nil {
		r.chains(section, &cfg)
	}
	r.currencies(r.subsection(root, currenciesKey), &cfg)
	r.rates(r.subsection(root, ratesKey), &cfg)
	r.prices(r.subsection(root, pricesKey), &cfg)
	r.screening(r.subsection(root, screeningKey), &cfg)
	r.pay(r.subsection(root, payKey), &cfg)
	r.notices(r.subsection(root, noticesKey), &cfg)
	return cfg
}

// subsection returns a section that may be missing or empty.
func (r *reader) subsection(parent *node, key string) *node {
	s := parent.field(key)
	if s == nil || s.shape == isNothing {
		return nil
	}
	if s.shape != isSection {
		r.fail(s, "this is %s; a section with keys below it is expected", s.shape)
		return nil
	}
	return s
}

// read records unknown keys as mistakes, and reads the others in the order of the table.
func read[T any](r *reader, section *node, settings []setting[T], to *T, others ...string) {
	r.onlyKeys(section, append(keysOf(settings), others...))
	apply(r, section, settings, to)
}

// onlyKeys records the keys of a section that are not allowed there as mistakes.
func (r *reader) onlyKeys(section *node, allowed []string) {
	for _, f := range section.named {
		if !slices.Contains(allowed, f.key) {
			at := *f
			at.path = section.path
			r.fail(&at, "unknown key %q%s", f.key, didYouMean(f.key, allowed))
		}
	}
}

func apply[T any](r *reader, section *node, settings []setting[T], to *T) {
	for _, s := range settings {
		if f := section.field(s.key); f != nil {
			s.read(r, f, to)
		}
	}
}
