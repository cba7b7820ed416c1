package bitcoin

import (
	"time"

	"github.com/bursar/bursar/chain"
)

// testedBitcoin are the versions of Bitcoin Core; Knots reports its name.
func testedBitcoin() []chain.Tested {
	return []chain.Tested{{
		Software: "satoshi",
		From:     chain.V(25),
		To:       chain.V(32, 1),
		How:      "the tests run Knots 29.5; later versions are checked by recorded responses and release notes",
	}}
}

func testedLitecoin() []chain.Tested {
	return []chain.Tested{{
		Software: "litecoincore",
		From:     chain.V(0, 21, 5, 8),
		To:       chain.V(0, 21, 5, 8),
		How:      "the tests run 0.21.2.1; 0.21.5.8 is checked by its release notes",
	}}
}

func forksOfLitecoin() []chain.Fork {
	return []chain.Fork{
		{
			Name:   "MWEB rule of 0.21.5.6",
			Height: 3_154_440,
			Time:   time.Date(2026, 8, 31, 0, 0, 0, 0, time.UTC),
			Needs:  map[string]chain.Version{"litecoincore": chain.V(0, 21, 5, 6)},
			Source: "litecoin release v0.21.5.6 of 2 Aug 2026",
		},
		{
			Name:   "MWEB rule of 0.21.5.8",
			Height: 3_172_640,
			Time:   time.Date(2026, 10, 31, 0, 0, 0, 0, time.UTC),
			Needs:  map[string]chain.Version{"litecoincore": chain.V(0, 21, 5, 8)},
			Source: "btcpayserver-docker#1154 of 18 Sep 2026, after litecoin release v0.21.5.8",
		},
	}
}
