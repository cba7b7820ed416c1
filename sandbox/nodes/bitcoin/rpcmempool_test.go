package bitcoin

import (
	"slices"
	"strings"
	"testing"
)

func TestReplacement(t *testing.T) {
	t.Parallel()
	n := start(t, Config{})
	s, c := funded(t, n, "customer", coinUnit)
	first, second := newAddress(t, n), newAddress(t, n)
	raw := s.spend(t, c, first, 1_000, 0xffffffff) // full replacement needs no signal
	id := must[string](t, n, "sendrawtransaction", raw)
	if again := must[string](t, n, "sendrawtransaction", raw); again != id {
		t.Errorf("resending answers %s, want %s", again, id)
	}
	if text := refused(t, n, codeRejected, "sendrawtransaction",
		s.spend(t, c, second, 1_050, 0)); !strings.HasPrefix(text, "insufficient fee, rejecting replacement") {
		t.Errorf("a fee bump that does not pay for itself: %s", text)
	}
	better := s.spend(t, c, second, 2_000, 0)
	newID := must[string](t, n, "sendrawtransaction", better)
	if got := must[[]string](t, n, "getrawmempool"); !slices.Equal(got, []string{newID}) {
		t.Errorf("mempool %v, want %s", got, newID)
	}
	refused(t, n, codeAddressOrKey, "getmempoolentry", id)
	refused(t, n, codeRejected, "sendrawtransaction", raw)
	mine(t, n, 1)
	wantBalance(t, n, first, 0)
	wantBalance(t, n, second, coinUnit-2_000)
	refused(t, n, codeInChain, "sendrawtransaction", better)
	if text := refused(t, n, codeVerify, "sendrawtransaction", raw); text != "bad-txns-inputs-missingorspent" {
		t.Errorf("double spend of a confirmed UTXO: %s, want %q", text, "bad-txns-inputs-missingorspent")
	}
}

// TestReplacementTakesDescendants replaces a parent: its child leaves the mempool, and the fee has to exceed that of
// both. A refused fee bump changes nothing.
func TestReplacementTakesDescendants(t *testing.T) {
	t.Parallel()
	n := start(t, Config{})
	s, c := funded(t, n, "customer", coinUnit)
	a := newAddress(t, n)
	parent := must[string](t, n, "sendrawtransaction", s.spend(t, c, s.address, 1_000, 0))
	child := must[string](t, n, "sendrawtransaction", s.spend(t, s.utxo(t, parent), a, 50_000, 0))
	for name, raw := range map[string]string{
		"less than both":         s.spend(t, c, a, 40_000, 0),
		"bad signature":          s.spend(t, point{c.at, c.value + 1}, a, 100_000, 0),
		"testmempoolaccept only": "",
	} {
		if raw == "" {
			must[any](t, n, "testmempoolaccept", []string{s.spend(t, c, a, 90_000, 0)})
		} else {
			refused(t, n, codeRejected, "sendrawtransaction", raw)
		}
		got := must[[]string](t, n, "getrawmempool")
		if len(got) != 2 || !slices.Contains(got, parent) || !slices.Contains(got, child) {
			t.Errorf("%s: mempool is %v, want 2 of them and %v in it and %v in it", name, got, parent, child)
		}
	}
	bump := must[string](t, n, "sendrawtransaction", s.spend(t, c, a, 52_000, 0))
	if got := must[[]string](t, n, "getrawmempool"); !slices.Equal(got, []string{bump}) {
		t.Errorf("mempool %v, want %s", got, bump)
	}
}

func TestPolicy(t *testing.T) {
	t.Parallel()
	n := start(t, Config{})
	s, c := funded(t, n, "customer", coinUnit)
	a := newAddress(t, n)
	for _, test := range []struct {
		name, raw, want string
		code            int
	}{
		{"fee under 1 sat/vB", s.spend(t, c, a, 100, 0), "min relay fee not met, 100 < 110", codeRejected},
		{"absurd fee", s.spend(t, c, a, coinUnit/2, 0), "Fee exceeds maximum configured by user (e.g. -maxtxfee, maxfeerate)",
			codeVerify},
		{"dust", s.spend(t, point{c.at, c.value}, a, coinUnit-293, 0), "dust", codeRejected},
		{"wrong amount signed", s.spend(t, point{c.at, c.value - 1}, a, 1_000, 0), "mandatory-script-verify-flag-failed",
			codeRejected},
		{"more out than in", s.spend(t, c, a, -1, 0), "bad-txns-in-belowout, value in (1.00) < value out (1.00000001)",
			codeRejected},
		{"relative lock", s.spend(t, c, a, 1_000, 10), "non-BIP68-final", codeRejected},
	} {
		if text := refused(t, n, test.code, "sendrawtransaction", test.raw); !strings.HasPrefix(text, test.want) {
			t.Errorf("%s: %q, want %q", test.name, text, test.want)
		}
	}
	if got := must[[]string](t, n, "getrawmempool"); len(got) != 0 {
		t.Errorf("mempool %v, want none", got)
	}
}

// TestChainLimit limits customers to 25 unconfirmed transactions in a row, but not the faucet.
func TestChainLimit(t *testing.T) {
	t.Parallel()
	n := start(t, Config{})
	s, c := funded(t, n, "customer", coinUnit)
	for range maxChain {
		id := must[string](t, n, "sendrawtransaction", s.spend(t, c, s.address, 1_000, 0))
		c = s.utxo(t, id)
	}
	raw := s.spend(t, c, s.address, 1_000, 0)
	if text := refused(t, n, codeRejected, "sendrawtransaction", raw); !strings.HasPrefix(text, "too-long-mempool-chain") {
		t.Errorf("26th in a row: %s, want %q first", text, "too-long-mempool-chain")
	}
	mine(t, n, 1)
	must[string](t, n, "sendrawtransaction", raw)
}
