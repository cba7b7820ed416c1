package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// screenedDeposit is a deposit that is final, and the query by which it is credited.
type screenedDeposit struct {
	t     *testing.T
	db    *store.DB
	d     bursar.Deposit
	query store.CreditQuery
}

// newScreenedDeposit records a deposit.
func newScreenedDeposit(t *testing.T, db *store.DB) *screenedDeposit {
	t.Helper()
	x := &screenedDeposit{t: t, db: db, query: store.CreditQuery{Chain: bursar.Bitcoin,
		Currencies: []bursar.CurrencyCode{"BTC"}, Final: 10, Latest: 100, Recorded: 100, Limit: 10, Screened: true}}
	x.d = bursar.Deposit{
		ID:        bursar.ID{7, 1},
		Purpose:   bursar.ForUnattributed,
		Currency:  "BTC",
		Chain:     bursar.Bitcoin,
		TxID:      "a",
		Address:   bursar.Address{Base: "hot"},
		Amount:    bursar.Units(5),
		Height:    10,
		BlockHash: "h",
		SeenAt:    db.Now(),
	}
	do(t, db, func(tx *store.Tx) error {
		_, _, err := tx.Deposits().Record(ctx, store.NewDeposit{Deposit: x.d})
		return err
	})
	return x
}

func (x *screenedDeposit) asks(s store.Screening) {
	x.t.Helper()
	do(x.t, x.db, func(tx *store.Tx) error { return tx.Screenings().Ask(ctx, s) })
}

// sees compares how many deposits may be credited, and how many are to be asked about.
func (x *screenedDeposit) sees(what string, wantFinal, wantAsked int) {
	x.t.Helper()
	do(x.t, x.db, func(tx *store.Tx) error {
		final, err := tx.Deposits().Final(ctx, x.query)
		if err != nil {
			return err
		}
		asked, err := tx.Deposits().ToScreen(ctx, x.query)
		if len(final) != wantFinal || len(asked) != wantAsked {
			x.t.Errorf("%s: %d may be credited and %d are asked about, want %d and %d", what, len(final), len(asked), wantFinal,
				wantAsked)
		}
		return err
	})
}

// ownMoney is credited without screening.
func (x *screenedDeposit) ownMoney() {
	x.t.Helper()
	for i, purpose := range []bursar.DepositPurpose{bursar.ForOperatorFunds, bursar.ForCold, bursar.ForColdFunds,
		bursar.ForRefill} {
		own := x.d
		own.ID, own.Purpose, own.TxID, own.Height = bursar.ID{8, byte(i)}, purpose, string(purpose), 10
		do(x.t, x.db, func(tx *store.Tx) error {
			_, _, err := tx.Deposits().Record(ctx, store.NewDeposit{Deposit: own})
			return err
		})
		x.sees("with money of the operator's own, "+string(purpose), 1, 1)
		do(x.t, x.db, func(tx *store.Tx) error {
			own.Status = bursar.DepositPending
			return tx.Deposits().SetStatus(ctx, own, bursar.DepositConfirmed)
		})
	}
}

// screenings lets a deposit be credited and a withdrawal be paid by what is known about them, and takes each answer
// once.
func screenings(t *testing.T, db *store.DB) {
	x := newScreenedDeposit(t, db)
	x.sees("before it is asked about", 0, 1)
	x.ownMoney()
	s := store.Screening{Subject: x.d.ID, Kind: store.ScreenDeposit, Chain: x.d.Chain, Block: x.d.BlockHash,
		Request: "first", Attempts: 3, NextAt: db.Now().Add(time.Hour), Error: "down"}
	x.asks(s)
	x.sees("while it is asked about", 0, 0)
	opens(t, db, store.OpenScreenings{Unanswered: 1})
	answers(t, db, s, "another", store.ScreeningPass, db.Now().Add(time.Hour), false)
	answers(t, db, s, "first", store.ScreeningReview, db.Now().Add(time.Hour), true)
	answers(t, db, s, "first", store.ScreeningPass, db.Now().Add(time.Hour), false)
	x.sees("while it waits for an operator", 0, 0)
	x.query.Screened = false
	x.sees("once nothing is screened any more", 0, 0)
	x.query.Screened = true
	opens(t, db, store.OpenScreenings{Review: 1})
	do(t, db, func(tx *store.Tx) error {
		list, err := tx.Screenings().List(ctx, false, 10)
		if len(list) != 1 || list[0].Subject != x.d.ID || list[0].Answer != "answer" || list[0].List != "1" {
			t.Errorf("listed are %+v, want the deposit with its answer", list)
		}
		for _, want := range []bool{true, false} {
			if decided, err := tx.Screenings().Decide(ctx, x.d.ID, store.ScreeningReleased, "ann", "case 17"); err != nil ||
				decided != want {
				t.Errorf("decided: %t, %v, want %t", decided, err, want)
			}
		}
		return err
	})
	x.sees("once it is released", 1, 0)
	opens(t, db, store.OpenScreenings{})
	x.ends(s)
	screenedPayout(t, db)
}

