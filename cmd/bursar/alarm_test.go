package main

import (
	"context"
	"strings"
	"testing"

	"github.com/bursar/bursar/store"
)

func TestAlarmsAreListedAndClosed(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	if got := parse[[]listedAlarm](d, "alarm", "list", "--json"); got == nil || len(got) != 0 {
		t.Errorf("with none: %v", got)
	}
	d.change(func(ctx context.Context, tx *store.Tx) error {
		for _, a := range []store.Alarm{{Chain: "polygon", Kind: "unrecognized_event", Ref: "1", Message: "odd\x1b[2J"},
			{Chain: "tron", Kind: "unrecognized_event", Ref: "2"}, {Chain: "tron", Kind: "funds_low", Ref: "3"}} {
			if err := tx.Alarms().Raise(ctx, a); err != nil {
				return err
			}
		}
		return nil
	})
	found := parse[[]listedAlarm](d, "alarm", "list", "--json", "--kind", "unrecognized_event")
	if len(found) != 2 || found[0].Kind != "unrecognized_event" || found[0].At == "" ||
		len(parse[[]listedAlarm](d, "alarm", "list", "--json", "--chain", "tron")) != 2 {
		t.Fatalf("listed %+v, want 2 of them and %q and not %q", found, "unrecognized_event", "")
	}
	if out := d.ok("alarm", "list"); !strings.Contains(out, "unrecognized_event") || strings.Contains(out, "\x1b") {
		t.Errorf("listed\n%s, want %q in it and no %q", out, "unrecognized_event", "\x1b")
	}
	if got := d.ok("alarm", "close", "1"); !strings.HasPrefix(got, "closed: odd") || strings.Contains(got, "\x1b") {
		t.Errorf("closing says %q, want %q first and no %q", got, "closed: odd", "\x1b")
	}
	d.fails(exitFailed, "no alarm 1 is open", "alarm", "close", "1")
	d.fails(exitFailed, "no alarm 9 is open", "alarm", "close", "9")
	if left := parse[[]listedAlarm](d, "alarm", "list", "--json"); len(left) != 2 {
		t.Errorf("left are %+v, want 2 of them", left)
	}
}
