package bursar_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bursar/bursar"
)

var (
	invoiceStart = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	invoiceEnd   = invoiceStart.Add(time.Hour)
)

// invoice asks for 1000 with a tolerance of 10 either way.
func invoice() bursar.Invoice {
	return bursar.Invoice{
		Required:  bursar.Units(1000),
		Under:     bursar.Units(10),
		Over:      bursar.Units(10),
		Late:      bursar.HandlingReview,
		Other:     bursar.HandlingReview,
		CreatedAt: invoiceStart,
		Expires:   invoiceEnd,
	}
}

// payment is worth its units, and is first seen a minute after the start.
func payment(id byte, units uint64, status bursar.DepositStatus) bursar.Payment {
	return bursar.Payment{Origin: bursar.PaidAsAsked, Rate: bursar.Par(), Value: bursar.Units(units),
		Deposit: bursar.Deposit{ID: bursar.ID{0: 1, 15: id}, Amount: bursar.Units(units), Status: status,
			SeenAt: invoiceStart.Add(time.Minute)}}
}

// cells is the status of every cell: what is credited, what is pending in time, and then whether the end has passed and
// the client ended it: running, past, cancelled, cancelled and past.
const cells = `
   0    0 open       expired    cancelled  cancelled
   0    1 open       expired    cancelled  cancelled
   0  989 open       expired    cancelled  cancelled
   0  990 confirming confirming confirming confirming
   0 1000 confirming confirming confirming confirming
   0 1011 confirming confirming confirming confirming
   1    0 open       expired    cancelled  cancelled
   1    1 open       expired    cancelled  cancelled
   1  989 confirming confirming confirming confirming
   1 1000 confirming confirming confirming confirming
 989    0 open       expired    cancelled  cancelled
 989    1 confirming confirming confirming confirming
 989 1000 confirming confirming confirming confirming
 990    0 paid       paid       paid       paid
 990    1 paid       paid       paid       paid
 999    0 paid       paid       paid       paid
1000    0 paid       paid       paid       paid
1000    1 paid       paid       paid       paid
1010    0 paid       paid       paid       paid
1011    0 paid       paid       paid       paid
1011 1000 paid       paid       paid       paid
`

func TestTheStatusOfEveryCell(t *testing.T) {
	t.Parallel()
	for line := range strings.Lines(strings.TrimSpace(cells)) {
		var credited, pending uint64
		var want [4]bursar.ChargeStatus
		if _, err := fmt.Sscan(line, &credited, &pending, &want[0], &want[1], &want[2], &want[3]); err != nil {
			t.Fatal(line, err)
		}
		for i, status := range want {
			v, now := invoice(), invoiceEnd.Add(-1)
			if i%2 == 1 {
				now = invoiceEnd
			}
			if i >= 2 {
				v.CancelledAt = invoiceStart.Add(2 * time.Minute)
			}
			var list []bursar.Payment
			if credited > 0 {
				list = append(list, payment(1, credited, bursar.DepositConfirmed))
			}
			if pending > 0 {
				list = append(list, payment(2, pending, bursar.DepositPending))
			}
			s := v.Judge(list, now)
			if s.Status != status {
				t.Errorf("%d credited, %d pending, case %d: got %s, want %s", credited, pending, i, s.Status, status)
			}
			due := bursar.Units(1000).SubOrZero(bursar.Units(credited + pending))
			if s.Status != bursar.ChargePaid && s.Due != due {
				t.Errorf("%d credited, %d pending: got %s due, want %s", credited, pending, s.Due, due)
			}
			if turns := s.Status == bursar.ChargeOpen; turns != s.TurnsAt.Equal(invoiceEnd) {
				t.Errorf("%d credited, %d pending: a status %s turns at %s, want %v", credited, pending, s.Status, s.TurnsAt,
					s.TurnsAt.Equal(invoiceEnd))
			}
			for n, p := range list { // a client's mark decides
				p.Resolution = bursar.ResolveAccept
				marked := v.Judge(slices.Concat(list[:n], []bursar.Payment{p}, list[n+1:]), now)
				wantMarked := bursar.ChargePaid
				if credited == 0 || s.Status != bursar.ChargePaid && p.Deposit.Status == bursar.DepositPending {
					wantMarked = bursar.ChargeConfirming
				}
				if marked.Status != wantMarked {
					t.Errorf("%d credited, %d pending, payment %d accepted: got %s, want %s", credited, pending, n, marked.Status,
						wantMarked)
				}
			}
		}
	}
}

