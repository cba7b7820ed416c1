package drill

import "testing"

// TestPgBackRestRestoresToAnyMoment loses a server under load and restores it to a point in time, then once more to
// the end of its archive.
func TestPgBackRestRestoresToAnyMoment(t *testing.T) {
	k := NewArchived(t)
	db := open(t, k.URL())
	w := write(t, db)
	w.more(100)
	k.Rest("--type=full")
	before, moment := w.more(100), k.Moment()
	for ended := second(moment); second(moment) == ended; { // pgBackRest records the end of the backup to the second
		before, moment = w.more(100), k.Moment()
	}
	after := w.count() + 2 // and what the two writers have in progress
	w.more(100)
	w.stop()
	all := whole(t, k.URL())
	k.Rest("check") // which archives everything that was written, and waits for that
	db.Close()

	k.LoseAndRestoreTo(moment)
	if n := whole(t, k.URL()); n < before || n > after {
		t.Errorf("restored to a moment are %d entries; %d were acknowledged before it, %d after", n, before, after)
	}
	k.LoseAndRestoreToTheEnd()
	if n := whole(t, k.URL()); n != all {
		t.Errorf("restored to the end of the archive are %d entries of %d", n, all)
	}
	id, err := open(t, k.URL()).Identity(t.Context())
	if err != nil || id.Timeline == "00000001" {
		t.Errorf("a restored server is not distinguished from the lost one: %+v, %v", id, err)
	}
}

// second is a moment without what is after its seconds.
func second(moment string) string { return moment[:len("2026-01-31 12:00:00")] }
