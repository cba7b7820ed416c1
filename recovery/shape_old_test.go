package recovery_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/recovery"
)

// What empties the hot wallet of an earlier epoch is recognised by its shape: a sweep on the account model. On the UTXO
// model it is a transaction that pays nobody, with inputs of any address, of which there are no sweeps: nothing that is
// known of one of its addresses says whether it can go on.
func TestWhatEmptiesAnOldHotWalletIsRecognisedByShape(t *testing.T) {
	for name, c := range map[string]struct {
		capabilities chain.Capabilities
		kind         chain.Kind
		from, change string
	}{
		"a sweep":         {numbered, chain.KindSweep, "old", ""},
		"a consolidation": {utxoCapabilities, chain.KindWithdrawal, "", "hot"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newHarness(t, c.capabilities)
			r.Old = []chain.Source{{Base: "old", Key: chain.Hot(c.capabilities.Family)}}
			x := r.mineExternal(pays("hot", "", 500))
			x.Base, x.Reservations = "old", []string{"old/1", "deposit/1"}
			found := r.evaluate(x, true)
			request := r.orderOf(found)
			if found.Verdict != recovery.Adopted || request.Kind != c.kind || request.From.Base != c.from ||
				request.Change.Base != c.change {
				t.Errorf("it is %s with %+v, want %s, a %s from %q with change to %q", found.Verdict, request,
					recovery.Adopted, c.kind, c.from, c.change)
			}
			if p := r.Outgoing(found.OutgoingID); p.Base != c.from+c.change || p.Status != bursar.OutgoingSent {
				t.Errorf("the outgoing transaction is %s of %q, want it sent and of %q", p.Status, p.Base, c.from+c.change)
			}
		})
	}
}
