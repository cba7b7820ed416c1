package signer

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/signer/memory"
)

// However many ask at once, no more than the window is signed.
func TestAThousandRequestsAgainstOneWindow(t *testing.T) {
	t.Parallel()
	b := newHarness(t, limited(func(p *Bounds) { p.Payments = map[string]Limits{"token": {Hour: bursar.Units(300)}} }))
	path := b.stateFile(false)
	var signed, refusals atomic.Int64
	var group sync.WaitGroup
	for n := range 1000 {
		r := costing(b.withNonce(), n, 1)
		group.Go(func() {
			_, err := b.sign(r) // each pays 7
			var refused *RefusalError
			switch {
			case err == nil:
				signed.Add(7)
			case errors.As(err, &refused) && refused.Reason == ReasonQuota:
				refusals.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	group.Wait()
	if signed.Load() != 294 || refusals.Load() != 1000-42 {
		t.Errorf("%d units are signed, %d requests refused, want 294 and %v", signed.Load(), refusals.Load(), 1000-42)
	}
	b.reopen(path)
	b.wantReason(costing(b.withNonce(), 2000, 1), ReasonQuota, "which is 6 more")
}

// A request that is given up while others are evaluated is neither counted nor signed.
func TestARequestThatIsGivenUp(t *testing.T) {
	t.Parallel()
	b := newHarness(t, nil)
	path := b.stateFile(false)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := costing(b.sweep(), 1, 1)
	r.unsigned.Bytes = []byte(`{}`)
	if _, err := b.signer.Sign(ctx, r.chain, r.request, r.unsigned); err == nil {
		t.Fatal("it is signed, want an error")
	}
	head, err := memory.Verify(t.Context(), b.reopen(path))
	if err != nil || head.Number != 2 || head.Kind != memory.KindRefused {
		t.Errorf("the log ends with %+v, %v, want that it was refused", head, err)
	}
}
