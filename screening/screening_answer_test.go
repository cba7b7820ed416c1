package screening_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/screening"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/verdict"
)

// Whatever the service says that is no answer to this question is no pass: the deposit waits, is asked about again
// after a pause, raises an alarm, and goes on by itself once the service answers.
func TestWhatIsNoAnswerIsNoPass(t *testing.T) {
	var first screening.Reply // to an earlier question
	for name, say := range map[string]func(r *harness, request string) (screening.Reply, error){
		"lost": func(*harness, string) (screening.Reply, error) { return screening.Reply{}, errLost },
		"unsigned": func(r *harness, q string) (screening.Reply, error) {
			return screening.Reply{Text: answerTo(q, verdict.Pass, r.clock.Now()).Text()}, nil
		},
		"wrong key": func(r *harness, q string) (screening.Reply, error) {
			return signedBy(keyOf(2), answerTo(q, verdict.Pass, r.clock.Now())), nil
		},
		"another subject": func(r *harness, q string) (screening.Reply, error) {
			a := answerTo(q, verdict.Pass, r.clock.Now())
			a.Subject = bursar.ID{7}
			return signedBy(keyOf(1), a), nil
		},
		"another request": func(r *harness, q string) (screening.Reply, error) {
			a := answerTo(q, verdict.Pass, r.clock.Now())
			a.Request = answerTo(q+"x", verdict.Pass, r.clock.Now()).Request
			return signedBy(keyOf(1), a), nil
		},
		"replayed": func(r *harness, q string) (screening.Reply, error) {
			if first.Text == "" || !strings.Contains(first.Text, "subject: "+subjectOf(q)) {
				first = signedBy(keyOf(1), answerTo(q, verdict.Pass, r.clock.Now()))
				return screening.Reply{}, errLost
			}
			return first, nil
		},
		"expired": func(r *harness, q string) (screening.Reply, error) {
			return signedBy(keyOf(1), answerTo(q, verdict.Pass, r.clock.Now().Add(-2*time.Hour))), nil
		},
		"of the future": func(r *harness, q string) (screening.Reply, error) {
			return signedBy(keyOf(1), answerTo(q, verdict.Pass, r.clock.Now().Add(time.Hour))), nil
		},
		"for ever": func(r *harness, q string) (screening.Reply, error) {
			a := answerTo(q, verdict.Pass, r.clock.Now())
			a.Expires = a.Created.Add(25 * time.Hour)
			return signedBy(keyOf(1), a), nil
		},
		"a review made a pass": func(r *harness, q string) (screening.Reply, error) {
			reply := signedBy(keyOf(1), answerTo(q, verdict.Review, r.clock.Now()))
			reply.Text = strings.Replace(reply.Text, "verdict: review", "verdict: pass", 1)
			return reply, nil
		},
		"garbage": func(*harness, string) (screening.Reply, error) {
			return screening.Reply{Text: strings.Repeat("\xff", 9000), Signature: "?"}, nil
		},
		"nothing": func(*harness, string) (screening.Reply, error) { return screening.Reply{}, nil },
	} {
		t.Run(name, func(t *testing.T) { screenedOnce(t, func(t *testing.T, r *harness) { r.wantNoPass(say) }) })
	}
}

func subjectOf(request string) string {
	q, _ := verdict.ParseRequest(request)
	return q.Subject.String()
}

func (r *harness) wantNoPass(say func(*harness, string) (screening.Reply, error)) {
	r.Step()
	d := r.paid(r.Wallet(0), 100_000)
	r.lists.say = func(q string) (screening.Reply, error) { return say(r, q) }
	r.screen()
	r.screen() // it is not time yet
	if len(r.lists.asked) != 1 {
		r.T.Fatalf("asked %d times at once, want 1", len(r.lists.asked))
	}
	r.wantAlarms()
	for range 3 {
		r.clock.Advance(time.Minute)
		r.screen()
		r.Step()
	}
	r.wantDeposit(d, bursar.DepositPending, 0)
	r.wantAlarms("screening_unanswered")
	if s := r.known(d.ID); s.Outcome != store.ScreeningWaiting || s.Error == "" || s.Attempts != 4 {
		r.T.Errorf("it is %s after %d questions because of %q, want waiting after 4 with a reason", s.Outcome, s.Attempts,
			s.Error)
	}
	r.lists.say = nil
	r.clock.Advance(time.Minute)
	r.screen()
	r.Step()
	r.wantAlarms()
	r.wantDeposit(d, bursar.DepositConfirmed, 99_000)
}

// The answer to a question that is not the last one any more, as of a replica that lost its lease and of one that hung,
// is not taken; no question is asked within a database transaction.
func TestAnAnswerIsTakenOnce(t *testing.T) {
	screened(t, func(t *testing.T, r *harness) {
		r.Step()
		d := r.paid(r.Wallet(0), 100_000)
		r.lists.say = func(q string) (screening.Reply, error) {
			r.lists.say = nil
			r.lists.verdict = verdict.Review
			r.clock.Advance(2 * time.Minute)
			r.screen() // another process asks meanwhile, and writes
			return signedBy(keyOf(1), answerTo(q, verdict.Pass, r.clock.Now())), nil
		}
		r.screen()
		r.Step()
		if s := r.known(d.ID); s.Outcome != store.ScreeningReview || len(r.lists.asked) != 2 {
			t.Errorf("it is %s after %d questions, want review after 2", s.Outcome, len(r.lists.asked))
		}
		r.wantDeposit(d, bursar.DepositPending, 0)
	})
}

// An operator who decides while a question is under way has decided.
func TestADecisionMeanwhileStands(t *testing.T) {
	screened(t, func(t *testing.T, r *harness) {
		r.Step()
		d := r.paid(r.Wallet(0), 100_000)
		r.lists.say = func(q string) (screening.Reply, error) {
			r.Must(r.decide(d.ID, false))
			return signedBy(keyOf(1), answerTo(q, verdict.Pass, r.clock.Now())), nil
		}
		r.screen()
		r.Step()
		r.WantBooks("100000", "0", "0")
		r.wantDeposit(d, bursar.DepositConfirmed, 0)
	})
}

// A process that ends between the question and the answer asks again.
func TestAQuestionIsAskedAgainAfterACrash(t *testing.T) {
	screened(t, func(t *testing.T, r *harness) {
		r.Step()
		d := r.paid(r.Wallet(0), 100_000)
		ending, end := context.WithCancel(ctx)
		r.lists.say = func(string) (screening.Reply, error) {
			end()
			return screening.Reply{}, errLost
		}
		if _, err := r.screener.Step(ending, r.Lease); !errors.Is(err, context.Canceled) {
			t.Fatalf("the step ended with %v, want %v", err, context.Canceled)
		}
		r.lists.say = nil
		r.Restart()
		r.begin()
		r.Step()
		r.wantDeposit(d, bursar.DepositPending, 0)
		r.clock.Advance(time.Minute)
		r.screen()
		r.Step()
		r.wantDeposit(d, bursar.DepositConfirmed, 99_000)
	})
}