// ends lets passes end with their block, their time, and what the signer says.
func (x *screenedDeposit) ends(s store.Screening) {
	t, db := x.t, x.db
	t.Helper()
	elsewhere := s
	elsewhere.Block = "another block"
	x.asks(elsewhere)
	answers(t, db, elsewhere, "first", store.ScreeningPass, db.Now().Add(time.Hour), true)
	x.sees("with a pass of another block", 0, 1)
	x.asks(s)
	answers(t, db, s, "first", store.ScreeningPass, db.Now(), true)
	x.sees("with a pass that has expired", 0, 1)
	x.asks(s)
	answers(t, db, s, "first", store.ScreeningPass, db.Now().Add(time.Hour), true)
	x.sees("once it passed", 1, 0)
	do(t, db, func(tx *store.Tx) error {
		return tx.Screenings().AskAgain(ctx, "refused", tx.Now().Add(time.Hour), x.d.ID)
	})
	x.sees("once its pass does not count", 0, 0)
}

// answers records an answer and compares whether it is taken.
func answers(t *testing.T, db *store.DB, s store.Screening, request string, outcome store.ScreeningOutcome,
	expires time.Time, want bool) {
	t.Helper()
	s.Request, s.Outcome, s.Answer, s.Signature, s.List = request, outcome, "answer", "signature", "1"
	s.ExpiresAt, s.DecidedAt, s.Error = expires, db.Now(), ""
	do(t, db, func(tx *store.Tx) error {
		taken, err := tx.Screenings().Answered(ctx, s)
		if taken != want {
			t.Errorf("an answer %s to %q is taken: %t, want %t", outcome, request, taken, want)
		}
		return err
	})
}

func opens(t *testing.T, db *store.DB, want store.OpenScreenings) {
	t.Helper()
	do(t, db, func(tx *store.Tx) error {
		open, err := tx.Screenings().Open(ctx, bursar.Bitcoin)
		if open != want {
			t.Errorf("open are %+v, want %+v", open, want)
		}
		return err
	})
}

// screenedPayout takes a withdrawal from the queue only once it passed.
func screenedPayout(t *testing.T, db *store.DB) {
	t.Helper()
	w := bursar.Withdrawal{ID: bursar.ID{9, 9}, AccountID: newAccount(t, db, 9), Currency: "BTC", Amount: bursar.Units(5),
		Address: bursar.Address{Base: "x"}, Status: bursar.WithdrawalQueued, CreatedAt: db.Now()}
	do(t, db, func(tx *store.Tx) error {
		if err := tx.Withdrawals().Insert(ctx, bursar.Bitcoin, w); err != nil {
			return err
		}
		d := bursar.Deposit{ID: bursar.ID{9, 8}, AccountID: w.AccountID, Currency: "BTC", Amount: bursar.Units(5)}
		return tx.Ledger().Post(ctx, ledger.DepositCredited(d, tx.Now()), ledger.WithdrawalHeld(w, tx.Now()))
	})
	codes := []bursar.CurrencyCode{"BTC"}
	sees := func(what string, wantQueued, wantAsked int, unscreened ...int) {
		t.Helper()
		do(t, db, func(tx *store.Tx) error {
			queued, err := tx.Withdrawals().Queued(ctx, bursar.Bitcoin, codes, true, 10)
			if err != nil {
				return err
			}
			any, err := tx.Withdrawals().AnyQueued(ctx, bursar.Bitcoin, codes, true)
			if err != nil {
				return err
			}
			plain, err := tx.Withdrawals().Queued(ctx, bursar.Bitcoin, codes, false, 10)
			if err != nil {
				return err
			}
			asked, err := tx.Withdrawals().ToScreen(ctx, bursar.Bitcoin, codes, 10)
			got := []int{len(queued), len(asked), len(plain)}
			if want := append([]int{wantQueued, wantAsked}, unscreened...); !slices.Equal(got, want) || any != (wantQueued > 0) {
				t.Errorf("%s: paid, asked about, and paid without screening are %v, any: %t, want %v", what, got, any, want)
			}
			return err
		})
	}
	sees("before it is asked about", 0, 1, 1)
	s := store.Screening{Subject: w.ID, Kind: store.ScreenPayout, Chain: bursar.Bitcoin, Request: "one",
		NextAt: db.Now().Add(time.Hour)}
	do(t, db, func(tx *store.Tx) error { return tx.Screenings().Ask(ctx, s) })
	sees("while it is asked about", 0, 0, 1)
	answers(t, db, s, "one", store.ScreeningReview, db.Now().Add(time.Hour), true)
	sees("while it waits for an operator", 0, 0, 0)
	do(t, db, func(tx *store.Tx) error { return tx.Screenings().Ask(ctx, s) })
	answers(t, db, s, "one", store.ScreeningPass, db.Now().Add(time.Hour), true)
	sees("once it passed", 1, 0, 1)
	do(t, db, func(tx *store.Tx) error { return tx.Screenings().AskAgain(ctx, "refused", tx.Now(), w.ID) })
	sees("once its pass does not count", 0, 1, 1)
}
