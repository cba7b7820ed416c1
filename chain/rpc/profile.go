package rpc

import (
	"fmt"
	"slices"
	"strings"
)

// Profile is what a node provider allows on its smallest plan, by its own documentation. A profile is a default:
// settings override it.
//
// For a provider that is recognised by its host, the profile's batch size applies at once, and the calls a second only
// after it has said that the calls are too many: most customers have a larger plan than the smallest. The calls a day
// are then not enforced, since a chain must not stop at a bound that may not exist. Config.Provider enforces all
// figures from the start.
type Profile struct {
	Name   string
	Hosts  []string // a host is the provider's if it is one of these or a subdomain of one
	Quota  Quota    // 0: the provider names no figure in calls
	Source string   // where the figures are from, and when they were read
}

// Profiles returns all profiles, by name.
func Profiles() []Profile {
	return []Profile{
		{
			Name: "alchemy", Hosts: []string{"alchemy.com", "alchemyapi.io"}, Quota: Quota{PerSecond: 3, Batch: 50},
			Source: "alchemy.com/docs/reference/throughput, compute-unit-costs, best-practices-when-using-alchemy (November " +
				"2026): 500 throughput units a second over 10 s on the free plan, 500 for a block's receipts and 20 for most " +
				"others; batches under 50",
		},
		{
			Name: "ankr", Hosts: []string{"rpc.ankr.com"}, Quota: Quota{PerSecond: 30, Batch: 100},
			Source: "ankr.com/docs/rpc-service/service-plans as recorded in api-evangelist/ankr (May 2026): 30 requests a " +
				"second for the public plan; no figure for batches, 1,000 were met (safe-eth-py#303)",
		},
		{
			Name: "drpc", Hosts: []string{"drpc.org"}, Quota: Quota{PerSecond: 40, PerDay: 350_000, Batch: 3},
			Source: "drpcorg/drpc-nextra 0276487, pages/howitworks/ratelimiting.mdx: 210,000,000 compute units in 30 days on " +
				"the free plan, 50,400 a minute at least, which it calls 40 calls a second, at 20 units a call; batches of " +
				"at most 3 by its own error text",
		},
		{
			Name: "helius", Hosts: []string{"helius-rpc.com", "helius.xyz", "helius.dev"},
			Quota: Quota{PerSecond: 10, Batch: 10},
			Source: "helius.dev/docs/billing/rate-limits (November 2026): 10 requests a second on the free plan; " +
				"10 calls in a batch of historical methods",
		},
		{
			Name: "infura", Hosts: []string{"infura.io"}, Quota: Quota{PerSecond: 6, PerDay: 37_500, Batch: 10},
			Source: "docs.metamask.io/services/get-started/pricing (November 2026): 500 credits a second and 3,000,000 a day " +
				"on the free plan, at 80 credits a call; each call of a batch counts; no figure for batches",
		},
		{
			Name: "quicknode", Hosts: []string{"quiknode.pro", "quicknode.com"}, Quota: Quota{PerSecond: 15, Batch: 50},
			Source: "quicknode.com/pricing as recorded in api-evangelist/quicknode (May 2026): 15 requests a second " +
				"on the free plan; support.quicknode.com, 429 errors explained: each call of a batch counts; no figure for batches",
		},
		{
			Name: "solana-public",
			Hosts: []string{"api.mainnet-beta.solana.com", "api.mainnet.solana.com", "api.testnet.solana.com",
				"api.devnet.solana.com"},
			Quota: Quota{PerSecond: 4, Batch: 10},
			Source: "solana.com/docs/references/clusters as recorded in api-evangelist/solana (June 2026): " +
				"40 requests of one method in 10 s; no figure for batches",
		},
		{
			Name: "trongrid", Hosts: []string{"trongrid.io"}, Quota: Quota{PerSecond: 15, PerDay: 100_000},
			Source: "developers.tron.network/reference/rate-limits (November 2026; figures of v4.2 to v4.7): 15 to 30 " +
				"requests a second with a key, 100,000 a day, a pause of 30 s when exceeded",
		},
		{
			Name: "xrpl-public", Hosts: []string{"s1.ripple.com", "s2.ripple.com", "xrplcluster.com", "xrpl.ws",
				"altnet.rippletest.net"},
			Quota: Quota{PerSecond: 5, Batch: 1},
			Source: "xrpl.org/docs/references/http-websocket-apis/api-conventions/rate-limiting (November 2026): limited by " +
				"the load that the calls make, without a figure; 5 a second is a cautious guess",
		},
	}
}

// profileOf returns the profile of a host, nil if it is no known provider's.
func profileOf(host string) (Profile, bool) {
	host = strings.ToLower(host)
	for _, p := range Profiles() {
		if slices.ContainsFunc(p.Hosts, func(h string) bool { return host == h || strings.HasSuffix(host, "."+h) }) {
			return p, true
		}
	}
	return Profile{}, false
}

// NoProvider as Config.Provider switches the profiles off.
const NoProvider = "none"

// plan returns the figures for an endpoint: the quota that always applies, and the pace that applies once the endpoint
// has said that the calls are too many.
func (cfg Config) plan(host string) (provider string, always Quota, paced int, err error) {
	profile, _ := profileOf(host)
	switch cfg.Provider {
	case "":
		always.Batch, paced = profile.Quota.Batch, profile.Quota.PerSecond
	case NoProvider:
		profile = Profile{}
	default:
		at := slices.IndexFunc(Profiles(), func(p Profile) bool { return p.Name == cfg.Provider })
		if at < 0 {
			return "", always, 0, fmt.Errorf("unknown provider %s: use one of %s, or %q",
				quote(cfg.Provider), strings.Join(profileNames(), ", "), NoProvider)
		}
		profile = Profiles()[at]
		always = profile.Quota
	}
	always.PerSecond, always.PerDay, always.Batch = setting(cfg.Quota.PerSecond, always.PerSecond),
		setting(cfg.Quota.PerDay, always.PerDay), setting(cfg.Quota.Batch, always.Batch)
	if cfg.Quota.PerSecond != 0 {
		paced = 0
	}
	return profile.Name, always, paced, nil
}

// setting returns the configured figure, or else the profile's; 0 means no limit.
func setting(set, profile int) int {
	if set != 0 {
		return max(0, set)
	}
	return profile
}

func profileNames() []string {
	var names []string
	for _, p := range Profiles() {
		names = append(names, p.Name)
	}
	return names
}
