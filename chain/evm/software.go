package evm

import (
	"time"

	"github.com/bursar/bursar/chain"
)

func testedEthereum() []chain.Tested {
	return []chain.Tested{
		{Software: "geth", From: chain.V(1, 16, 7), To: chain.V(1, 17, 7), How: "the tests run 1.17"},
	}
}

// testedBSC are the versions of bsc, which reports the name of go-ethereum.
func testedBSC() []chain.Tested {
	return []chain.Tested{
		{
			Software: "geth",
			From:     chain.V(1, 7, 7),
			To:       chain.V(1, 8, 2),
			How:      "checked by its release notes; the tests do not run it",
		},
	}
}

func testedPolygon() []chain.Tested {
	return []chain.Tested{{
		Software: "bor",
		From:     chain.V(2, 10),
		To:       chain.V(2, 10),
		How:      "checked by its source and the responses in its own tests; the tests do not run it",
	}}
}

func forksOfEthereum() []chain.Fork {
	return []chain.Fork{{
		Name:   "Fusaka",
		Time:   time.Date(2025, 12, 3, 21, 49, 11, 0, time.UTC),
		Needs:  map[string]chain.Version{"geth": chain.V(1, 16, 7), "besu": chain.V(25, 11, 0)},
		Source: "go-ethereum release v1.16.7 of 4 Nov 2025, besu release 25.11.0",
	}}
}

func forksOfBSC() []chain.Fork {
	return []chain.Fork{
		{
			Name:   "Fermi",
			Time:   time.Date(2026, 1, 14, 2, 30, 0, 0, time.UTC),
			Needs:  map[string]chain.Version{"geth": chain.V(1, 6, 4)},
			Source: "docs.bnbchain.org/announce/fermi-bsc, bsc#3465 of 28 Nov 2025",
		},
		{
			Name:   "Pasteur",
			Time:   time.Date(2026, 8, 25, 2, 30, 0, 0, time.UTC),
			Needs:  map[string]chain.Version{"geth": chain.V(1, 7, 7)},
			Source: "reth-bsc#443 of 22 Jul 2026, aws-blockchain-node-runners#313 of 17 Aug 2026",
		},
		{
			Name:   "Jenner",
			Time:   time.Date(2026, 12, 8, 2, 30, 0, 0, time.UTC),
			Needs:  map[string]chain.Version{"geth": chain.V(1, 8, 2)},
			Source: "bsc release v1.8.2 of 3 Nov 2026",
		},
	}
}

func forksOfPolygon() []chain.Fork {
	return []chain.Fork{
		{
			Name:   "Madhugiri",
			Height: 80_084_800,
			Time:   time.Date(2025, 12, 9, 0, 0, 0, 0, time.UTC),
			Needs:  map[string]chain.Version{"bor": chain.V(2, 5, 0)},
			Source: "bor#1874 of 12 Nov 2025, PIP-74",
		},
		{
			Name:   "Chicago",
			Height: 87_218_600,
			Time:   time.Date(2026, 5, 21, 14, 0, 0, 0, time.UTC),
			Needs:  map[string]chain.Version{"bor": chain.V(2, 8, 0)},
			Source: "bor release v2.8.0",
		},
		{
			Name:   "Valencia",
			Height: 89_531_000,
			Time:   time.Date(2026, 7, 31, 0, 0, 0, 0, time.UTC),
			Needs:  map[string]chain.Version{"bor": chain.V(2, 9, 0), "erigon": chain.V(3, 7, 2)},
			Source: "bor release v2.9.0, 0xPolygon/erigon release v3.7.2",
		},
		{
			Name:   "Kyoto",
			Time:   time.Date(2026, 8, 18, 12, 40, 0, 0, time.UTC),
			Needs:  map[string]chain.Version{"bor": chain.V(2, 10, 0)},
			Source: "blockbook#1729 of 18 Aug 2026: at a block of Heimdall, needs Bor 2.10.0",
		},
	}
}