// Each line is one payment more, or one fact more, and what then is shown.
func TestTheLabelsOfEveryFact(t *testing.T) {
	t.Parallel()
	late := func(p bursar.Payment) bursar.Payment { p.Deposit.SeenAt = invoiceEnd; return p }
	of := func(o bursar.PaymentOrigin, p bursar.Payment) bursar.Payment { p.Origin = o; return p }
	resolved := func(r bursar.PaymentResolution, p bursar.Payment) bursar.Payment { p.Resolution = r; return p }
	unrated := func(p bursar.Payment) bursar.Payment { p.Rate, p.Value = bursar.Rate{}, bursar.Amount{}; return p }
	refunded := func(units uint64, void bool, p bursar.Payment) bursar.Payment {
		p.Refunded, p.Void = bursar.Units(units), void
		return p
	}
	again := func(p bursar.Payment) bursar.Payment { p.Deposit.Reversals = 1; return p }
	whole := func() bursar.Payment { return payment(1, 1000, bursar.DepositConfirmed) }
	part := func() bursar.Payment { return payment(1, 400, bursar.DepositConfirmed) }
	for name, c := range map[string]struct {
		change   func(v *bursar.Invoice)
		payments []bursar.Payment
		want     string // status, labels, and ! for attention, after the end
	}{
		"nothing": {nil, nil, "expired"},
		"paid":    {nil, []bursar.Payment{whole()}, "paid"},
		"in two parts": {
			nil,
			[]bursar.Payment{part(), payment(2, 600, bursar.DepositConfirmed)},
			"paid",
		},
		"partial":           {nil, []bursar.Payment{part()}, "expired partial !"},
		"partial, kept":     {nil, []bursar.Payment{resolved("credit", part())}, "expired partial"},
		"partial, accepted": {nil, []bursar.Payment{resolved("accept", part())}, "paid marked"},
		"partial, refunded": {
			nil,
			[]bursar.Payment{resolved("refund", refunded(400, true, part()))},
			"expired refunded",
		},
		"partial and running": {
			func(v *bursar.Invoice) { v.Expires = invoiceEnd.Add(time.Hour) },
			[]bursar.Payment{part()},
			"open partial",
		},
		"tolerated": {
			nil,
			[]bursar.Payment{payment(1, 990, bursar.DepositConfirmed)},
			"paid tolerated",
		},
		"tolerated over": {nil, []bursar.Payment{payment(1, 1010, bursar.DepositConfirmed)}, "paid"},
		"over": {
			nil,
			[]bursar.Payment{payment(1, 1011, bursar.DepositConfirmed)},
			"paid over !",
		},
		"over by a second": {
			nil,
			[]bursar.Payment{whole(), payment(2, 11, bursar.DepositConfirmed)},
			"paid over !",
		},
		"over, kept": {
			nil,
			[]bursar.Payment{whole(), resolved("credit", payment(2, 11, bursar.DepositConfirmed))},
			"paid over",
		},
		"over, the other kept": {
			nil,
			[]bursar.Payment{resolved("credit", whole()), payment(2, 11, bursar.DepositConfirmed)},
			"paid over !",
		},
		"late": {nil, []bursar.Payment{late(whole())}, "expired late !"},
		"late and pending": {
			nil,
			[]bursar.Payment{late(payment(1, 1000, bursar.DepositPending))},
			"expired",
		},
		"late, accepted by rule": {
			func(v *bursar.Invoice) { v.Late = "accept" },
			[]bursar.Payment{late(whole())},
			"paid late",
		},
		"late, pending, by rule": {
			func(v *bursar.Invoice) { v.Late = "accept" },
			[]bursar.Payment{late(payment(1, 1000, bursar.DepositPending))},
			"confirming",
		},
		"late, accepted": {
			nil,
			[]bursar.Payment{resolved("accept", late(whole()))},
			"paid late marked",
		},
		"late, kept": {nil, []bursar.Payment{resolved("credit", late(whole()))}, "expired late"},
		"late after paid": {
			nil,
			[]bursar.Payment{whole(), late(payment(2, 5, bursar.DepositConfirmed))},
			"paid late !",
		},
		"cancelled, late": {
			func(v *bursar.Invoice) { v.CancelledAt = invoiceStart },
			[]bursar.Payment{whole()},
			"cancelled late !",
		},
		"cancelled, late by rule": {
			func(v *bursar.Invoice) { v.CancelledAt, v.Late = invoiceStart, "accept" },
			[]bursar.Payment{whole()},
			"cancelled late !",
		},
		"cancelled, seen before": {
			func(v *bursar.Invoice) { v.CancelledAt = invoiceStart.Add(2 * time.Minute) },
			[]bursar.Payment{whole()},
			"paid",
		},
		"cancelled, partial": {
			func(v *bursar.Invoice) { v.CancelledAt = invoiceStart.Add(2 * time.Minute) },
			[]bursar.Payment{part()},
			"cancelled partial !",
		},
		"other asset": {nil, []bursar.Payment{of("other_asset", whole())}, "expired other_asset !"},
		"other asset by rule": {
			func(v *bursar.Invoice) { v.Other = "accept" },
			[]bursar.Payment{of("other_asset", whole())},
			"paid other_asset",
		},
		"other network": {
			nil,
			[]bursar.Payment{of("other_network", whole())},
			"expired other_network !",
		},
		"other network, accepted": {
			nil,
			[]bursar.Payment{resolved("accept", of("other_network", whole()))},
			"paid other_network marked",
		},
		"other, no rate, by rule": {
			func(v *bursar.Invoice) { v.Other = "accept" },
			[]bursar.Payment{unrated(of("other_asset", whole()))},
			"expired other_asset unrated !",
		},
		"no rate": {nil, []bursar.Payment{unrated(whole())}, "expired unrated !"},
		"no rate, accepted": {
			nil,
			[]bursar.Payment{resolved("accept", unrated(whole()))},
			"paid unrated marked",
		},
		"reversed": {
			nil,
			[]bursar.Payment{again(payment(1, 1000, bursar.DepositReversed))},
			"expired reversed !",
		},
		"reversed, known": {nil, []bursar.Payment{func() bursar.Payment {
			p := again(resolved("credit", payment(1, 1000, bursar.DepositReversed)))
			p.Round = 1
			return p
		}()}, "expired reversed"},
		"reversed after acceptance": {
			nil,
			[]bursar.Payment{again(resolved("accept", payment(1, 400, bursar.DepositReversed)))},
			"expired reversed !",
		},
		"back after acceptance": {
			nil,
			[]bursar.Payment{again(resolved("accept", part()))},
			"expired partial !",
		},
		"back after a refund": {
			nil,
			[]bursar.Payment{again(resolved("refund", refunded(1000, true, whole())))},
			"expired refunded",
		},
		"orphaned": {
			nil,
			[]bursar.Payment{payment(1, 1000, bursar.DepositOrphaned)},
			"expired",
		},
		"below minimum": {
			nil,
			[]bursar.Payment{payment(1, 1, bursar.DepositBelowMinimum)},
			"expired",
		},
		"paid and refunded": {
			nil,
			[]bursar.Payment{resolved("refund", refunded(1000, false, whole()))},
			"paid refunded",
		},
		"paid and part refunded": {nil, []bursar.Payment{refunded(10, false, whole())}, "paid part_refunded"},
	} {
		v := invoice()
		if c.change != nil {
			c.change(&v)
		}
		s := v.Judge(c.payments, invoiceEnd)
		got := []string{string(s.Status)}
		for _, l := range s.Labels {
			got = append(got, string(l))
		}
		if s.Attention {
			got = append(got, "!")
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: got %q, want %q", name, text, c.want)
		}
	}
}

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

