package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/signer/command"
	"github.com/bursar/bursar/signer/memory"
)

// The state of a new seed is warm: with that seed nothing was signed. One that is made for an old seed is cold, and
// neither is made twice.
func TestTheSignersStateIsCreated(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	d.ok("seed", "new")
	if s := parse[command.SignerStatus](d, "signer", "status", "--json"); s.ColdSince != nil ||
		s.State != filepath.Join(d.dir, "seed.age.state") || s.Entry != 1 || len(s.Instance) < 20 || len(s.Hash) != 64 ||
		len(s.Frozen) != 0 {
		t.Errorf("after seed new it is %+v", s)
	}
	d.fails(exitFailed, "exists already", "signer", "init")
	old := newSeededHarness(t)
	old.fails(exitFailed, "the signer has no state file", "signer", "status")
	old.ok("signer", "init")
	if s := parse[command.SignerStatus](old, "signer", "status", "--json"); s.ColdSince == nil {
		t.Errorf("of an old seed it is %+v", s)
	}
	if text := old.ok("signer", "status"); !strings.Contains(text,
		"cold start: nothing is known of what was signed before") {
		t.Errorf("status says %s, want %q in it", text, "cold start: nothing is known of what was signed before")
	}
	first := newSeededHarness(t, "signer: {state: kept/here}")
	if err := os.Mkdir(filepath.Join(first.dir, "kept"), 0o700); err != nil {
		t.Fatal(err)
	}
	first.ok("signer", "init", "--unused")
	if s := parse[command.SignerStatus](first, "signer", "status", "--json"); s.ColdSince != nil ||
		s.State != filepath.Join(first.dir, "kept/here") {
		t.Errorf("the first one is %+v, want nil and %v", s, filepath.Join(first.dir, "kept/here"))
	}
}

func TestTheSignerIsFrozenByACommand(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t)
	d.ok("signer", "init", "--unused")
	d.fails(exitFailed, "the signer is not frozen", "signer", "thaw", "--reason", "x")
	d.fails(exitUsage, "missing flags: --reason", "signer", "freeze")
	if o := d.run("", "signer", "freeze", "--reason", "a drill", "--by", "ann"); o.code != 0 ||
		!strings.Contains(o.err, "frozen") {
		t.Errorf("freeze gives %+v, want 0 and %q in it", o, "frozen")
	}
	s := parse[command.SignerStatus](d, "signer", "status", "--json")
	if len(s.Frozen) != 1 || !strings.HasSuffix(s.Frozen[0], " by ann: a drill") || s.Entry != 2 {
		t.Errorf("the status is %+v, want 1 of them and %q last and 2", s, " by ann: a drill")
	}
	if text := d.ok("signer", "status"); !strings.Contains(text, "frozen: since ") {
		t.Errorf("status says %s, want %q in it", text, "frozen: since ")
	}
	if o := d.run("", "signer", "thaw", "--reason", "over", "--by", "bob"); o.code != 0 ||
		!strings.Contains(o.err, "Freezes ended: 1.") {
		t.Errorf("thaw gives %+v, want 0 and %q in it", o, "Freezes ended: 1.")
	}
	if s := parse[command.SignerStatus](d, "signer", "status", "--json"); len(s.Frozen) != 0 || s.Entry != 3 {
		t.Errorf("the status is %+v, want none and 3", s)
	}
}

// Doctor says what keeps the signer from signing.
func TestDoctorLooksAtTheSignersState(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t)
	want := func(result, says string) {
		t.Helper()
		found, _ := d.findings()
		if f := found["signer state"]; f.Result != result || !strings.Contains(f.Detail, says) {
			t.Errorf("doctor finds %+v, want %s: %s", f, result, says)
		}
	}
	want(resultOK, "none yet")
	d.ok("signer", "init")
	want(resultWarning, "began cold at ")
	d.run("", "signer", "freeze", "--reason", "a drill", "--by", "ann")
	want(resultFailed, "by ann: a drill")
	main := newHarness(t)
	main.configure("chains: {bitcoin: {rpc: http://127.0.0.1:1}}")
	found, _ := main.findings()
	if f := found["signer state"]; f.Result != resultWarning || !strings.Contains(f.Advice, "signer init --unused") {
		t.Errorf("on mainnet doctor finds %+v, want %v and %q in it", f, resultWarning, "signer init --unused")
	}
	first := newSeededHarness(t)
	first.ok("signer", "init", "--unused")
	found, _ = first.findings()
	if f := found["signer state"]; f.Result != resultOK || !strings.HasPrefix(f.Detail, "entries in its log: 1, ") {
		t.Errorf("doctor finds %+v, want %v and %q first", f, resultOK, "entries in its log: 1, ")
	}
}

