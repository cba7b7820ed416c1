package config

import (
	"regexp"
	"slices"
	"strconv"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/registry"
)

// ChainConfig is a configured chain.
type ChainConfig struct {
	ID     bursar.ChainID
	Family bursar.Family // as in the chain's definition
	RPC    []Secret      // http and https URLs, 1 to 16, most trusted first
	Solid  []Secret      // Tron: the /walletsolidity URL of each of RPC, in the same order; nil: on the usual port

	Headers map[string]Secret // sent to every node of the chain, such as a provider's key

	Nodes  Nodes    // how to call its endpoints
	Push   []Secret // block announcements: tcp URLs of ZMQ for Bitcoin, Litecoin and Tron, otherwise ws and wss URLs
	Credit Credit   // what a deposit needs beyond the chain's own finality

	Trace     string        // EVM: TraceAuto, TraceGeth, TraceParity or TraceNone
	MinTip    bursar.Amount // EVM: the minimum tip per unit of gas, in wei; zero: the chain's usual one
	Format    string        // Solana: format of signed transactions: FormatAuto, FormatLegacy, FormatV0 or FormatV1
	NetworkID *uint32       // XRPL: the network ID if it is not the usual one; nil: the network's

	Confirmations  int    // Bitcoin and Litecoin: a block with this many confirmations, its own block counted, is final
	ChainID        uint64 // EVM: EIP-155; 0, only on Regtest: as the node says
	FinalityBlocks uint64 // EVM: a block with this many above it is final; 0: the node's `finalized` tag

	StartHeight *uint64       // the first block of a new database; nil: the tip at the first start
	MaxFee      bursar.Amount // the highest fee of one transaction, in units of the native asset
	MaxFeeRate  bursar.Amount // the highest fee per vbyte or unit of gas, in the same units; zero if a chain has neither

	Fees   Periods // what all transactions of a period can cost, in units of the native asset
	Sweeps Periods // how many sweeps, consolidations and gas top-ups are signed in a period

	Payments Periods // how many transactions that pay others are signed in a period
	// MaxFeePercent is the most that a transaction which pays others may cost, in percent of what it pays; fees up to a
	// twentieth of MaxFee are not asked about. 0: any.
	MaxFeePercent uint64

	DefaultFees   bool // Fees are not configured: they are those of mainnet, or none
	DefaultSweeps bool // the same for Sweeps

	Cold   []bursar.ColdWallet // in the order of the file: the first is paid what exceeds a ceiling
	ToCold Periods             // how many transactions that pay cold wallets are signed in a period

	GasFromCustomers bool // network fees of tokens may be paid from what is owed to customers in the native asset
}

// URLs returns the nodes' URLs in the clear, for the client that calls them.
func (c ChainConfig) URLs() []string { return inClear(c.RPC) }

// SolidURLs returns Solid in the clear.
func (c ChainConfig) SolidURLs() []string { return inClear(c.Solid) }

func inClear(secrets []Secret) []string {
	urls := make([]string, len(secrets))
	for i, s := range secrets {
		urls[i] = s.Reveal()
	}
	return urls
}

// HeadersInClear returns the headers with their values, for the client that sends them.
func (c ChainConfig) HeadersInClear() map[string]string {
	headers := map[string]string{}
	for name, value := range c.Headers {
		headers[name] = value.Reveal()
	}
	return headers
}

// units converts an amount of this source file. A mistake in one is a bug that every test of the defaults detects.
func units(decimal string, decimals int) bursar.Amount {
	if decimal == "" {
		return bursar.Amount{}
	}
	a, err := bursar.ParseDecimal(decimal, decimals)
	if err != nil {
		panic("config: default " + decimal + ": " + err.Error())
	}
	return a
}

// chainDraft is a chain that is being parsed.
type chainDraft struct {
	ChainConfig
	of chain.Definition
}

// Bounds of settings.
const (
	maxURLs     = 16
	maxFinality = 10_000
	maxHeight   = 1 << 62
)

// solidKey is a setting of Tron only.
const solidKey = "solidity_rpc"

var chainSettings = slices.Concat(basicSettings, chainLimits, nodeSettings, familySettings)

var basicSettings = []setting[chainDraft]{
	{"rpc", func(r *reader, n *node, to *chainDraft) { to.RPC = r.urls(n) }},
	{solidKey, func(r *reader, n *node, to *chainDraft) { to.Solid = r.urls(n) }},
	{"headers", func(r *reader, n *node, to *chainDraft) { to.Headers = r.headers(n) }},
	{confirmationsKey, func(r *reader, n *node, to *chainDraft) { r.confirmations(n, to) }},
	{quorumKey, func(r *reader, n *node, to *chainDraft) { r.creditQuorum(n, to) }},
	{"chain_id", func(r *reader, n *node, to *chainDraft) { keep(&to.ChainID)(r.whole(n, 1, maxHeight)) }},
	{"finality", func(r *reader, n *node, to *chainDraft) {
		if n.shape != isText || n.text != "finalized" {
			keep(&to.FinalityBlocks)(r.finality(n))
		}
	}},
	{"start_height", func(r *reader, n *node, to *chainDraft) {
		if height, ok := r.whole(n, 0, maxHeight); ok {
			to.StartHeight = &height
		}
	}},
	{"max_fee", func(r *reader, n *node, to *chainDraft) { keep(&to.MaxFee)(r.amount(n, to.of.Decimals)) }},
	{"max_fee_rate", func(r *reader, n *node, to *chainDraft) {
		rate, ok := r.amount(n, to.of.RateDecimals)
		if ok && to.of.RateBound > 0 && bursar.Units(to.of.RateBound).Less(rate) {
			r.fail(n, "%s is out of range; allowed are 1 to %d satoshi for a vbyte", rate, to.of.RateBound)
			return
		}
		keep(&to.MaxFeeRate)(rate, ok)
	}},
	{coldKey, func(r *reader, n *node, to *chainDraft) { to.Cold = r.coldWallets(n, to.ID, to.of.ColdKinds) }},
	{gasKey, func(r *reader, n *node, to *chainDraft) {
		if text, ok := r.oneOf(n, "true", "false"); ok {
			to.GasFromCustomers = text == "true"
		}
	}},
}