// The same facts have the same state, in whichever order the payments came, left the chain and came back.
func TestTheOrderOfPaymentsMeansNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := anyInvoice(t)
		var list []bursar.Payment
		for i := range rapid.IntRange(0, 6).Draw(t, "payments") {
			list = append(list, anyPayment(t, byte(i)))
		}
		now := invoiceStart.Add(time.Duration(rapid.IntRange(0, 9).Draw(t, "now")) * 10 * time.Minute)
		want := v.Judge(list, now)
		got := v.Judge(rapid.Permutation(list).Draw(t, "order"), now)
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
		v.Judge(out, now)
		out[i] = list[i]
		if back := v.Judge(out, now); fmt.Sprintf("%+v", back) != fmt.Sprintf("%+v", want) {
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
			s := v.Judge(list, invoiceStart)
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
			got := v.Judge(list, invoiceStart)
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

func TestUnits(t *testing.T) {
	t.Parallel()
	for code, want := range map[bursar.CurrencyCode]int{"EUR": 2, "JPY": 0, "KWD": 3, "USD": 2} {
		if u, ok := bursar.FiatUnit(code); !ok || u.Places != want || !u.Fiat {
			t.Errorf("%s: got %+v, want %d places", code, u, want)
		}
	}
	for _, code := range []bursar.CurrencyCode{"", "eur", "EURO", "E1R", "USDT-MATIC"} {
		if u, ok := bursar.FiatUnit(code); ok {
			t.Errorf("%q: got %+v, want no unit", code, u)
		}
	}
	eur, _ := bursar.FiatUnit("EUR")
	if a, err := eur.Parse("19.99"); err != nil || eur.Exact(a) != "19.99" || a != bursar.Units(1_999_000_000) {
		t.Errorf("got %s, %v, want 19.99", a, err)
	}
	if a, err := eur.Parse("19.999"); err == nil {
		t.Errorf("got %s, want an error for a tenth of a cent", a)
	}
	low, _ := bursar.ParseRate("99")
	high, _ := bursar.ParseRate("100.00")
	if !low.Within(10_000, high) || low.Within(9_999, high) || !high.Within(0, low) || low.Cmp(high) != -1 {
		t.Error("99 is within one per cent of 100 and not within less")
	}
}

const chargesPath = "docs/charges.md"

// The page about charges shows the statuses as they are tested cell by cell.
func TestTheStatesOfCharges(t *testing.T) {
	written, err := os.ReadFile(chargesPath)
	if err != nil {
		t.Fatal(err)
	}
	table := "\n| Credited | Pending | Before the end | After it | Cancelled |\n|---|---|---|---|---|\n"
	for line := range strings.Lines(strings.TrimSpace(cells)) {
		cell := strings.Fields(line)
		table += "| " + strings.Join(cell[:2], " | ") + " | `" + strings.Join(cell[2:5], "` | `") + "` |\n"
	}
	before, rest, found := strings.Cut(string(written), "-update -->\n")
	_, after, ended := strings.Cut(rest, "<!-- end of states -->")
	if !found || !ended {
		t.Fatalf("%s has no place for the table of states", chargesPath)
	}
	want := before + "-update -->\n" + table + "\n<!-- end of states -->" + after
	if *updateStates {
		if err := os.WriteFile(chargesPath, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(written) != want {
		t.Errorf("%s does not show the statuses that are tested: go test . -run TestTheStatesOfCharges -update", chargesPath)
	}
}
