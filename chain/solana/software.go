package solana

import (
	"time"

	"github.com/bursar/bursar/chain"
)

func tested() []chain.Tested {
	return []chain.Tested{{
		Software: "solana-core",
		From:     chain.V(4, 2, 2),
		To:       chain.V(4, 4),
		How:      "checked by its documentation and recorded transactions; the tests run LiteSVM instead",
	}}
}

func forks() []chain.Fork {
	return []chain.Fork{{
		Name: "transactions of version 1 (SIMD-0385)",
		Time: time.Date(2026, 9, 15, 0, 0, 0, 0, time.UTC),
		Needs: map[string]chain.Version{
			"solana-core":   chain.V(4, 2, 2),
			"frankendancer": chain.V(0, 1106, 40201),
			"firedancer":    chain.V(26, 8, 0),
		},
		Source: "agave's wiki, Feature Gate Tracker Schedule of 16 Sep 2026 (version floor); solana-com#2087 of 10 Sep 2026",
	}}
}

// program distinguishes the validators that all report solana-core. Source: agave's wiki, "Feature Gate Tracker
// Schedule" of 16 Sep 2026: Agave counts 4.2.2, Firedancer 26.08.0 and Frankendancer 0.1106.40201.
func program(s chain.Software) string {
	switch {
	case s.Name != "solana-core":
	case s.Version[0] == 0:
		return "frankendancer"
	case s.Version[0] >= 20:
		return "firedancer"
	}
	return ""
}
