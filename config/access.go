package config

import (
	"net/netip"
	"regexp"
	"strconv"
	"time"

	"github.com/bursar/bursar/netpolicy"
)

// Limits are the rates that the file names for what one client may ask of a process. A nil Rate is not named: the
// default of the network stands, which on Regtest is none.
type Limits struct {
	Read         *Rate // of one key: requests that change nothing
	Change       *Rate // of one key: requests that make or change wallets, charges and webhooks
	Withdraw     *Rate // of one key: withdrawals
	TestDelivery *Rate // of one account: test events
	Address      *Rate // of one client address, whatever its keys
	Failed       *Rate // of one client address: keys and secrets that were not right
}

// Rate is Count times in Per in the long run, and Burst at once. The zero Rate is no limit.
type Rate struct {
	Count uint64
	Per   time.Duration
	Burst int
}

// Withdrawals is what orders are held to.
type Withdrawals struct {
	DestinationHold time.Duration // how long an addition to a list of destinations waits, and switching a list off
}

// The headers in which proxies tell who called them.
const (
	XForwardedFor = "X-Forwarded-For"
	Forwarded     = "Forwarded"
)

// accessSettings are keys of the top that say where clients may come from.
var accessSettings = []setting[Config]{
	{"proxies", func(r *reader, n *node, to *Config) { to.Proxies = r.proxies(n) }},
	{"proxy_header", func(r *reader, n *node, to *Config) { keep(&to.ProxyHeader)(r.oneOf(n, XForwardedFor, Forwarded)) }},
	{"client_networks", func(r *reader, n *node, to *Config) { to.ClientNetworks = r.networks(n) }},
}

// limitsSettings are read in their order: the others win over all.
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

// withdrawalsDraft is the section of withdrawals that is being read.
type withdrawalsDraft struct {
	Withdrawals
	network Network
}

// Bounds of holds and rates.
const (
	defaultHold = 24 * time.Hour
	maxHold     = 30 * 24 * time.Hour
	leastHold   = time.Hour // on the main network
	maxRate     = 1_000_000
)

var withdrawalsSettings = []setting[withdrawalsDraft]{
	{"destination_hold", func(r *reader, n *node, to *withdrawalsDraft) {
		hold, ok := r.duration(n, time.Second, maxHold)
		if ok && to.network == Mainnet && hold < leastHold {
			r.fail(n, "%s is less than %s, the least on mainnet: whoever adds an address must not outrun those who watch", hold,
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

// rate reads "200/s burst 400", "30/m" or "off". The burst that is left out is what comes in two seconds.
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
	count, _ := strconv.ParseUint(parts[1], 10, 64) // the form allows what it can read
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

// networks reads a list of networks, those that are IPv4-mapped as the IPv4 networks they are.
func (r *reader) networks(n *node) []netip.Prefix {
	var list []netip.Prefix
	for _, item := range r.list(n) {
		if p, ok := r.network(item); ok {
			list = append(list, netpolicy.UnmapNetwork(p))
		}
	}
	return list
}

// proxies reads networks whose word is taken for who calls: not everybody's.
func (r *reader) proxies(n *node) []netip.Prefix {
	list := r.networks(n)
	for _, p := range list {
		if p.Bits() == 0 {
			r.fail(n, "%s is everybody: any client could say where it comes from", p)
		}
	}
	return list
}
