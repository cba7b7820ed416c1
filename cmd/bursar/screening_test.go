package main

import (
	"context"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

func TestScreeningsAreListedAndDecided(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t, away)
	if got := parse[[]listedScreening](d, "screening", "list", "--json"); got == nil || len(got) != 0 {
		t.Errorf("with none: %v, want an empty list", got)
	}
	var id bursar.ID
	d.change(func(ctx context.Context, tx *store.Tx) error {
		ids, err := stray(ctx, tx, bursar.Address{Base: "bcrt1q"}, 1)
		if err != nil {
			return err
		}
		id = ids[0]
		asked := store.Screening{Subject: id, Kind: store.ScreenDeposit, Chain: "bitcoin", Block: "b", Request: "asked",
			Attempts: 3, CreatedAt: tx.Now()}
		if err := tx.Screenings().Ask(ctx, asked); err != nil {
			return err
		}
		asked.Outcome = store.ScreeningReview
		_, err = tx.Screenings().Answered(ctx, asked)
		return err
	})
	found := parse[[]listedScreening](d, "screening", "list", "--json")
	if len(found) != 1 || found[0].Subject != id || found[0].Outcome != store.ScreeningReview || found[0].Attempts != 3 {
		t.Errorf("listed %+v, want the deposit in review after 3 questions", found)
	}
	d.change(func(ctx context.Context, tx *store.Tx) error { return tx.Settings().NoteScreened(ctx, "a key") })
	findings, _ := d.findings()
	if f := findings["screening configuration"]; f.Result != resultFailed ||
		!strings.Contains(f.Detail, "has no screening") {
		t.Errorf("of a configuration without screening doctor says %+v, want a failure", f)
	}
	d.fails(exitUsage, "missing flags", "screening", "end")
	if got := d.ok("screening", "end", "--reason", "no contract", "--by", "ann"); got !=
		"nothing is screened from now on\n" {
		t.Errorf("ending says %q, want %q", got, "nothing is screened from now on\n")
	}
	d.fails(1, "there is nothing to end", "screening", "end", "--reason", "again")
	findings, _ = d.findings()
	if f := findings["screening"]; f.Result != resultWarning || !strings.Contains(f.Detail, "1 deposits and payouts") {
		t.Errorf("doctor says %+v, want a warning about one", f)
	}
	d.fails(exitUsage, "missing flags", "screening", "release", id.String())
	d.fails(1, "nothing was asked about", "screening", "release", bursar.ID{9}.String(), "--reason", "x")
	d.rehearses("screening", "release", id.String(), "--reason", "case 17")
	d.rehearses("screening", "reject", id.String(), "--reason", "case 17")
	if got := d.ok("screening", "release", id.String(), "--reason", "case 17", "--by", "ann"); got !=
		"deposit "+id.String()+" is released\n" {
		t.Errorf("releasing says %q, want %v", got, "deposit "+id.String()+" is released\n")
	}
	if o := d.run("", "screening", "reject", id.String(), "--reason", "late"); o.code == 0 ||
		!strings.Contains(o.err, "does not wait for screening") {
		t.Errorf("rejecting after that says %q with code %d, want a refusal", o.err, o.code)
	}
	all := parse[[]listedScreening](d, "screening", "list", "--all", "--json")
	if len(all) != 1 || all[0].Actor != "ann" || all[0].Reason != "case 17" || all[0].Outcome != store.ScreeningReleased {
		t.Errorf("listed %+v, want it released by ann because of case 17", all)
	}
}
