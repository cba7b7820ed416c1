package chain_test

import (
	"strings"
	"testing"

	"github.com/bursar/bursar/chain"
)

func TestSoftwareIsReadAsNodesNameIt(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]chain.Software{
		"Geth/v1.17.4-stable-12345678/linux-amd64/go1.25.1": {Name: "geth", Version: chain.V(1, 17, 4)},
		"bor/v2.10.0/linux-amd64/go1.24.6":                  {Name: "bor", Version: chain.V(2, 10)},
		"erigon/3.7.2/linux-amd64/go1.25":                   {Name: "erigon", Version: chain.V(3, 7, 2)},
		"besu/v25.11.0/linux-x86_64/openjdk-java-21":        {Name: "besu", Version: chain.V(25, 11)},
		"/Satoshi:31.0.0/":                                  {Name: "satoshi", Version: chain.V(31)},
		"/Satoshi:29.1.0/Knots:20250903/":                   {Name: "satoshi", Version: chain.V(29, 1)},
		"/LitecoinCore:0.21.5.8/":                           {Name: "litecoincore", Version: chain.V(0, 21, 5, 8)},
		"java-tron 4.8.0.1":                                 {Name: "java-tron", Version: chain.V(4, 8, 0, 1)},
		"java-tron GreatVoyage-v4.8.2-6-g348db25bfd":        {Name: "java-tron", Version: chain.V(4, 8, 2)},
		"xrpld 3.4.1-rc1":                                   {Name: "xrpld", Version: chain.V(3, 4, 1)},
		"solana-core 4.2.2":                                 {Name: "solana-core", Version: chain.V(4, 2, 2)},
	} {
		if got, ok := chain.ParseSoftware(text); !ok || got != want {
			t.Errorf("%q is read as %+v, %v, want %+v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "Geth", "Geth/unstable", "v1.2.3", "x/v99999999999.1",
		strings.Repeat("a", 99) + "/v1.2"} {
		if got, ok := chain.ParseSoftware(text); ok {
			t.Errorf("%q is read as %+v, want nothing", text, got)
		}
	}
	for want, v := range map[string]chain.Version{"1.17.4": chain.V(1, 17, 4), "31.0": chain.V(31),
		"0.21.5.8": chain.V(0, 21, 5, 8), "4.8.0.1": chain.V(4, 8, 0, 1)} {
		if v.String() != want {
			t.Errorf("%v is written %s, want %s", [4]uint32(v), v, want)
		}
	}
}
