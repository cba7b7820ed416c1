package bitcoin

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// TestRandomRequests checks every unsigned transaction against the rules that no selection of UTXOs may break.
func TestRandomRequests(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	f := newFake()
	c := open(t, f, func(cfg *Config) { cfg.MaxFeeRate = 60 })
	count := 0
	for range 400 {
		perKilo := 1000 + random.Uint64N(60_000)
		f.say("estimatesmartfee", map[string]any{"feerate": raw(bursar.Units(perKilo).Decimal(8, 8)), "blocks": 6})
		var amounts, values []uint64
		for range 1 + random.IntN(4) {
			amounts = append(amounts, 300+random.Uint64N(200_000))
		}
		for range 1 + random.IntN(60) {
			values = append(values, 1+random.Uint64N(1<<random.IntN(20)))
		}
		request := requestOf(t, c, amounts, values...)
		built, err := c.Build(t.Context(), request)
		var needs *chain.NeedsFundsError
		if errors.As(err, &needs) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		count++
		wantSound(t, c, request, built, rate(min(perKilo, 60_000)), 60)
	}
	if count < 100 {
		t.Fatalf("only %d requests were built", count)
	}
}

func wantSound(t *testing.T, c *Chain, request chain.TxRequest, built chain.UnsignedTx, least rate, most uint64) {
	t.Helper()
	contents, err := c.Inspect(built.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	var in, out bursar.Amount
	for _, resource := range built.Reservations {
		i := slices.IndexFunc(request.UTXOs, func(utxo chain.UTXO) bool { return utxo.Outpoint == resource })
		in, _ = in.Add(request.UTXOs[i].Amount)
	}
	for _, payment := range contents.Payments {
		out, _ = out.Add(payment.Amount)
		if payment.Amount.Less(bursar.Units(294)) {
			t.Fatalf("the transaction has a dust output: %+v", contents.Payments)
		}
	}
	fee, _ := built.Fee.Uint64()
	if rest, err := in.Sub(out); err != nil || rest != built.Fee {
		t.Fatalf("%s in, %s out, fee %s", in, out, built.Fee)
	}
	if fee < least.fee(contents.Weight) || fee > most*contents.Weight {
		t.Fatalf("fee %d of %d vbytes, at least %d per 1,000", fee, contents.Weight, least)
	}
	if extra := len(contents.Payments) - len(request.Payments); extra < 0 || extra > 1 ||
		!slices.Equal(contents.Payments[:len(request.Payments)], request.Payments) ||
		extra == 1 && contents.Payments[len(request.Payments)].Address.Base != request.Change.Base {
		t.Fatalf("payments are %+v", contents.Payments)
	}
}
