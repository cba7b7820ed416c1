package screening_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/screening"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/verdict"
)

// An operator who decides after it was read what is to be asked, and before that is recorded, has decided.
func TestADecisionBeforeTheQuestionStands(t *testing.T) {
	screened(t, func(t *testing.T, r *harness) {
		r.Step()
		d := r.paid(r.Wallet(0), 100_000)
		decided := false
		r.screener.IDs = bursar.NewIDs(func() time.Time {
			if !decided {
				decided = true
				r.Must(r.decide(d.ID, false))
			}
			return r.clock.Now()
		}, nil)
		r.screen()
		s := r.known(d.ID)
		if s.Outcome != store.ScreeningRejected || s.Actor != "ann" || len(r.lists.asked) != 0 {
			t.Errorf("it is %s by %q after %d questions, want rejected by ann after none", s.Outcome, s.Actor,
				len(r.lists.asked))
		}
		r.Step()
		r.wantDeposit(d, bursar.DepositConfirmed, 0)
	})
}

// While the database may be older than the chain, a payout may be paid already: a rejection that arrives then refunds
// nothing.
func TestNothingIsRefundedWhileTheChainRecovers(t *testing.T) {
	screened(t, func(t *testing.T, r *harness) {
		before := r.funded()
		w := r.Order(50_000, r.Chain.Named("payee"))
		r.lists.say = func(q string) (screening.Reply, error) {
			r.Do(func(tx *store.Tx) error { return tx.Recoveries().Begin(ctx, r.Chain.Capabilities().ID, "restored") })
			return signedBy(keyOf(1), answerTo(q, verdict.Reject, r.clock.Now())), nil
		}
		r.screen()
		if now := r.Now(w); now.Status != bursar.WithdrawalQueued || !r.Available(0).Less(before) {
			t.Errorf("it is %s and %s are available, want queued and less than %s", now.Status, r.Available(0), before)
		}
		if s := r.known(w.ID); s.Outcome != store.ScreeningWaiting {
			t.Errorf("it is known as %s, want waiting", s.Outcome)
		}
	})
}

// Whatever bytes are in an error, the question is noted as one without an answer: PostgreSQL takes no NUL in a text,
// and no part of a character.
func TestAnyErrorIsNoted(t *testing.T) {
	screened(t, func(t *testing.T, r *harness) {
		r.Step()
		d := r.paid(r.Wallet(0), 100_000)
		r.lists.say = func(string) (screening.Reply, error) {
			return screening.Reply{}, errors.New("malformed \x00\xff" + strings.Repeat("é", 300))
		}
		r.screen()
		if s := r.known(d.ID); !strings.HasPrefix(s.Error, "malformed é") {
			t.Errorf("the error is %q, want that of the service", s.Error)
		}
	})
}

// A pass that expires takes no other one of the same transaction with it.
func TestAnExpiredPassLeavesTheOthers(t *testing.T) {
	screenedOnce(t, func(t *testing.T, r *harness) {
		r.funded()
		short, long := r.Order(50_000, r.Chain.Named("a")), r.Order(60_000, r.Chain.Named("b"))
		r.lists.say = func(q string) (screening.Reply, error) {
			a := answerTo(q, verdict.Pass, r.clock.Now())
			if a.Subject == long.ID {
				a.Expires = a.Created.Add(20 * time.Hour)
			}
			return signedBy(keyOf(1), a), nil
		}
		r.screen()
		r.Trouble = true
		r.Chain.Fail(sim.Build, 1, nil)
		r.Step()
		r.Chain.ClearFaults()
		r.Trouble = false
		if one, other := r.Now(short).OutgoingID, r.Now(long).OutgoingID; one.IsZero() || one != other {
			t.Fatalf("they are paid by %s and %s, want one transaction", one, other)
		}
		r.clock.Advance(2 * time.Hour)
		r.Blocks(8)
		if now := r.Now(long); now.Status != bursar.WithdrawalConfirmed {
			t.Errorf("what was passed for longer is %s, want confirmed", now.Status)
		}
		if now := r.Now(short); now.Status != bursar.WithdrawalQueued {
			t.Errorf("what is not passed any more is %s, want queued", now.Status)
		}
	})
}

// Once screening has ended nothing waits for an answer, and no alarm says that something does.
func TestTheEndClosesTheAlarm(t *testing.T) {
	screenedOnce(t, func(t *testing.T, r *harness) {
		r.Step()
		r.paid(r.Wallet(0), 100_000)
		r.lists.say = func(string) (screening.Reply, error) { return screening.Reply{}, errLost }
		for range 3 {
			r.screen()
			r.clock.Advance(time.Minute)
		}
		r.wantAlarms("screening_unanswered")
		r.Do(func(tx *store.Tx) error { return screening.End(ctx, tx, "ann", "the contract ended") })
		r.wantAlarms()
	})
}

// What the service never answers about, as of an asset that it does not know, keeps it from nothing else, however much
// of it a payer sends.
func TestUnansweredScreeningsBlockNoOthers(t *testing.T) {
	screenedOnce(t, func(t *testing.T, r *harness) {
		r.Step()
		w := r.Wallet(0)
		for range 8 {
			r.Pay(w.Address, 100)
		}
		r.Blocks(4)
		r.lists.say = func(q string) (screening.Reply, error) {
			if strings.Contains(q, "units: 100\n") {
				return screening.Reply{}, errLost
			}
			return signedBy(keyOf(1), answerTo(q, verdict.Pass, r.clock.Now())), nil
		}
		r.screen()
		r.Pay(w.Address, 100_000)
		r.Blocks(4)
		r.clock.Advance(time.Minute) // the others are due again
		r.screen()
		r.Step()
		if got := r.Available(0); got != bursar.Units(99_000) {
			t.Errorf("the account has %s, want 99000", got)
		}
	})
}
