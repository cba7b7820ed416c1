package chain_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
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
		"rippled 2.6.2":                                     {Name: "xrpld", Version: chain.V(2, 6, 2)},
		"xrpld 3.4.1-rc1":                                   {Name: "xrpld", Version: chain.V(3, 4, 1)},
		"solana-core 4.2.2":                                 {Name: "solana-core", Version: chain.V(4, 2, 2)},
		"solana-core 0.1106.40201":                          {Name: "frankendancer", Version: chain.V(0, 1106, 40201)},
		"solana-core 26.08.0":                               {Name: "firedancer", Version: chain.V(26, 8)},
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

func TestNodesAreJudgedByTheirForks(t *testing.T) {
	t.Parallel()
	november := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		chain    bursar.ChainID
		software string
		now      time.Time
		height   uint64
		want     []string
	}{
		{bursar.BSC, "Geth/v1.8.2-abc/linux-amd64", november, 0, []string{"tested ok"}},
		{bursar.BSC, "Geth/v1.7.7-abc/linux-amd64", november, 0,
			[]string{"fork warning Jenner, which comes on 2026-12-08 02:30 UTC", "tested ok"}},
		{bursar.BSC, "Geth/v1.7.7-abc/linux-amd64", november.AddDate(0, 1, 0), 0,
			[]string{"fork failed Jenner", "tested ok"}},
		{bursar.BSC, "Geth/v1.5.0/linux", november, 0,
			[]string{"fork failed Fermi", "fork failed Pasteur", "fork warning Jenner", "tested warning older"}},
		{bursar.Ethereum, "Geth/v1.7.7/linux", november, 0, []string{"fork failed Fusaka", "tested warning older"}},
		{bursar.Ethereum, "Geth/v2.0.0/linux", november, 0, []string{"tested warning newer"}},
		{bursar.Ethereum, "SomethingElse/v1.0.0", november, 0, nil},
		{bursar.Litecoin, "/LitecoinCore:0.21.2.1/", november, 3_172_640,
			[]string{"fork failed MWEB rule of 0.21.5.6", "fork failed MWEB rule of 0.21.5.8", "tested warning older"}},
		{bursar.Litecoin, "/LitecoinCore:0.21.5.6/", november.AddDate(0, -2, 0), 3_172_639,
			[]string{"fork warning MWEB rule of 0.21.5.8, which comes at block 3172640, by 2026-10-31", "tested warning older"}},
		{bursar.Litecoin, "/LitecoinCore:0.21.5.6/", november, 3_160_000,
			[]string{"fork failed MWEB rule of 0.21.5.8", "tested warning older"}}, // a node that is stuck long after the fork
		{bursar.Polygon, "bor/v2.4.0/linux", november, 90_000_000,
			[]string{"fork failed Madhugiri", "fork failed Chicago", "fork failed Valencia", "fork failed Kyoto",
				"tested warning older"}},
		{bursar.Polygon, "bor/v2.7.0/linux", november.AddDate(-1, 1, 0), 80_084_801,
			[]string{"fork warning Chicago, which comes at block 87218600, by 2026-05-21", "fork warning Valencia",
				"fork warning Kyoto", "tested warning older"}},
		{bursar.Solana, "solana-core 4.1.0", november, 0,
			[]string{"fork failed transactions of version 1", "tested warning older"}},
		{bursar.Solana, "solana-core 0.1106.40201", november, 0, nil},
		{bursar.XRPL, "rippled 2.6.2", november, 0, []string{"fork failed fixBatchV1_2", "tested warning older"}},
		{bursar.Tron, "java-tron 4.8.2.2", november, 0, []string{"tested ok"}},
		{bursar.Bitcoin, "/Satoshi:33.0.0/", november, 0, []string{"tested warning newer"}},
	} {
		r := &chain.Report{Node: "n"}
		chain.JudgeSoftware(r, test.chain, test.software, test.now, test.height)
		if len(r.Findings) != len(test.want) {
			t.Errorf("%s with %s: got %+v, want %q", test.chain, test.software, r.Findings, test.want)
			continue
		}
		for i, f := range r.Findings {
			check, rest, _ := strings.Cut(test.want[i], " ")
			grade, detail, _ := strings.Cut(rest, " ")
			if f.Check != check || string(f.Grade) != grade || !strings.Contains(f.Detail, detail) ||
				(f.Advice == "") != (f.Grade == chain.Good) {
				t.Errorf("%s with %s: got %+v, want %s", test.chain, test.software, f, test.want[i])
			}
		}
	}
}

// TestTheTablesAreComplete checks that forks and tested versions name their sources, and nothing twice.
func TestTheTablesAreComplete(t *testing.T) {
	t.Parallel()
	var names []string
	for _, f := range chain.Forks() {
		if f.Time.IsZero() || len(f.Needs) == 0 || f.Source == "" {
			t.Errorf("the fork %s of %s lacks a time, a version or a source", f.Name, f.Chain)
		}
		names = append(names, string(f.Chain)+" "+f.Name)
	}
	for _, v := range chain.TestedVersions() {
		if v.From.Compare(v.To) > 0 || v.How == "" {
			t.Errorf("the tested versions of %s of %s are in the wrong order or lack a text", v.Software, v.Chain)
		}
		names = append(names, string(v.Chain)+" "+v.Software)
	}
	slices.Sort(names)
	if len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("a fork or program is listed twice: %q", names)
	}
}
