package xrpl

import (
	"testing"

	"github.com/bursar/bursar"
)

// A sequence is used up once the newest validated ledger has a higher one, or no such account.
func TestASequenceIsUsedUpInTheValidatedLedger(t *testing.T) {
	t.Parallel()
	b := newColdHarness(t)
	for name, test := range map[string]struct {
		next uint32 // 0: the account does not exist
		want bool
	}{"its own": {7, false}, "the next": {8, true}, "one before": {6, false}, "deleted": {0, true}} {
		f := newFake(t)
		f.script["account_info"] = func(params object) object {
			if params["ledger_index"] != "validated" {
				t.Errorf("%s: asked of ledger %v, want validated", name, params["ledger_index"])
			}
			if test.next == 0 {
				return object{"error": "actNotFound"}
			}
			return object{"validated": true, "ledger_index": first, "account_data": object{
				"Account": b.bases[0].String(), "Balance": "100000000", "Sequence": test.next}}
		}
		r := b.refill(bursar.ColdAddress, b.bases[0])
		used, ledger, err := f.open(t).UsedUp(t.Context(), r.Wallet, b.honest(b.bases[0], nil).bytes(), 0)
		if used != test.want || ledger != first || err != nil {
			t.Errorf("%s: got %v in ledger %d, %v, want %v in %d", name, used, ledger, err, test.want, first)
		}
	}
}
