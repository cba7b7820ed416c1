package tron

import (
	"sync/atomic"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// A backend that has not yet seen the tokens that another one behind the same URL has makes a dry run of their payment
// revert. That must not refuse the transaction request, because a refusal is final.
func TestARevertAtABackendThatIsBehindRefusesNothing(t *testing.T) {
	t.Parallel()
	reverted := object{"result": object{"result": true, "message": "524556455254"}, "energy_used": 500,
		"constant_result": []any{""}, "transaction": object{"ret": []any{object{"ret": "FAILED"}}}}
	for name, behind := range map[string]int64{"every second": 2, "two of three": 3} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := paying(t, 100_000_000, 500)
			var dryRuns atomic.Int64
			f.script["triggerconstantcontract"] = func(ask object) any {
				if ask["function_selector"] == transferCall && dryRuns.Add(1)%behind != 0 {
					return reverted
				}
				return f.constant(ask)
			}
			c := f.open(t, nil)
			for range 4 {
				if _, err := c.Build(t.Context(), requestOf(chain.KindWithdrawal, fakeOther, 5,
					fakeToken)); err != nil {
					t.Fatal(err)
				}
				payment := chain.Payment{Address: bursar.Address{Base: fakeOther.String()}, Contract: fakeToken.String(),
					Amount: bursar.Units(5)}
				if _, err := c.Quote(t.Context(), payment); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
