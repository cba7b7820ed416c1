package bursar_test

import (
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
)

var (
	invoiceStart = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	invoiceEnd   = invoiceStart.Add(time.Hour)
)

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
		s := v.Evaluate(c.payments, invoiceEnd)
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

var updateCharges = flag.Bool("update", false, "write the table of docs/charges.md as the statuses are tested")

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
	if *updateCharges {
		if err := os.WriteFile(chargesPath, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(written) != want {
		t.Errorf("%s does not show the statuses that are tested: go test . -run TestTheStatesOfCharges -update", chargesPath)
	}
}
