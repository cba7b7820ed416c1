package config

import (
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bursar/bursar/chain"
)

// Nodes configures requests to the endpoints of a chain. A zero value leaves the choice to the client.
type Nodes struct {
	Provider string        // name of a profile of limits; empty: recognised by each endpoint's host
	Quota    Quota         // of each endpoint
	MaxBody  int64         // bytes of a response
	Fetchers int           // blocks fetched concurrently
	Window   int           // blocks requested per batch
	Pace     time.Duration // interval of polling for a new head
}

// Quota is what an endpoint's plan allows. Zero: the quota of its provider's profile, otherwise no limit.
type Quota struct {
	PerSecond int // calls
	PerDay    int // calls
	Batch     int // calls in one request
}

// Methods to see value that contracts send on EVM chains, as Trace names them.
const (
	TraceAuto   = "auto" // the method that each endpoint offers, or balances if it offers none
	TraceGeth   = "geth"
	TraceParity = "parity"
	TraceNone   = "none"
)

// Formats of Solana's transactions, as Format names them.
const (
	FormatAuto   = "auto" // the newest that the cluster accepts
	FormatLegacy = "legacy"
	FormatV0     = "v0"
	FormatV1     = "v1"
)

// Bounds of these settings.
const (
	minBody      = 1 << 20
	maxBody      = 1 << 32
	maxFetchers  = 64
	maxWindow    = 256
	maxPerSecond = 100_000
	maxPerDay    = 1_000_000_000
	maxBatch     = 1000
	maxTipGwei   = 1_000_000
)

// quotaKey is a section below a chain.
const quotaKey = "quota"

// nodeSettings are those of every family.
var nodeSettings = []setting[chainDraft]{
	{"provider", func(r *reader, n *node, to *chainDraft) {
		name, ok := r.text(n)
		if ok && !providerName.MatchString(name) {
			r.fail(n, "%.40q is not a provider's name, such as trongrid", name)
			return
		}
		keep(&to.Nodes.Provider)(name, ok)
	}},
	{quotaKey, func(r *reader, n *node, to *chainDraft) {
		if section := r.asSection(n, "{per_second: 10, per_day: 100000, batch: 20}"); section != nil {
			read(r, section, quotaSettings, &to.Nodes.Quota)
		}
	}},
	{"max_body", func(r *reader, n *node, to *chainDraft) { keep(&to.Nodes.MaxBody)(r.bytes(n, minBody, maxBody)) }},
	{"fetchers", func(r *reader, n *node, to *chainDraft) { keep(&to.Nodes.Fetchers)(r.count(n, 1, maxFetchers)) }},
	{"window", func(r *reader, n *node, to *chainDraft) { keep(&to.Nodes.Window)(r.count(n, 1, maxWindow)) }},
	{"pace", func(r *reader, n *node, to *chainDraft) {
		keep(&to.Nodes.Pace)(r.duration(n, 10*time.Millisecond, time.Hour))
	}},
	{"push", func(r *reader, n *node, to *chainDraft) { to.Push = r.pushURLs(n, to.of) }},
}

// familySettings are those of one family each.
var familySettings = []setting[chainDraft]{
	{"trace", func(r *reader, n *node, to *chainDraft) {
		keep(&to.Trace)(r.oneOf(n, TraceAuto, TraceGeth, TraceParity, TraceNone))
	}},
	{"min_tip", func(r *reader, n *node, to *chainDraft) {
		tip, ok := r.amount(n, to.of.RateDecimals)
		if ok && units(strconv.Itoa(maxTipGwei), to.of.RateDecimals).Less(tip) {
			r.fail(n, "the value is out of range; allowed are up to %d gwei", maxTipGwei)
			return
		}
		keep(&to.MinTip)(tip, ok)
	}},
	{"format", func(r *reader, n *node, to *chainDraft) {
		keep(&to.Format)(r.oneOf(n, FormatAuto, FormatLegacy, FormatV0, FormatV1))
	}},
	{"network_id", func(r *reader, n *node, to *chainDraft) {
		if id, ok := r.whole(n, 0, 1<<32-1); ok {
			short := uint32(id)
			to.NetworkID = &short
		}
	}},
}

var quotaSettings = []setting[Quota]{
	{"per_second", func(r *reader, n *node, to *Quota) { keep(&to.PerSecond)(r.count(n, 1, maxPerSecond)) }},
	{"per_day", func(r *reader, n *node, to *Quota) { keep(&to.PerDay)(r.count(n, 1, maxPerDay)) }},
	{"batch", func(r *reader, n *node, to *Quota) { keep(&to.Batch)(r.count(n, 1, maxBatch)) }},
}

var providerName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`)

// pushSchemes returns the URL schemes by which a chain's nodes announce blocks: bitcoind, litecoind and java-tron over
// ZMQ, the others over a WebSocket.
func pushSchemes(of chain.Definition) []string {
	if of.ZMQ {
		return []string{"tcp"}
	}
	return []string{"ws", "wss"}
}

// pushURLs parses the URLs of block announcements. No error quotes a URL, because it may contain a key.
func (r *reader) pushURLs(n *node, of chain.Definition) []Secret {
	items, schemes := r.list(n), pushSchemes(of)
	if len(items) > maxURLs {
		r.fail(n, "%d URLs are too many; at most %d are allowed", len(items), maxURLs)
		return nil
	}
	var urls []Secret
	for _, item := range items {
		text, ok := r.text(item)
		if !ok {
			continue
		}
		u, err := url.Parse(text)
		whole := err == nil && u.Hostname() != "" && u.Opaque == "" && u.Fragment == ""
		if !whole || !slices.Contains(schemes, u.Scheme) || u.Scheme == "tcp" && u.Port() == "" {
			r.fail(item, "a URL is not of the form %s://host:port", strings.Join(schemes, ":// or "))
			continue
		}
		urls = append(urls, NewSecret(text))
	}
	return urls
}

// PushURLs returns Push in the clear, for the client that connects.
func (c ChainConfig) PushURLs() []string { return inClear(c.Push) }
