package outgoing_test

import (
	"context"
	"errors"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// The commit that stored the bytes of a signature is lost, and then the pass of what it pays expires: the bytes may be
// out, so it is no question any more, and nobody would ask it. It is signed again and pays once.
func TestWhatMayBeOutNeedsNoNewPass(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newHarness(t, db, bursartest.UTXOModel)
		r.Prepare()
		r.Settle()
		r.Sender.ScreenAgain = func(context.Context, *store.Tx, bursar.ID, string) error { return nil }
		w := r.Order(300_000_000, r.Chain.Named("outside"))
		r.Do(func(tx *store.Tx) error { return passes(tx, w, r.Chain.Capabilities().ID) })
		r.Sender.Screened = func(context.Context, *store.Tx, bursar.ID) ([]bursar.ID, string, error) {
			return nil, "", nil
		}
		d := &recordingMarks{Signer: r.Sender.Signer}
		r.Sender.Signer, r.Sender.Marks = d, journalOf{d}
		lost := errors.New("the connection broke")
		d.halt = func() {
			r.Sender.DB = r.DB.As(r.DB.Now, store.Hooks{Before: func(_ context.Context, at store.Point, _ string) error {
				if at == store.Committing {
					return lost
				}
				return nil
			}})
		}
		if err := r.Sender.Step(ctx, r.Lease); !errors.Is(err, lost) {
			t.Fatalf("the step ends with %v, want %v", err, lost)
		}
		r.Sender.DB, d.halt = r.DB, nil
		r.Sender.Screened = func(context.Context, *store.Tx, bursar.ID) ([]bursar.ID, string, error) {
			return []bursar.ID{w.AccountID}, "its pass has expired", nil
		}
		r.Trouble = true // that it waits is no error of the test
		r.Blocks(10)
		if got := r.Now(w); got.Status != bursar.WithdrawalConfirmed {
			t.Errorf("the withdrawal is %s, want %s", got.Status, bursar.WithdrawalConfirmed)
		}
	})
}

// passes notes a pass of a withdrawal, so that it is taken from the queue.
func passes(tx *store.Tx, w bursar.Withdrawal, chain bursar.ChainID) error {
	s := store.Screening{Subject: w.ID, Kind: store.ScreenPayout, Chain: chain, AccountID: w.AccountID, Request: "asked"}
	if err := tx.Screenings().Ask(ctx, s); err != nil {
		return err
	}
	s.Outcome, s.ExpiresAt = store.ScreeningPass, tx.Now().Add(1<<50)
	_, err := tx.Screenings().Answered(ctx, s)
	return err
}
