package signer

import (
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/signer/memory"
)

// entries returns the details of the log's entries of a kind.
func (b *harness) entries(kind string) (list []string) {
	b.t.Helper()
	b.must(b.signer.evaluator.keeper.Do(b.t.Context(), func(tx memory.Tx) error {
		for n := int64(1); ; n++ {
			e, found, err := tx.Entry(b.t.Context(), n)
			if err != nil || !found {
				return err
			}
			if e.Kind == kind {
				list = append(list, e.Detail)
			}
		}
	}))
	return list
}

// Every refusal is in the log, added up, and a flood of them makes no more than an entry a minute.
func TestRefusalsAreInTheLog(t *testing.T) {
	t.Parallel()
	b := newHarness(t, nil)
	b.stateFile(false)
	for n := range 500 { // in eight minutes and twenty seconds
		r := b.unpaid(1)
		r.request.ID = bursar.ID{2, byte(n), byte(n >> 8)}
		b.wantReason(r, ReasonUnpaid)
		dear := b.numbered(1000, 1, 1001)
		b.wantReason(dear, ReasonFee)
		b.clock.Advance(time.Second)
	}
	if got := len(b.entries(memory.KindRefused)); got != 9 {
		t.Errorf("got %d entries, want one a minute", got)
	}
	before := b.signer.Checkpoint()
	b.must(b.signer.FlushRefusals(b.t.Context(), true))
	if got := b.signer.Checkpoint(); !got.After(before) {
		t.Errorf("got entry %d as the newest, want one after %d", got.Number, before.Number)
	}
	list := b.entries(memory.KindRefused)
	if first := list[0]; !strings.Contains(first, `"reason":"unpaid","count":1`) {
		t.Errorf("got %s, want the first refusal at once", first)
	}
	unpaid, fee := 0, 0
	for _, text := range list {
		unpaid, fee = unpaid+strings.Count(text, `"unpaid"`), fee+strings.Count(text, `"fee"`)
	}
	if unpaid != 10 || fee != 9 {
		t.Errorf("got %d and %d lines, want one of each kind in each entry", unpaid, fee)
	}
	// What waits is asked for again and again: once an hour is enough.
	count := len(list)
	for range 120 {
		b.clock.Advance(time.Minute)
		b.wantReason(b.numbered(1000, 1, 1001), ReasonFee)
	}
	if got := len(b.entries(memory.KindRefused)) - count; got != 2 {
		t.Errorf("got %d entries in two hours of the same, want 2", got)
	}
}
