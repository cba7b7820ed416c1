package config

import (
	"net/netip"
	"regexp"
	"strconv"
	"time"

	"github.com/bursar/bursar/netpolicy"
)

// Limits are the configured rate limits of one client at one process. A nil Rate is not configured: the default of the
// network applies, which on Regtest is none.
type Limits struct {
	Read         *Rate // of one key: read requests
	Change       *Rate // of one key: requests that create or change wallets, charges and webhooks
	Withdraw     *Rate // of one key: withdrawals
	TestDelivery *Rate // of one account: test events
	Address      *Rate // of one client address, whatever its keys
	Failed       *Rate // of one client address: failed authentications
}

// Rate is Count requests in Per on average, and Burst at once. The zero Rate is no limit.
type Rate struct {
	Count uint64
	Per   time.Duration
	Burst int
}

// Withdrawals restricts withdrawals.
type Withdrawals struct {
	DestinationHold time.Duration // delay of a new destination, and of switching a list off
}

// The headers in which proxies pass on the client's address.
const (
	XForwardedFor = "X-Forwarded-For"
	Forwarded     = "Forwarded"
)

// accessSettings are top-level keys about where clients may connect from.
var accessSettings = []setting[Config]{
	{"proxies", func(r *reader, n *node, to *Config) { to.Proxies = r.proxies(n) }},
	{"proxy_header", func(r *reader, n *node, to *Config) { keep(&to.ProxyHeader)(r.oneOf(n, XForwardedFor, Forwarded)) }},
	{"request_log", func(r *reader, n *node, to *Config) {
		if n.shape == isText && n.text == "off" {
			to.RequestLog = 0
			return
		}
		keep(&to.RequestLog)(r.duration(n, time.Hour, maxRequestLog))
	}},
	{"client_networks", func(r *reader, n *node, to *Config) { to.ClientNetworks = r.networks(n) }},
}

// limitsSettings are read in this order; "off" comes last and overrides the others.
var limitsSettings = []setting[Limits]{
	{"all", func(r *reader, n *node, to *Limits) {
		if rate, ok := r.rate(n); ok {
			*to = Limits{&rate, &rate, &rate, &rate, &rate, &rate}
		}
	}},
	{"read", func(r *reader, n *node, to *Limits) { keepRate(&to.Read)(r.rate(n)) }},
	{"change", func(r *reader, n *node, to *Limits) { keepRate(&to.Change)(r.rate(n)) }},
	{"withdraw", func(r *reader, n *node, to *Limits) { keepRate(&to.Withdraw)(r.rate(n)) }},
	{"trial", func(r *reader, n *node, to *Limits) { keepRate(&to.TestDelivery)(r.rate(n)) }},
	{"address", func(r *reader, n *node, to *Limits) { keepRate(&to.Address)(r.rate(n)) }},
	{"failed", func(r *reader, n *node, to *Limits) { keepRate(&to.Failed)(r.rate(n)) }},
}

// withdrawalsDraft is the section of withdrawals that is being parsed.
type withdrawalsDraft struct {
	Withdrawals
	network Network
}

// Bounds of holds and rates.
const (
	defaultHold = 24 * time.Hour
	maxHold     = 30 * 24 * time.Hour
	leastHold   = time.Hour // on mainnet
	maxRate     = 1_000_000

	defaultRequestLog = 7 * 24 * time.Hour
	maxRequestLog     = 90 * 24 * time.Hour
)

var withdrawalsSettings = []setting[withdrawalsDraft]{
	{"destination_hold", func(r *reader, n *node, to *withdrawalsDraft) {
		hold, ok := r.duration(n, time.Second, maxHold)
		if ok && to.network == Mainnet && hold < leastHold {
			r.fail(n,
				"%s is less than %s, the minimum on mainnet: somebody who adds an address must not be able to withdraw before "+
					"it is noticed", hold,
				leastHold)
			return
		}
		keep(&to.DestinationHold)(hold, ok)
	}},
}

func keepRate(to **Rate) func(Rate, bool) {
	return func(rate Rate, ok bool) {
		if ok {
			*to = &rate
		}
	}
}

// access reads the sections of this file.
func (r *reader) access(root *node, cfg *Config) {
	if section := r.subsection(root, limitsKey); section != nil {
		read(r, section, limitsSettings, &cfg.Limits)
	}
	draft := withdrawalsDraft{cfg.Withdrawals, cfg.Network}
	if section := r.subsection(root, withdrawalsKey); section != nil {
		read(r, section, withdrawalsSettings, &draft)
	}
	cfg.Withdrawals = draft.Withdrawals
}

var rateForm = regexp.MustCompile(`^([1-9][0-9]{0,6})/([smh])(?: burst ([1-9][0-9]{0,6}))?$`)

// rate parses "200/s burst 400", "30/m" or "off". Without a burst it is what comes in two seconds.
func (r *reader) rate(n *node) (Rate, bool) {
	text, ok := r.text(n)
	if !ok || text == "off" {
		return Rate{}, ok
	}
	parts := rateForm.FindStringSubmatch(text)
	if parts == nil {
		r.fail(n, "%.40q is not a rate, such as 200/s, 30/m or 200/s burst 400; off is no limit", text)
		return Rate{}, false
	}
	per := map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour}[parts[2]]
	count, _ := strconv.ParseUint(parts[1], 10, 64) // the pattern guarantees that it parses
	burst, _ := strconv.ParseUint(parts[3], 10, 64)
	if parts[3] == "" {
		burst = max(1, 2*count/uint64(per/time.Second))
	}
	if count > maxRate || burst > maxRate {
		r.fail(n, "%.40q is out of range; at most %d are allowed", text, maxRate)
		return Rate{}, false
	}
	return Rate{Count: count, Per: per, Burst: int(burst)}, true
}

// networks parses a list of networks; IPv4-mapped networks become IPv4 networks.
func (r *reader) networks(n *node) []netip.Prefix {
	var list []netip.Prefix
	for _, item := range r.list(n) {
		if p, ok := r.network(item); ok {
			list = append(list, netpolicy.UnmapNetwork(p))
		}
	}
	return list
}

// widest is the smallest prefix length of a network of proxies: no organisation has a larger network, and two networks
// of half of the addresses each would be everybody.
const widest = 7

// proxies parses the networks of trusted proxies, which must not include everybody.
func (r *reader) proxies(n *node) []netip.Prefix {
	list := r.networks(n)
	for _, p := range list {
		switch {
		case p.Bits() == 0:
			r.fail(n, "%s is everybody: any client could forge its address", p)
		case p.Bits() < widest:
			r.fail(n, "%s is nearly everybody: any client could forge its address", p)
		}
	}
	return list
}
