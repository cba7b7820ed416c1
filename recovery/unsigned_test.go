package recovery_test

import (
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
