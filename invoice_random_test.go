package bursar_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bursar/bursar"
)

// anyPayment draws a payment with every fact that it may have.
func anyPayment(t *rapid.T, id byte) bursar.Payment {
	p := payment(id, rapid.Uint64Range(1, 1200).Draw(t, "units"), rapid.SampledFrom([]bursar.DepositStatus{
		bursar.DepositPending, bursar.DepositConfirmed, bursar.DepositOrphaned, bursar.DepositReversed,
		bursar.DepositBelowMinimum}).Draw(t, "status"))
	p.Deposit.SeenAt = invoiceStart.Add(time.Duration(rapid.IntRange(0, 8).Draw(t, "seen")) * 10 * time.Minute)
	p.Deposit.Reversals = uint32(rapid.IntRange(0, 1).Draw(t, "reversals"))
	p.Origin = rapid.SampledFrom([]bursar.PaymentOrigin{bursar.PaidAsAsked, bursar.PaidOtherAsset,
		bursar.PaidOnOtherNet}).Draw(t, "origin")
	p.Resolution = rapid.SampledFrom([]bursar.PaymentResolution{"", "", bursar.ResolveAccept, bursar.ResolveCredit,
		bursar.ResolveRefund}).Draw(t, "resolution")
	if rapid.IntRange(0, 4).Draw(t, "rated") == 0 {
		p.Rate, p.Value = bursar.Rate{}, bursar.Amount{}
	}
	return p
}

func anyInvoice(t *rapid.T) bursar.Invoice {
	v := invoice()
	handling := rapid.SampledFrom([]bursar.Handling{bursar.HandlingReview, bursar.HandlingAccept})
	v.Late, v.Other = handling.Draw(t, "late"), handling.Draw(t, "other")
	if rapid.Bool().Draw(t, "cancelled") {
		v.CancelledAt = invoiceStart.Add(30 * time.Minute)
	}
	return v
}

// The same facts have the same state, in whichever order the payments came, were reorged out and came back.
func TestTheOrderOfPaymentsMeansNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := anyInvoice(t)
		var list []bursar.Payment
		for i := range rapid.IntRange(0, 6).Draw(t, "payments") {
			list = append(list, anyPayment(t, byte(i)))
		}
		now := invoiceStart.Add(time.Duration(rapid.IntRange(0, 9).Draw(t, "now")) * 10 * time.Minute)
		want := v.Evaluate(list, now)
		got := v.Evaluate(rapid.Permutation(list).Draw(t, "order"), now)
		if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
			t.Fatalf("got %+v, want %+v", got, want)
		}
		if len(list) == 0 {
			return
		}
		// A payment that is reorged out and comes back as it was changes nothing.
		out := slices.Clone(list)
		i := rapid.IntRange(0, len(list)-1).Draw(t, "reorged")
		out[i].Deposit.Status = bursar.DepositOrphaned
		v.Evaluate(out, now)
		out[i] = list[i]
		if back := v.Evaluate(out, now); fmt.Sprintf("%+v", back) != fmt.Sprintf("%+v", want) {
			t.Fatalf("got %+v after a reorganisation, want %+v", back, want)
		}
		if want.Status == bursar.ChargePaid && !slices.Contains(want.Labels, bursar.LabelMarked) &&
			want.Received.Less(bursar.Units(990)) {
			t.Fatalf("got paid with %s, want at least 990", want.Received)
		}
	})
}

// Paying exactly what is due pays, in whatever parts, currency, rate and unit.
func TestPayingWhatIsDuePays(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		decimals := rapid.IntRange(0, 18).Draw(t, "decimals")
		c := bursar.Currency{Code: "C", Chain: "c", Decimals: decimals, Places: rapid.IntRange(0, decimals).Draw(t, "places")}
		fiat, _ := bursar.FiatUnit(rapid.SampledFrom([]bursar.CurrencyCode{"EUR", "JPY", "KWD"}).Draw(t, "fiat"))
		price := fmt.Sprint(rapid.IntRange(1, 1_000_000_000).Draw(t, "price"))
		v := invoice()
		v.Under, v.Over, v.Unit = bursar.Amount{}, bursar.Amount{}, fiat
		var err error
		if v.Required, err = fiat.Parse(price); err != nil {
			t.Fatal(err)
		}
		var list []bursar.Payment
		for i := range rapid.IntRange(1, 4).Draw(t, "parts") {
			rate, err := bursar.ParseRate(fmt.Sprintf("%d.%d1", rapid.IntRange(0, 99_999).Draw(t, "whole"),
				rapid.IntRange(0, 999_999).Draw(t, "fraction")))
			if err != nil {
				t.Fatal(err)
			}
			s := v.Evaluate(list, invoiceStart)
			due, err := rate.Payable(s.Due, fiat, c)
			if err != nil {
				t.Skip("more than an amount can be")
			}
			if text := c.Exact(due); strings.Contains(text, ".") && len(text)-strings.Index(text, ".")-1 > c.Places {
				t.Fatalf("got %s due, want at most %d decimals", text, c.Places)
			}
			part := due
			if rapid.Bool().Draw(t, "in part") {
				part, _ = due.Div(2)
			}
			value, err := rate.Value(part, c, fiat)
			if err != nil {
				t.Skip("more than an amount can be")
			}
			p := payment(byte(i), 0, bursar.DepositConfirmed)
			p.Rate, p.Value, p.Decimals, p.Places = rate, value, c.Decimals, c.Places
			list = append(list, p)
			got := v.Evaluate(list, invoiceStart)
			if part == due && (got.Status != bursar.ChargePaid || got.Attention) {
				t.Fatalf("got %s %s after paying %s at %s, want paid", got.Status, got.Labels, c.Exact(due), rate)
			}
			if got.Status == bursar.ChargePaid {
				return
			}
		}
	})
}

// What is due is paid in whichever parts: what each of them is worth below the smallest unit is not lost.
func TestThePartsOfWhatIsDuePay(t *testing.T) {
	t.Parallel()
	euro, _ := bursar.FiatUnit("EUR")
	rate, err := bursar.ParseRate("0.9253")
	if err != nil {
		t.Fatal(err)
	}
	d := bursar.InvoiceDetail{Invoice: invoice()}
	d.Unit, d.Required, d.Under, d.Over = euro, bursar.Units(92_53000000), bursar.Amount{}, bursar.Amount{}
	for i, units := range []uint64{33_333_333, 33_333_333, 33_333_334} { // 100 in all
		p := payment(byte(i), units, bursar.DepositConfirmed)
		p.Rate, p.Decimals, p.Places = rate, 6, 2
		d.Payments = append(d.Payments, p)
	}
	d.Payments[2].Deposit.Status = bursar.DepositPending
	if s := d.State(invoiceStart); s.Status != bursar.ChargeConfirming || !s.Due.IsZero() {
		t.Errorf("got %s, %s due, want confirming and nothing due", s.Status, s.Due)
	}
	d.Payments[2].Deposit.Status = bursar.DepositConfirmed
	if s := d.State(invoiceStart); s.Status != bursar.ChargePaid || s.Received != d.Required || len(s.Labels) > 0 {
		t.Errorf("got %s %s with %s, want paid with %s", s.Status, s.Labels, s.Received, d.Required)
	}
}
