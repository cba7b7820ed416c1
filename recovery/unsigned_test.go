package recovery_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/marks"
)

// numbers returns the numbers of an outgoing transaction's entries in the journal.
func (p *post) numbers(id bursar.ID) (list []int64) {
	p.Helper()
	kept, err := p.Keeper.Load(ctx)
	p.need(err)
	for _, e := range kept.Journal {
		if e.OutgoingID == id.String() {
			list = append(list, e.Number)
		}
	}
	return list
}

// A process that loses its lease while the signer is asked, and then discards what comes back, undoes its own count
// only: the process that leads the chain by then may have the same transaction signed.
func TestADiscardedSignatureLeavesThatOfAnotherProcess(t *testing.T) {
	p := newPost(t)
	start(t, p.Guard)
	id := p.reserved()
	discarded, err := p.Sign(ctx, p.lease(), id)
	p.need(err)
	first := p.numbers(id)
	other := newGuard(p.DB, marks.NewFile(p.file))
	other.Families, other.Derive = p.Families, p.Derive
	start(t, other)
	if _, err := other.Sign(ctx, p.lease(), id); err != nil {
		t.Fatal(err)
	}
	second := p.numbers(id)
	if len(first) != 1 || len(second) != 1 || second[0] <= first[0] {
		t.Fatalf("the numbers are %v, and %v before, want a newer one", second, first)
	}
	for name, look := range map[string]func() error{
		"before it has read what the other one wrote": func() error { return nil },
		"after it has read that":                      func() error { return p.Compare(ctx) },
	} {
		p.need(look())
		discarded()
		p.need(p.KeepUnsigned(ctx, simbtc))
		if now := p.numbers(id); !slices.Equal(now, second) {
			t.Errorf("%s: the journal has %v, want %v of the process that leads", name, now, second)
		}
	}
	if !other.Signed(simbtc, id) {
		t.Error("the process that leads takes it for unsigned")
	}
}

// What one process discards is gone from the journal for all of them.
func TestADiscardedSignatureIsGone(t *testing.T) {
	p := newPost(t)
	start(t, p.Guard)
	id := p.reserved()
	discarded, err := p.Sign(ctx, p.lease(), id)
	p.need(err)
	discarded()
	p.need(p.KeepUnsigned(ctx, simbtc))
	if now := p.numbers(id); len(now) != 0 || p.Signed(simbtc, id) {
		t.Errorf("the journal has %v, want nothing", now)
	}
}

// slowKeeper is a Keeper during whose raises something else happens, once, or whose answers are lost.
type slowKeeper struct {
	marks.Keeper
	then func()
	lost error
}

func (k *slowKeeper) Raise(ctx context.Context, by marks.State) (marks.State, error) {
	kept, err := k.Keeper.Raise(ctx, by)
	if k.lost != nil {
		return marks.State{}, k.lost
	}
	if then := k.then; then != nil {
		k.then = nil
		then()
	}
	return kept, err
}

// A signature that could not be counted is not made, although the marks have its entry: the answer was lost. The next
// raise takes it out, and puts back what it has replaced.
func TestASignatureThatCouldNotBeCountedIsGone(t *testing.T) {
	p := newPost(t)
	slow := &slowKeeper{Keeper: p.Keeper}
	p.Keeper = slow
	start(t, p.Guard)
	id, lease := p.reserved(), p.lease()
	fails := func() {
		t.Helper()
		before := p.numbers(id)
		slow.lost = errors.New("the connection was closed")
		if _, err := p.Sign(ctx, lease, id); !errors.Is(err, slow.lost) {
			t.Fatalf("counting gives %v, want %v", err, slow.lost)
		}
		slow.lost = nil
		if now := p.numbers(id); slices.Equal(now, before) {
			t.Fatalf("the journal has %v, want an entry whose answer was lost", now)
		}
		p.need(p.KeepUnsigned(ctx, simbtc))
		if now := p.numbers(id); !slices.Equal(now, before) || p.Signed(simbtc, id) != (len(before) > 0) {
			t.Errorf("the journal has %v, want %v again", now, before)
		}
	}
	fails()
	_, err := p.Sign(ctx, lease, id) // it is signed, and its bytes are out
	p.need(err)
	fails()
}

// A signature may be undone while the marks are raised for something else. What that has read of the file does not
// bring the entry back, and does not lose the one that the entry had replaced.
func TestASignatureThatIsUndoneDuringARaiseStaysSo(t *testing.T) {
	p := newPost(t)
	slow := &slowKeeper{Keeper: p.Keeper}
	p.Keeper = slow
	start(t, p.Guard)
	id, lease := p.reserved(), p.lease()
	discarded, err := p.Sign(ctx, lease, id)
	p.need(err)
	slow.then = discarded
	p.need(p.sign(lease)) // another one
	if p.Signed(simbtc, id) {
		t.Error("what was undone counts as signed")
	}
	p.need(p.KeepUnsigned(ctx, simbtc))
	if now := p.numbers(id); len(now) != 0 {
		t.Errorf("the journal has %v, want nothing", now)
	}

	_, err = p.Sign(ctx, lease, id) // it is signed, and its bytes are out
	p.need(err)
	before := p.numbers(id)
	if discarded, err = p.Sign(ctx, lease, id); err != nil {
		t.Fatal(err)
	}
	slow.then = discarded
	p.need(p.sign(lease))
	if !p.Signed(simbtc, id) {
		t.Error("what was signed before counts as unsigned")
	}
	p.need(p.KeepUnsigned(ctx, simbtc))
	if now := p.numbers(id); !slices.Equal(now, before) {
		t.Errorf("the journal has %v, want %v again", now, before)
	}
}
