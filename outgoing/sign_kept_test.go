package outgoing_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/marks"
	"github.com/bursar/bursar/signer"
)

// The signer refuses a payment, and the process ends at once: the journal has not kept it, since nobody has its bytes.
// Otherwise it would count as signed for ever.
func TestWhatTheSignerRefusedIsNotInTheJournalOfTheNextProcess(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		file := filepath.Join(t.TempDir(), "seed.marks")
		r.Guarded(file)
		r.Prepare()
		r.Settle()
		w := r.Order(300_000_000, r.Chain.Named("outside"))
		real := r.Sender.Signer
		r.Sender.Signer = &recordingMarks{signer: &signer.RefusalError{Reason: signer.ReasonFee, Detail: "of a test"}}
		r.Trouble = true
		r.Step()
		first := r.Now(w).OutgoingID
		if p := r.spendNow(first); p.Status != bursar.OutgoingNew {
			t.Fatalf("it is %s, want %s", p.Status, bursar.OutgoingNew)
		}
		r.notKept(file, first)
		r.Sender.Signer = real
		r.Restart()
		r.Guarded(file)
		r.Settle()
		r.holdsOnce(w)
	})
}

// It did not answer, and its account is frozen then: what was reserved is given up, and the journal has not kept it.
func TestWhatIsGivenUpUnsignedIsNotInTheJournalOfTheNextProcess(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		file := filepath.Join(t.TempDir(), "seed.marks")
		r.Guarded(file)
		r.Prepare()
		r.Settle()
		w := r.Order(300_000_000, r.Chain.Named("outside"))
		r.Trouble = true
		r.withoutSigner(r.Step)
		first := r.Now(w).OutgoingID
		r.Halt(r.FreezeOf(0))
		r.Step()
		if p := r.spendNow(first); p.Status != bursar.OutgoingAbandoned {
			t.Fatalf("it is %s, want %s", p.Status, bursar.OutgoingAbandoned)
		}
		r.notKept(file, first)
		r.Resume(r.FreezeOf(0))
		r.Restart()
		r.Guarded(file)
		r.Settle()
		r.holdsOnce(w)
	})
}

// notKept checks that marks in a file have no entry of an outgoing transaction.
func (r *harness) notKept(file string, id bursar.ID) {
	r.T.Helper()
	kept, err := marks.NewFile(file).Load(ctx)
	r.Must(err)
	if slices.ContainsFunc(kept.Journal, func(e marks.Entry) bool { return e.OutgoingID == id.String() }) {
		r.T.Errorf("the journal has %s", id)
	}
}

// Another version is counted for a transaction that was sent, and is not signed after all: the journal still has the
// one that was.
func TestWhatASignatureReplacedComesBackIfItIsNotMade(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		_, p, guard := r.sentGuarded()
		entries := func() (list []int64) {
			kept, err := guard.Keeper.Load(ctx)
			r.Must(err)
			for _, e := range kept.Journal {
				if e.OutgoingID == p.ID.String() {
					list = append(list, e.Number)
				}
			}
			return list
		}
		before := entries()
		unsigned, err := guard.Sign(ctx, r.Lease, p.ID)
		r.Must(err)
		if now := entries(); len(before) != 1 || len(now) != 1 || now[0] <= before[0] {
			t.Fatalf("the journal has numbers %v, and %v before, want a newer one", now, before)
		}
		unsigned()
		r.Must(guard.KeepUnsigned(ctx, p.Chain))
		if now := entries(); !slices.Equal(now, before) {
			t.Errorf("the journal has numbers %v, want %v again", now, before)
		}
		if !guard.Signed(p.Chain, p.ID) {
			t.Error("the process takes it for unsigned")
		}
		_, err = guard.Sign(ctx, r.Lease, p.ID)
		r.Must(err)
		guard.NeverSigned(p.Chain, p.ID) // as a signer that never got to it says
		r.Must(guard.KeepUnsigned(ctx, p.Chain))
		if now := entries(); len(now) != 0 {
			t.Errorf("the journal has numbers %v of what was never signed, want none", now)
		}
	})
}