const gasKey = "gas_from_customers"

// settingsFor returns the settings of a chain: those that no definition names, and its own.
func settingsFor(d chain.Definition) []setting[chainDraft] {
	var own []string
	for _, other := range registry.All() {
		own = append(own, other.Settings...)
	}
	return slices.DeleteFunc(slices.Clone(chainSettings), func(s setting[chainDraft]) bool {
		return slices.Contains(own, s.key) && !slices.Contains(d.Settings, s.key)
	})
}

var chainName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`)

// chains reads the configured chains.
func (r *reader) chains(section *node, cfg *Config) {
	byID := map[uint64]bursar.ChainID{}
	for _, n := range section.named {
		id := bursar.ChainID(n.key)
		if n.shape != isSection && n.shape != isNothing {
			r.fail(n, "this is %s; a section is expected, such as {rpc: \"http://127.0.0.1:8332\"}", n.shape)
			continue
		}
		if !r.knownChain(section, n, id) {
			continue
		}
		c := r.chain(n, id, cfg.Network)
		if other, double := byID[c.ChainID]; double && c.ChainID != 0 {
			r.fail(n, "the chain has the chain_id of %s", other)
		}
		byID[c.ChainID] = id
		cfg.Chains[id] = c
	}
}

// knownChain refuses a name that is neither a standard chain nor another EVM chain's.
func (r *reader) knownChain(section, n *node, id bursar.ChainID) bool {
	if slices.Contains(registry.IDs(), id) || chainName.MatchString(n.key) && n.field("chain_id") != nil {
		return true
	}
	var names []string
	for _, c := range registry.IDs() {
		names = append(names, string(c))
	}
	at := *n
	at.path = section.path
	r.fail(&at, "unknown chain %q%s; another EVM chain needs a chain_id", n.key, didYouMean(n.key, names))
	return false
}

// chain reads one chain.
func (r *reader) chain(n *node, id bursar.ChainID, network Network) ChainConfig {
	f := registry.Of(id)
	d := chainDraft{of: f, ChainConfig: ChainConfig{
		ID: id, Family: f.Family, Confirmations: f.Confirmations, ChainID: f.ChainIDs[network],
		MaxFee: units(f.MaxFee, f.Decimals), MaxFeeRate: units(f.MaxFeeRate, f.RateDecimals),
	}}
	read(r, n, settingsFor(f), &d)
	if rpc := n.field("rpc"); rpc == nil || rpc.shape == isNothing || rpc.shape == isList && len(rpc.items) == 0 {
		r.fail(n, "rpc is required: the URL of a node, or a list of them")
	}
	if len(d.Solid) > 0 && len(d.Solid) != len(d.RPC) {
		r.fail(n.field(solidKey), "the list has %d URLs for the %d of rpc; write one for each, in the same order",
			len(d.Solid),
			len(d.RPC))
	}
	if tip := n.field("min_tip"); tip != nil && d.MaxFeeRate.Less(d.MinTip) {
		r.fail(tip, "the value is above max_fee_rate, which is %s gwei", d.MaxFeeRate.Decimal(f.RateDecimals, 0))
	}
	r.chainLimits(n, &d, network)
	if d.NetworkID != nil && network == Mainnet && *d.NetworkID != 0 {
		r.fail(n.field("network_id"), "the network id of mainnet is 0; another network needs network: testnet or regtest")
	}
	if known, fixed := f.ChainIDs[network], n.field("chain_id"); known != 0 && d.ChainID != known {
		r.fail(fixed, "%d is not the chain id of %s on %s, which is %d; private chains need network: regtest", d.ChainID, id,
			network, known)
	}
	return d.ChainConfig
}

func (r *reader) urls(n *node) []Secret {
	items := r.list(n)
	if len(items) > maxURLs {
		r.fail(n, "%d URLs are too many; at most %d are allowed", len(items), maxURLs)
		return nil
	}
	var urls []Secret
	for _, item := range items {
		if u, ok := r.nodeURL(item); ok {
			urls = append(urls, u)
		}
	}
	return urls
}

var headerForm = regexp.MustCompile(`^([A-Za-z0-9-]{1,64}):\s*([!-~](?:[ -~]*[!-~])?)$`)

// headers parses lines of the form "Name: value". No error quotes one.
func (r *reader) headers(n *node) map[string]Secret {
	headers := map[string]Secret{}
	for _, item := range r.list(n) {
		text, ok := r.text(item)
		if !ok {
			continue
		}
		found := headerForm.FindStringSubmatch(text)
		if found == nil || len(found[2]) > 1024 {
			r.fail(item, `a header is not of the form "Name: value"`)
			continue
		}
		if _, double := headers[found[1]]; double {
			r.fail(item, "the header %s is there twice", found[1])
		}
		headers[found[1]] = NewSecret(found[2])
	}
	return headers
}

func (r *reader) finality(n *node) (uint64, bool) {
	text, ok := r.text(n)
	if !ok {
		return 0, false
	}
	blocks, err := strconv.ParseUint(text, 10, 64)
	if err != nil || blocks < 1 || blocks > maxFinality {
		r.fail(n, "%.40q is not a finality; allowed are finalized, or a number of blocks from 1 to %d", text, maxFinality)
		return 0, false
	}
	return blocks, true
}
