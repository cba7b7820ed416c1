package bitcoin

import (
	"slices"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

func TestBump(t *testing.T) {
	t.Parallel()
	f := newFake()
	c := open(t, f)
	for name, test := range map[string]struct {
		values []uint64
		market string
		used   int
	}{
		"out of the change":            {[]uint64{500_000, 400_000}, "0.00005000", 1},
		"at a much higher market":      {[]uint64{500_000, 400_000}, "0.00050000", 1},
		"all of a small change":        {[]uint64{101_100, 400_000}, "0.00005000", 1},
		"with another UTXO":            {[]uint64{100_800, 400_000}, "0.00050000", 2},
		"without change before":        {[]uint64{100_600, 400_000}, "0.00005000", 2},
		"while the market has dropped": {[]uint64{500_000, 400_000}, "0.00001000", 1},
	} {
		f.say("estimatesmartfee", map[string]any{"feerate": raw("0.00005000"), "blocks": 6})
		request := requestOf(t, c, []uint64{100_000}, test.values...)
		cheap, was := mustBuild(t, c, request)
		f.say("estimatesmartfee", map[string]any{"feerate": raw(test.market), "blocks": 6})
		request.Replaces = &cheap
		bumped, is := mustBuild(t, c, request)
		if !slices.Equal(bumped.Reservations[:len(cheap.Reservations)], cheap.Reservations) ||
			len(bumped.Reservations) != test.used {
			t.Errorf("%s: reservations %v replace %v, want %+v and %v of them", name, bumped.Reservations, cheap.Reservations,
				cheap.Reservations, test.used)
		}
		wantDearer(t, name, was, is)
		wantSound(t, c, request, bumped, 5000, 500)
	}
}

// wantDearer checks rules 3 and 4 of BIP 125, and that the rate rises too (Bitcoin Core, policy/rbf.cpp).
func wantDearer(t *testing.T, name string, was, is chain.Contents) {
	t.Helper()
	old, _ := was.Fee.Uint64()
	fee, _ := is.Fee.Uint64()
	if step := rate(1000).fee(is.Weight); fee < old+step {
		t.Errorf("%s: a fee of %d replaces %d, want a step of %d at least", name, fee, old, step)
	}
	if fee*was.Weight <= old*is.Weight {
		t.Errorf("%s: %d/%d is not a higher rate than %d/%d", name, fee, is.Weight, old, was.Weight)
	}
}

func TestTransactionsThatCannotBeBumped(t *testing.T) {
	t.Parallel()
	f := newFake()
	c := open(t, f)
	request := requestOf(t, c, []uint64{100_000}, 500_000, 400_000)
	cheap, _ := mustBuild(t, c, request)
	for why, change := range map[string]func(o *chain.TxRequest){
		"another amount":  func(o *chain.TxRequest) { o.Payments[0].Amount = bursar.Units(100_001) },
		"another address": func(o *chain.TxRequest) { o.Payments[0].Address = outsider(t, c, 77) },
		"one payment more": func(o *chain.TxRequest) {
			o.Payments = append(o.Payments, chain.Payment{Address: outsider(t, c, 8), Amount: bursar.Units(1000)})
		},
		"no higher fee":             func(o *chain.TxRequest) { o.MaxFee = cheap.Fee },
		"no transaction to replace": func(o *chain.TxRequest) { o.Replaces = &chain.UnsignedTx{} },
	} {
		changed := request
		changed.Payments = slices.Clone(request.Payments)
		changed.Replaces = &cheap
		change(&changed)
		if built, err := c.Build(t.Context(), changed); err == nil {
			t.Errorf("%s: %+v, want an error", why, built)
		}
	}
	request.Replaces = &cheap
	f.say("getmempoolentry", map[string]any{"ancestorsize": 140, "descendantcount": 2,
		"fees": map[string]any{"ancestor": raw("0.00000700")}})
	if built, err := c.Build(t.Context(), request); err == nil {
		t.Errorf("a parent was replaced whose child would become invalid: %+v, want an error", built)
	}
}
