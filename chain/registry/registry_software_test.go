package registry_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/registry"
)

func TestProgramsThatReportAnotherNameAreDistinguished(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		chain bursar.ChainID
		text  string
		want  chain.Software
	}{
		{bursar.XRPL, "rippled 2.6.2", chain.Software{Name: "xrpld", Version: chain.V(2, 6, 2)}},
		{bursar.XRPL, "xrpld 3.4.1-rc1", chain.Software{Name: "xrpld", Version: chain.V(3, 4, 1)}},
		{bursar.Solana, "solana-core 4.2.2", chain.Software{Name: "solana-core", Version: chain.V(4, 2, 2)}},
		{bursar.Solana, "solana-core 0.1106.40201", chain.Software{Name: "frankendancer", Version: chain.V(0, 1106, 40201)}},
		{bursar.Solana, "solana-core 26.08.0", chain.Software{Name: "firedancer", Version: chain.V(26, 8)}},
		{bursar.BSC, "Geth/v1.8.2-abc/linux-amd64", chain.Software{Name: "geth", Version: chain.V(1, 8, 2)}},
	} {
		if got, ok := registry.Of(test.chain).ParseSoftware(test.text); !ok || got != test.want {
			t.Errorf("%q of %s is read as %+v, %v, want %+v", test.text, test.chain, got, ok, test.want)
		}
	}
	if got, ok := registry.Of(bursar.Solana).ParseSoftware("solana-core"); ok {
		t.Errorf("a text without a version is read as %+v, want nothing", got)
	}
}

func TestNodesAreEvaluatedByTheirForks(t *testing.T) {
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
		registry.Of(test.chain).CheckSoftware(r, test.software, test.now, test.height)
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

// TestSoftwareTablesAreComplete checks that every chain has tested versions, that forks and tested versions name their
// sources, and that no chain lists anything twice.
func TestSoftwareTablesAreComplete(t *testing.T) {
	t.Parallel()
	for _, d := range registry.All() {
		var names []string
		for _, f := range d.Forks {
			if f.Time.IsZero() || len(f.Needs) == 0 || f.Source == "" {
				t.Errorf("the fork %s of %s lacks a time, a version or a source, want not zero and some and not %q",
					f.Name, d.ID, "")
			}
			names = append(names, f.Name)
		}
		for _, v := range d.Tested {
			if v.From.Compare(v.To) > 0 || v.How == "" {
				t.Errorf("the tested versions of %s of %s are in the wrong order or lack a text, "+
					"want 0 and not %q", v.Software, d.ID, "")
			}
			names = append(names, v.Software)
		}
		slices.Sort(names)
		if len(slices.Compact(slices.Clone(names))) != len(names) {
			t.Errorf("%s lists a fork or program twice: %q", d.ID, names)
		}
		if len(d.Tested) == 0 {
			t.Errorf("%s has no tested versions", d.ID)
		}
	}
	if d := registry.Of("another"); len(d.Tested)+len(d.Forks) > 0 {
		t.Errorf("a chain of the operator's has tested versions %v and forks %v, want none", d.Tested, d.Forks)
	}
}
