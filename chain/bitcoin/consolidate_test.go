package bitcoin

import (
	"errors"
	"slices"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

func consolidation(t *testing.T, c *Chain, values ...uint64) chain.TxRequest {
	t.Helper()
	request := requestOf(t, c, []uint64{1_000}, values...)
	request.Kind, request.MaxFee = chain.KindConsolidation, bursar.Units(5_000_000)
	var sum uint64
	for _, amount := range values {
		sum += amount
	}
	request.Payments = []chain.Payment{{Address: bursar.Address{Base: request.Change.Base}, Amount: bursar.Units(sum)}}
	return request
}

// A consolidation makes one output of many, without those that cost more than they are worth, within the limit of the
// fee.
func TestConsolidation(t *testing.T) {
	t.Parallel()
	c := open(t, newFake())
	dust := uint64(300) // an input costs 340 satoshi at 5 satoshi per vbyte
	request := consolidation(t, c, append(slices.Repeat([]uint64{10_000}, 300), dust, dust)...)
	built, _ := mustBuild(t, c, request)
	contents, err := c.Inspect(built.Bytes)
	if err != nil || len(built.Reservations) != 300 || len(contents.Payments) != 1 ||
		contents.Payments[0].Address.Base != request.Change.Base {
		t.Fatalf("%d UTXOs, payments %+v (%v), want 300 of them and 1 of them and %v", len(built.Reservations),
			contents.Payments, err, request.Change.Base)
	}
	if sum, _ := contents.Payments[0].Amount.Add(built.Fee); sum != bursar.Units(3_000_000) {
		t.Errorf("output and fee sum to %s, want %v", sum, bursar.Units(3_000_000))
	}
	cheap := request
	cheap.MaxFee = bursar.Units(50_000)
	if less, _ := mustBuild(t, c, cheap); len(less.Reservations) < 100 || len(less.Reservations) >= 300 ||
		cheap.MaxFee.Less(less.Fee) {
		t.Errorf("at a fee limit of 50,000 it uses %d UTXOs for a fee of %s", len(less.Reservations), less.Fee)
	}
	request.Replaces = &built
	again, _ := mustBuild(t, c, request)
	if !slices.Equal(again.Reservations, built.Reservations) || !built.Fee.Less(again.Fee) {
		t.Errorf("the replacement uses %d UTXOs for a fee of %s", len(again.Reservations), again.Fee)
	}
	var needs *chain.NeedsFundsError
	if _, err := c.Build(t.Context(), consolidation(t, c, dust, dust)); !errors.As(err, &needs) {
		t.Errorf("a consolidation of dust only: %v", err)
	}
}

// Fees are low if confirmation soon costs little more than confirmation within a week.
func TestCheapComparesShortAndLongTermFees(t *testing.T) {
	t.Parallel()
	f := newFake()
	c := open(t, f)
	for soon, want := range map[string]bool{"0.00005000": true, "0.00006250": true, "0.00006300": false,
		"0.00100000": false} {
		f.sayBy("estimatesmartfee", func(params []any) any {
			if params[0].(float64) == longTarget {
				return map[string]any{"feerate": raw("0.00005000")}
			}
			return map[string]any{"feerate": raw(soon)}
		})
		if cheap, err := c.FeesAreLow(t.Context()); err != nil || cheap != want {
			t.Errorf("at %s: %v (%v), want %v", soon, cheap, err, want)
		}
	}
	f.say("estimatesmartfee", map[string]any{"errors": []string{"Insufficient data or no feerate found"}, "blocks": 0})
	if cheap, err := c.FeesAreLow(t.Context()); err != nil || !cheap {
		t.Errorf("without an estimate: %v (%v)", cheap, err)
	}
}
