package screening_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/screening"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/verdict"
)

func TestAPayoutIsPaidOnceItPasses(t *testing.T) {
	screened(t, func(t *testing.T, r *harness) {
		before := r.funded()
		to := r.Chain.Named("payee")
		w := r.Order(50_000, to)
		r.Blocks(3)
		if now := r.Now(w); now.Status != bursar.WithdrawalQueued || !now.OutgoingID.IsZero() {
			t.Errorf("before it passes it is %s, want queued", now.Status)
		}
		r.screen()
		r.Blocks(8)
		r.Ends(w, to, bursar.WithdrawalConfirmed, before)
		request, err := verdict.ParseRequest(r.lists.asked[len(r.lists.asked)-1])
		is, _ := screening.OfPayout(r.Registry, w, bursar.ID{})
		if err != nil || !request.Same(is) {
			t.Errorf("asked about %+v, %v, want %+v", request, err, is)
		}
	})
}

func TestARejectedPayoutIsRefundedOnce(t *testing.T) {
	screened(t, func(t *testing.T, r *harness) {
		before := r.funded()
		to := r.Chain.Named("payee")
		w := r.Order(50_000, to)
		r.lists.verdict = verdict.Reject
		r.screen()
		r.screen()
		r.Restart()
		r.begin()
		r.Blocks(4)
		r.screen()
		r.Ends(w, to, bursar.WithdrawalRejected, before)
		if now := r.Now(w); now.Error == "" || now.CompletedAt.IsZero() {
			t.Errorf("it ended at %s because of %q, want a time and a reason", now.CompletedAt, now.Error)
		}
		r.wantAlarms()
	})
}

func TestAReviewedPayoutWaitsForAnOperator(t *testing.T) {
	for _, release := range []bool{true, false} {
		t.Run(map[bool]string{true: "released", false: "rejected"}[release], func(t *testing.T) {
			screened(t, func(t *testing.T, r *harness) {
				before := r.funded()
				to := r.Chain.Named("payee")
				w := r.Order(50_000, to)
				r.lists.verdict = verdict.Review
				r.screen()
				r.lists.verdict = verdict.Pass
				r.clock.Advance(48 * time.Hour)
				r.screen()
				r.end()
				r.Blocks(4)
				r.wantAlarms("screening_review")
				if now := r.Now(w); now.Status != bursar.WithdrawalQueued {
					t.Errorf("without a decision it is %s, want queued", now.Status)
				}
				r.begin()
				r.Must(r.decide(w.ID, release))
				r.wantAlarms()
				r.Blocks(8)
				status := bursar.WithdrawalRejected
				if release {
					status = bursar.WithdrawalConfirmed
				}
				r.Ends(w, to, status, before)
			})
		})
	}
}

// A payout whose pass expires while it waits is requeued and asked about again.
func TestAPassExpires(t *testing.T) {
	screened(t, func(t *testing.T, r *harness) {
		before := r.funded()
		to := r.Chain.Named("payee")
		w := r.Order(50_000, to)
		r.screen()
		r.Trouble = true
		r.Chain.Fail(sim.Build, 1, nil)
		r.Step() // it has an outgoing transaction, which cannot be built
		r.Chain.ClearFaults()
		r.Trouble = false
		if now := r.Now(w); now.OutgoingID.IsZero() {
			t.Fatal("it has no outgoing transaction, want one")
		}
		r.clock.Advance(2 * time.Hour)
		r.Blocks(4)
		if now := r.Now(w); now.Status != bursar.WithdrawalQueued || !now.OutgoingID.IsZero() {
			t.Errorf("with an expired pass it is %s, want queued without an outgoing transaction", now.Status)
		}
		asked := len(r.lists.asked)
		r.screen()
		if len(r.lists.asked) != asked+1 {
			t.Errorf("asked %d times more, want once", len(r.lists.asked)-asked)
		}
		r.Blocks(8)
		r.Ends(w, to, bursar.WithdrawalConfirmed, before)
	})
}