// Doctor says how many transactions at max_fee the limits of fees allow, and when that is hardly any.
func TestDoctorComparesFeesWithTheHighestFee(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t, "chains:", "  bitcoin: {rpc: http://127.0.0.1:1, max_fee: \"0.01\", daily_fees: \"0.5\"}",
		"  tron: {rpc: http://127.0.0.1:1, max_fee: \"100\", hourly_fees: \"400\", daily_fees: \"9000\"}")
	found, _ := d.findings()
	if f := found["fees bitcoin"]; f.Result != resultOK || f.Detail != "transactions that cost max_fee: daily_fees 50" {
		t.Errorf("on Bitcoin doctor finds %+v, want %v and %q", f, resultOK, "transactions that cost max_fee: daily_fees 50")
	}
	if f := found["fees tron"]; f.Result != resultWarning || !strings.Contains(f.Detail, "hourly_fees 4, daily_fees 90") ||
		!strings.Contains(f.Advice, "raise `hourly_fees`") {
		t.Errorf("on Tron doctor finds %+v, want %v and %q in it and %q in it", f, resultWarning,
			"hourly_fees 4, daily_fees 90", "raise `hourly_fees`")
	}
}

// Status shows how much of each limit is used up.
func TestStatusShowsTheUsedLimits(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t,
		"chains: {bitcoin: {rpc: http://127.0.0.1:1, max_fee: \"0.01\", daily_fees: \"0.5\", hourly_sweeps: 9}}",
		"currencies: {BTC: {hourly_limit: \"2\", weekly_limit: \"9\"}}")
	d.ok("signer", "init", "--unused")
	file, err := memory.Join(t.Context(), filepath.Join(d.dir, "seed.age.state"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	now := time.Now()
	count := func(class memory.Class, units uint64, ago time.Duration) memory.Count {
		return memory.Count{Class: class, Units: bursar.Units(units), At: now.Add(-ago)}
	}
	err = file.Do(t.Context(), func(tx memory.Tx) error {
		for i, counts := range [][]memory.Count{
			{count(memory.Payments, 150_000_000, time.Minute), count(memory.Fees, 1000, time.Minute)},
			{count(memory.Payments, 200_000_000, 2*time.Hour), count(memory.Fees, 500, 25*time.Hour)},
			{count(memory.Transfers, 1, time.Minute)},
			{count(memory.Payments, 7, 8*24*time.Hour)},
		} {
			flow := memory.Flow{Chain: "bitcoin", Outgoing: bursar.ID{byte(i)}, At: now, Counts: counts}
			if _, err := tx.AddFlow(t.Context(), flow); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []command.UsedLimit{
		{Limit: "currencies.BTC.hourly_limit", Used: "1.50000000", Of: "2.00000000"},
		{Limit: "currencies.BTC.weekly_limit", Used: "3.50000000", Of: "9.00000000"},
		{Limit: "chains.bitcoin.daily_fees", Used: "0.00001", Of: "0.5"},
		{Limit: "chains.bitcoin.hourly_sweeps", Used: "1", Of: "9"},
	}
	if s := parse[command.SignerStatus](d, "signer", "status", "--json"); !slices.Equal(s.Limits, want) {
		t.Errorf("the limits are %+v, want %+v", s.Limits, want)
	}
	if text := d.ok("signer", "status"); !strings.Contains(text, "currencies.BTC.hourly_limit") {
		t.Errorf("status says\n%s, want %q in it", text, "currencies.BTC.hourly_limit")
	}
	d.ok("signer", "begin-again", "--reason", "a test")
	if s := parse[command.SignerStatus](d, "signer", "status", "--json"); !strings.HasPrefix(s.Limits[0].Used,
		"all, until ") {
		t.Errorf("after a cold start the limits are %+v, want %q first", s.Limits, "all, until ")
	}
}

// Beginning again needs the file to itself, and makes another instance of it.
func TestTheSignersStateBeginsAgain(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t)
	d.ok("signer", "init", "--unused")
	before := parse[command.SignerStatus](d, "signer", "status", "--json")
	used, err := memory.Open(t.Context(), filepath.Join(d.dir, "seed.age.state"), before.Seed)
	if err != nil {
		t.Fatal(err)
	}
	d.fails(exitFailed, "another signer uses the state file", "signer", "begin-again", "--reason", "x")
	if err := used.Close(); err != nil {
		t.Fatal(err)
	}
	if o := d.run("", "signer", "begin-again", "--reason", "an old copy"); o.code != 0 {
		t.Fatalf("begin-again gives %+v", o)
	}
	after := parse[command.SignerStatus](d, "signer", "status", "--json")
	if after.Instance == before.Instance || after.ColdSince == nil || after.Entry != 2 {
		t.Errorf("it is %+v, was %+v", after, before)
	}
	if o := d.run("", "signer", "begin-again", "--unused", "--reason", "an upgrade"); o.code != 0 {
		t.Fatalf("begin-again gives %+v", o)
	}
	if s := parse[command.SignerStatus](d, "signer", "status", "--json"); s.ColdSince != nil || s.Entry != 3 {
		t.Errorf("with unused limits it is %+v, want nil and 3", s)
	}
}

// The printed limits are a configuration that is accepted, and with which everything may leave.
func TestThePrintedPolicyLimitsEverything(t *testing.T) {
	t.Parallel()
	lines := []string{"currencies:", "  BTC: {withdrawal_maximum: \"0.2\"}", "  ETH: {weekly_limit: \"9\"}",
		"  SHOP: {chain: ethereum, contract: \"0xdAC17F958D2ee523a2206206994597C13D831ec7\", decimals: 6, minimum: \"2\"}",
		"chains:", "  bitcoin: {rpc: http://127.0.0.1:1}", "  ethereum: {rpc: http://127.0.0.1:1, hourly_sweeps: 9}",
		"  tron: {rpc: http://127.0.0.1:1}"}
	d := newHarness(t)
	d.configure(strings.Join(lines, "\n"))
	var missing []string
	found, _ := d.findings()
	for _, f := range found {
		if name, is := strings.CutPrefix(f.Check, "limit "); is && f.Result == resultFailed {
			missing = append(missing, name)
		}
	}
	if len(missing) != 4 { // BTC, SHOP, TRX, USDT
		t.Errorf("doctor misses the limits of %v, want 4 of them", missing)
	}
	printed := d.ok("signer", "policy")
	for _, want := range []string{
		`  BTC: {hourly_limit: "0.2", daily_limit: "0.8", weekly_limit: "2.4"}`,
		`  SHOP: {hourly_limit: "2000", daily_limit: "8000", weekly_limit: "24000"}`,
		"  bitcoin:\n    hourly_fees: \"0.25\"\n    daily_fees: \"1.2\"\n    weekly_fees: \"2.5\"\n    hourly_sweeps: 200\n",
	} {
		if !strings.Contains(printed, want) {
			t.Errorf("it prints\n%s\nwithout %s", printed, want)
		}
	}
	if strings.Contains(printed, "ETH:") || strings.Count(printed, "hourly_sweeps") != 2 {
		t.Errorf("it prints limits that are set:\n%s, want no %q and 2", printed, "ETH:")
	}
	d.configure("chains:\n  bitcoin: {rpc: http://127.0.0.1:1}\n  ethereum: {rpc: http://127.0.0.1:1}\n" +
		"  tron: {rpc: http://127.0.0.1:1}\n")
	printed = d.ok("signer", "policy")
	whole := strings.NewReplacer("  bitcoin:\n", "  bitcoin:\n    rpc: http://127.0.0.1:1\n", "  ethereum:\n",
		"  ethereum:\n    rpc: http://127.0.0.1:1\n", "  tron:\n", "  tron:\n    rpc: http://127.0.0.1:1\n").Replace(printed)
	cfg, err := config.Parse("bursar.yaml", []byte(whole), nil)
	if err != nil {
		t.Fatalf("the limits are refused: %v\n%s", err, whole)
	}
	if list := cfg.Unlimited(); len(list) > 0 {
		t.Errorf("%+v have no limit, want that all have one", list)
	}
	d.configure(whole)
	found, _ = d.findings()
	for _, f := range found {
		if strings.HasPrefix(f.Check, "fees ") && f.Result != resultOK {
			t.Errorf("doctor says of the printed limits of fees: %+v, want %s", f, resultOK)
		}
	}
}

// configure replaces the configuration.
func (d *harness) configure(text string) {
	d.Helper()
	if err := os.WriteFile(filepath.Join(d.dir, "bursar.yaml"), []byte(text), 0o600); err != nil {
		d.Fatal(err)
	}
}
