package chain

import (
	"time"

	"github.com/bursar/bursar"
)

// Fork is a change of a mainnet's rules that a node must know: an older node follows an abandoned branch, stops, or
// cannot show what is in blocks.
type Fork struct {
	Chain  bursar.ChainID
	Name   string
	Height uint64             // the first block under the new rules; 0: the fork is by Time
	Time   time.Time          // when it happens, or by when it certainly has; zero: not known
	Needs  map[string]Version // the oldest version that knows the fork, by Software.Name
	Source string
}

// active reports whether a fork has happened by a time or at a height, which may be 0 where it is not known. A node
// that has not reached the height long after the time is not at the tip of the chain that knows the fork.
func (f Fork) active(now time.Time, height uint64) bool {
	return f.Height > 0 && height >= f.Height || !f.Time.IsZero() && !now.Before(f.Time)
}

// Forks returns the known forks of the mainnets, past ones as long as nodes that are too old for them may still run.
func Forks() []Fork {
	day := func(year int, month time.Month, day, hour, minute, second int) time.Time {
		return time.Date(year, month, day, hour, minute, second, 0, time.UTC)
	}
	return []Fork{
		{
			Chain: bursar.Litecoin, Name: "MWEB rule of 0.21.5.6", Height: 3_154_440, Time: day(2026, 8, 31, 0, 0, 0),
			Needs:  map[string]Version{"litecoincore": V(0, 21, 5, 6)},
			Source: "litecoin release v0.21.5.6 of 2 Aug 2026",
		},
		{
			Chain: bursar.Litecoin, Name: "MWEB rule of 0.21.5.8", Height: 3_172_640, Time: day(2026, 10, 31, 0, 0, 0),
			Needs:  map[string]Version{"litecoincore": V(0, 21, 5, 8)},
			Source: "btcpayserver-docker#1154 of 18 Sep 2026, after litecoin release v0.21.5.8",
		},
		{
			Chain: bursar.Ethereum, Name: "Fusaka", Time: day(2025, 12, 3, 21, 49, 11),
			Needs:  map[string]Version{"geth": V(1, 16, 7), "besu": V(25, 11, 0)},
			Source: "go-ethereum release v1.16.7 of 4 Nov 2025, besu release 25.11.0",
		},
		{
			Chain: bursar.BSC, Name: "Fermi", Time: day(2026, 1, 14, 2, 30, 0),
			Needs:  map[string]Version{"geth": V(1, 6, 4)},
			Source: "docs.bnbchain.org/announce/fermi-bsc, bsc#3465 of 28 Nov 2025",
		},
		{
			Chain: bursar.BSC, Name: "Pasteur", Time: day(2026, 8, 25, 2, 30, 0),
			Needs:  map[string]Version{"geth": V(1, 7, 7)},
			Source: "reth-bsc#443 of 22 Jul 2026, aws-blockchain-node-runners#313 of 17 Aug 2026",
		},
		{
			Chain: bursar.BSC, Name: "Jenner", Time: day(2026, 12, 8, 2, 30, 0),
			Needs:  map[string]Version{"geth": V(1, 8, 2)},
			Source: "bsc release v1.8.2 of 3 Nov 2026",
		},
		{
			Chain: bursar.Polygon, Name: "Madhugiri", Height: 80_084_800, Time: day(2025, 12, 9, 0, 0, 0),
			Needs:  map[string]Version{"bor": V(2, 5, 0)},
			Source: "bor#1874 of 12 Nov 2025, PIP-74",
		},
		{
			Chain: bursar.Polygon, Name: "Chicago", Height: 87_218_600, Time: day(2026, 5, 21, 14, 0, 0),
			Needs:  map[string]Version{"bor": V(2, 8, 0)},
			Source: "bor release v2.8.0",
		},
		{
			Chain: bursar.Polygon, Name: "Valencia", Height: 89_531_000, Time: day(2026, 7, 31, 0, 0, 0),
			Needs:  map[string]Version{"bor": V(2, 9, 0), "erigon": V(3, 7, 2)},
			Source: "bor release v2.9.0, 0xPolygon/erigon release v3.7.2",
		},
		{
			Chain: bursar.Polygon, Name: "Kyoto", Time: day(2026, 8, 18, 12, 40, 0),
			Needs:  map[string]Version{"bor": V(2, 10, 0)},
			Source: "blockbook#1729 of 18 Aug 2026: at a block of Heimdall, needs Bor 2.10.0",
		},
		{
			Chain: bursar.Solana, Name: "transactions of version 1 (SIMD-0385)", Time: day(2026, 9, 15, 0, 0, 0),
			Needs:  map[string]Version{"solana-core": V(4, 2, 2), "frankendancer": V(0, 1106, 40201), "firedancer": V(26, 8, 0)},
			Source: "agave's wiki, Feature Gate Tracker Schedule of 16 Sep 2026 (version floor); solana-com#2087 of 10 Sep 2026",
		},
		{
			Chain: bursar.XRPL, Name: "fixBatchV1_2", Time: day(2026, 10, 9, 0, 0, 0),
			Needs:  map[string]Version{"xrpld": V(3, 4, 1)},
			Source: "rippled release 3.4.1 of 10 Oct 2026: older releases are amendment blocked",
		},
	}
}
