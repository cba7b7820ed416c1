package signer

import (
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/signer/memory"
)

// armed is a harness with a state file whose signer freezes itself.
func armed(t *testing.T) (b *harness, path string, froze *[]memory.Freeze) {
	t.Helper()
	b, froze = newHarness(t, nil), &[]memory.Freeze{}
	path = b.stateFile(false)
	b.arm(froze)
	return b, path, froze
}

func (b *harness) arm(froze *[]memory.Freeze) {
	b.signer.FreezeItself(func(f memory.Freeze, err error) {
		b.must(err)
		*froze = append(*froze, f)
	})
}

// unpaid is a transaction that does not pay what is requested.
func (b *harness) unpaid(n int) request {
	r := b.numbered(n, 10, 1)
	r.contents.Payments = []chain.Payment{token("mallory", 10)}
	return r
}

// TestTheSignerFreezesItself guards against a service that tries until something passes.
func TestTheSignerFreezesItself(t *testing.T) {
	t.Parallel()
	b, path, froze := armed(t)
	b.wantReason(b.unpaid(1), ReasonUnpaid)
	for range 5 {
		b.wantReason(b.unpaid(2), ReasonUnpaid) // a service that repeats itself is no attack
	}
	b.wantReason(b.numbered(3, 10, 1), "")
	b.wantReason(b.unpaid(4), ReasonUnpaid)
	b.wantReason(b.numbered(5, 10, 1), ReasonFrozen, "frozen by the signer itself", "(unpaid, unpaid, unpaid)")
	b.wantReason(b.unpaid(6), ReasonUnpaid)
	if len(*froze) != 1 || !strings.Contains((*froze)[0].Why, "the service is broken or in other hands") {
		t.Errorf("it froze itself %+v, want 1 of them and %q in it", *froze, "the service is broken or in other hands")
	}
	b.reopen(path)
	b.wantReason(b.numbered(5, 10, 1), ReasonFrozen)
	b.must(b.thaw(path))
	b.wantReason(b.numbered(5, 10, 1), "")
}

// What limits, customers and configurations cause freezes nothing, and neither do a few mistakes in a day.
func TestWhatFreezesNothing(t *testing.T) {
	t.Parallel()
	b, _, froze := armed(t)
	for n := range 6 {
		dear := b.numbered(10+n, 1, 1001)
		dear.unsigned.Fee = bursar.Units(1001)
		b.wantReason(dear, ReasonFee)
		own := b.numbered(20+n, 1, 1)
		own.request.Payments = []chain.Payment{token(own.request.From.Base, 1)}
		b.wantReason(own, ReasonOwnAddress)
		b.wantReason(b.unpaid(n), ReasonUnpaid)
		b.clock.Advance(6 * time.Minute)
	}
	if len(*froze) > 0 {
		t.Errorf("it froze itself %+v, want none", *froze)
	}
}

// TestARollbackFreezes: the first signature that is asked of a state that was set back freezes the signer, so that
// nobody goes on by restarting the service.
func TestARollbackFreezes(t *testing.T) {
	t.Parallel()
	b, path, froze := armed(t)
	b.close()
	older := copyState(t, path)
	b.reopen(path)
	b.wantReason(b.numbered(1, 10, 1), "")
	seen := b.signer.Checkpoint()
	b.reopen(older)
	b.arm(froze)
	b.must(b.signer.Know(seen))
	b.wantReason(b.numbered(2, 10, 1), ReasonSetBack)
	b.wantReason(b.numbered(2, 10, 1), ReasonFrozen, "set-back")
	if len(*froze) != 1 {
		t.Errorf("it froze itself %+v, want 1 of them", *froze)
	}
}

// TestTwoAmountsFreeze: once is enough.
func TestTwoAmountsFreeze(t *testing.T) {
	t.Parallel()
	b, path, froze := armed(t)
	b.wantReason(b.withUTXOs(), "")
	other := b.withUTXOs()
	other.contents.Inputs[0].Amount = bursar.Units(751)
	b.wantReason(other, ReasonOutpoint) // the fake chain proves whatever is said
	b.wantReason(b.numbered(2, 10, 1), ReasonFrozen, "coin-one-amount")
	b.reopen(path)
	b.wantReason(b.numbered(2, 10, 1), ReasonFrozen)
	if len(*froze) != 1 {
		t.Errorf("it froze itself %+v, want 1 of them", *froze)
	}
}

// The attack: the same transaction with one false proof after the other, under one name.
func TestWhatIsAskedUnderOneNameIsCounted(t *testing.T) {
	t.Parallel()
	b, _, froze := armed(t)
	ask := func(n int) request {
		r := b.unpaid(1)
		r.unsigned.Previous = [][]byte{{byte(n)}}
		return r
	}
	for n := range mostAsked - 1 {
		b.wantReason(ask(n), ReasonUnpaid)
		b.wantReason(ask(n), ReasonUnpaid)
	}
	if len(*froze) != 0 {
		t.Fatalf("got frozen %+v, want one transaction that is built again to stop nothing", *froze)
	}
	b.wantReason(ask(mostAsked), ReasonUnpaid)
	b.wantReason(b.numbered(3, 10, 1), ReasonFrozen)
}
