package solana

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// The price follows the recent slots, within its limits and the request's limit.
func TestPrices(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		recent []recentFee
		limit  uint64
		fee    uint64
	}{
		"quiet":    {nil, 100_000, 5150},
		"all zero": {[]recentFee{{0}, {0}, {0}}, 100_000, 5150},
		"three quarters": {[]recentFee{{1_000_000}, {2_000_000}, {3_000_000}, {4_000_000}}, 100_000,
			5000 + 6000},
		"rounded up":            {[]recentFee{{1_000_001}}, 100_000, 5000 + 1501},
		"beyond the cap":        {[]recentFee{{1 << 60}}, 100_000, 5000 + 30_000},
		"beyond the limit":      {[]recentFee{{1 << 60}}, 6000, 6000},
		"the limit is the base": {[]recentFee{{1 << 60}}, 5000, 5000},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			c := f.open(t, nil)
			request := requestOf(chain.KindWithdrawal, hotSource(), outsider, sol)
			request.MaxFee = bursar.Units(test.limit)
			f.accounts[request.From.Base] = plainAccount(9 * sol)
			f.respond("getRecentPrioritizationFees", func([]any) (any, error) {
				list := []object{}
				for _, r := range test.recent {
					list = append(list, object{"slot": 1, "prioritizationFee": r.Price})
				}
				return list, nil
			})
			f.respond("getFeeForMessage", func([]any) (any, error) { return object{"value": test.fee}, nil })
			unsigned, err := c.Build(t.Context(), request)
			if err != nil || unsigned.Fee != bursar.Units(test.fee) {
				t.Fatalf("fee %s, %v, want %d", unsigned.Fee, err, test.fee)
			}
		})
	}
}

// One reservation is one transaction: two equal requests share it under one blockhash, and no longer under the next.
func TestReservationsNameTheTransaction(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c := f.open(t, nil)
	from := hotSource()
	f.accounts[from.Base] = plainAccount(9 * sol)
	resource := func(amount uint64) string {
		t.Helper()
		unsigned, err := c.Build(t.Context(), requestOf(chain.KindWithdrawal, from, outsider, amount))
		if err != nil {
			t.Fatal(err)
		}
		return unsigned.Reservations[0]
	}
	first, again, other := resource(sol), resource(sol), resource(sol+1)
	f.add(101)
	if next := resource(sol); first != again || first == other || first == next {
		t.Fatalf("reservations %s, %s, %s, then %s", first, again, other, next)
	}
}