// The gate believes no row: what somebody wrote into the database as passed is not signed.
func TestTheGateVerifiesTheAnswer(t *testing.T) {
	for name, forge := range map[string]func(r *harness, s *store.Screening){
		"without an answer": func(_ *harness, s *store.Screening) { s.Answer, s.Signature = "", "" },
		"of another key": func(r *harness, s *store.Screening) {
			reply := signedBy(keyOf(2), answerTo(s.Request, verdict.Pass, r.clock.Now()))
			s.Answer, s.Signature = reply.Text, reply.Signature
		},
		"of a rejection": func(r *harness, s *store.Screening) {
			reply := signedBy(keyOf(1), answerTo(s.Request, verdict.Reject, r.clock.Now()))
			s.Answer, s.Signature = reply.Text, reply.Signature
		},
		"of another payment": func(r *harness, s *store.Screening) {
			q, err := verdict.ParseRequest(s.Request)
			r.Must(err)
			q.Address.Base = "elsewhere"
			s.Request = q.Text()
			reply := signedBy(keyOf(1), answerTo(s.Request, verdict.Pass, r.clock.Now()))
			s.Answer, s.Signature = reply.Text, reply.Signature
		},
		"that expired": func(r *harness, s *store.Screening) {
			reply := signedBy(keyOf(1), answerTo(s.Request, verdict.Pass, r.clock.Now().Add(-2*time.Hour)))
			s.Answer, s.Signature = reply.Text, reply.Signature
		},
	} {
		t.Run(name, func(t *testing.T) {
			screenedOnce(t, func(t *testing.T, r *harness) {
				r.funded()
				to := r.Chain.Named("payee")
				w := r.Order(50_000, to)
				r.lists.say = func(string) (screening.Reply, error) { return screening.Reply{}, errLost }
				r.screen()
				s := r.known(w.ID)
				forge(r, &s)
				r.Do(func(tx *store.Tx) error {
					if err := tx.Screenings().Ask(ctx, s); err != nil { // under the request that it was forged for
						return err
					}
					s.Outcome, s.ExpiresAt = store.ScreeningPass, tx.Now().Add(time.Hour)
					_, err := tx.Screenings().Answered(ctx, s)
					return err
				})
				r.Trouble = true
				r.Blocks(4)
				if got := r.Chain.Balance(to, ""); !got.IsZero() {
					t.Errorf("%s was paid, want 0", got)
				}
			})
		})
	}
}

// What ends had been refunded before, which a reorg undid: its account was frozen for what it owed, and owes nothing
// once the withdrawal is refunded again.
func TestARefundEndsTheFreezeForTheOneBefore(t *testing.T) {
	for name, end := range map[string]func(r *harness, id bursar.ID) error{
		"rejected after screening": func(r *harness, id bursar.ID) error { return r.decide(id, false) },
		"cancelled": func(r *harness, id bursar.ID) error {
			_, err := r.Withdrawals.Cancel(ctx, id)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			screenedOnce(t, func(t *testing.T, r *harness) {
				r.funded()
				w := r.Order(50_000, r.Chain.Named("payee"))
				r.lists.verdict = verdict.Review
				r.screen()
				frozen := store.HaltAccount(w.AccountID)
				r.Do(func(tx *store.Tx) error {
					return errors.Join(tx.Ledger().Post(ctx, ledger.WithdrawalRefunded(w, 0, tx.Now())),
						tx.Ledger().Post(ctx, ledger.WithdrawalUnsettled(w, 1, tx.Now())),
						tx.Halts().Put(ctx, store.Halt{Scope: frozen, Kind: store.HaltByRefundReversal, Ref: w.ID.String(),
							Reason: bursar.FrozenByRefundReversal}))
				})
				r.Must(end(r, w.ID))
				r.View(func(tx *store.Tx) error {
					left, err := tx.Halts().Of(ctx, frozen)
					if len(left) > 0 {
						t.Errorf("the account is frozen by %v, want no freeze", left)
					}
					return err
				})
			})
		})
	}
}

// A signer that takes no pass, as one with another key, is asked ever more rarely: each time leaves an outgoing
// transaction that paid nothing.
func TestARefusedPassIsAskedForEverMoreRarely(t *testing.T) {
	screenedOnce(t, func(t *testing.T, r *harness) {
		before := r.funded()
		to := r.Chain.Named("payee")
		signs, refused := r.Sender.Signer, 0
		r.Sender.Signer = bursartest.SignerFunc(func(_ context.Context, id bursar.ChainID, q chain.TxRequest,
			_ chain.UnsignedTx) (chain.SignedTx, error) {
			refused++
			return chain.SignedTx{}, &signer.RefusalError{Chain: id, OutgoingID: q.ID, Reason: signer.ReasonScreened}
		})
		w := r.Order(50_000, to)
		r.Trouble = true
		var pauses []time.Duration
		for range 12 {
			r.screen()
			r.Step()
			pauses = append(pauses, r.known(w.ID).NextAt.Sub(r.clock.Now()))
			r.clock.Advance(pauses[len(pauses)-1])
			r.Step() // the withdrawal is queued again
		}
		if pauses[0] != 4*time.Second || pauses[4] != 64*time.Second || pauses[11] != 15*time.Minute || refused != 12 {
			t.Errorf("refused %d times, with pauses of %v, want 12 times, and pauses that double up to 15m", refused, pauses)
		}
		r.Sender.Signer, r.Trouble = signs, false
		r.screen()
		r.Blocks(8)
		r.Ends(w, to, bursar.WithdrawalConfirmed, before)
	})
}

// A withdrawal that is cancelled while it waits is refunded once, and its alarm closes.
func TestACancelledPayoutWaitsForNothing(t *testing.T) {
	screened(t, func(t *testing.T, r *harness) {
		before := r.funded()
		to := r.Chain.Named("payee")
		w := r.Order(50_000, to)
		r.lists.verdict = verdict.Review
		r.screen()
		_, err := r.Withdrawals.Cancel(ctx, w.ID)
		r.Must(err)
		r.screen()
		r.wantAlarms()
		if err := r.decide(w.ID, false); err == nil {
			t.Error("a cancelled withdrawal was rejected, want an error")
		}
		r.Blocks(8)
		r.Ends(w, to, bursar.WithdrawalCancelled, before)
	})
}
