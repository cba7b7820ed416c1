package signer

import "testing"

// A spend of ours that the service did not make freezes the signer once, also across restarts; unless nobody asked for
// that, it changes nothing.
func TestAnExternalSpendFreezesOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	path := b.stateFile(false)
	halts := Halts{Number: 1, Spends: []ExternalSpend{{"aa", "transaction aa spends from our address"}}}
	send := func() {
		t.Helper()
		if _, err := b.signer.SendHalts(t.Context(), halts); err != nil {
			t.Fatal(err)
		}
	}
	send()
	b.wantReason(b.numbered(1, 10, 1), "") // which is what the configuration says
	b.reopen(path)
	b.signer.FreezeOnSpends()
	send()
	send()
	b.wantReason(b.numbered(2, 10, 1), ReasonFrozen, "frozen by the service", "external spend: transaction aa spends")
	b.must(b.thaw(path))
	send()
	b.wantReason(b.numbered(2, 10, 1), "")
	b.reopen(path)
	b.signer.FreezeOnSpends()
	send()
	b.wantReason(b.numbered(3, 10, 1), "")
	halts.Spends = append(halts.Spends, ExternalSpend{"bb", "transaction bb"})
	send()
	b.wantReason(b.numbered(4, 10, 1), ReasonFrozen, "transaction bb")
}
