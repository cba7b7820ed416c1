package store_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

var forgotten = store.ForgottenPayment{Chain: bursar.Bitcoin, Number: 3, OutgoingID: bursar.ID{7},
	Content: []byte(`{"kind":"withdrawal"}`), Sure: true}

// reads returns what a database says of the forgotten payment: whether it was dealt with, as what, and whether it waits
// as this service wrote it.
func reads(t *testing.T, db *store.DB) (left bool, as bursar.ID, waits bool) {
	t.Helper()
	err := db.View(ctx, func(tx *store.Tx) (err error) {
		if left, as, err = tx.ForgottenPayments().Left(ctx, forgotten.Chain, forgotten.Number); err != nil {
			return err
		}
		list, err := tx.ForgottenPayments().List(ctx, forgotten.Chain, 10)
		waits = len(list) == 1 && !list[0].Altered
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return left, as, waits
}

// A row about a forgotten payment that was not put back does not count as put back, and one that was put back as
// another transaction does not count as given up, if somebody who can only write to the database writes back what it
// had before, with the seal of then.
func TestASealSaysWhetherAForgottenPaymentWasPutBack(t *testing.T) {
	const flip, keep = `UPDATE forgotten_payments SET put_back_at = 5`,
		`UPDATE forgotten_payments SET known_as = NULL, seal = $1`
	known := forgotten
	known.KnownAs = bursar.ID{9}
	for name, tc := range map[string]struct {
		putBack    *store.ForgottenPayment
		attack     string
		withSeal   bool // that it had when it was noted
		left, wait bool
		as         bursar.ID
	}{
		"it waits":                         {wait: true},
		"it is put back":                   {putBack: &forgotten, left: true},
		"it is put back as another":        {putBack: &known, left: true, as: known.KnownAs},
		"flipped to put back":              {attack: flip},
		"its earlier seal, put back":       {putBack: &known, attack: keep, withSeal: true},
		"its earlier seal alone":           {putBack: &forgotten, attack: keep, withSeal: true},
		"put back, and flipped to waiting": {putBack: &forgotten, attack: `UPDATE forgotten_payments SET put_back_at = 0`},
		"all that it had before, which waits": {putBack: &known, withSeal: true, wait: true,
			attack: keep + `, put_back_at = 0`},
	} {
		t.Run(name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, db *store.DB) {
				db.SealWith([]byte("the key of the books"))
				do := func(f func(*store.Tx) error) {
					t.Helper()
					if err := db.Do(ctx, f); err != nil {
						t.Fatal(err)
					}
				}
				var seal []byte
				do(func(tx *store.Tx) error { return tx.ForgottenPayments().Note(ctx, forgotten) })
				do(func(tx *store.Tx) error { return tx.Ask(ctx, &seal, `SELECT seal FROM forgotten_payments`) })
				if tc.putBack != nil {
					do(func(tx *store.Tx) error { return tx.ForgottenPayments().PutBack(ctx, *tc.putBack) })
				}
				if tc.attack != "" {
					var args []any
					if tc.withSeal {
						args = []any{seal}
					}
					do(func(tx *store.Tx) error { return tx.Run(ctx, tc.attack, args...) })
				}
				if left, as, waits := reads(t, db); left != tc.left || as != tc.as || waits != tc.wait {
					t.Errorf("dealt with is %v as %s, waiting %v, want %v as %s, and %v", left, as, waits, tc.left, tc.as, tc.wait)
				}
			})
		})
	}
}

// The seal of an earlier release did not say whether the payment was put back. A row that waits is put back, which
// harms nothing if it was; one that became another transaction was put back for certain; of any other one nobody knows.
func TestAForgottenPaymentOfAnEarlierRelease(t *testing.T) {
	known := forgotten
	known.KnownAs = bursar.ID{9}
	for name, tc := range map[string]struct {
		sealed     store.ForgottenPayment
		putBack    bool
		left, wait bool
		as         bursar.ID
	}{
		"it waits":                  {sealed: forgotten, wait: true},
		"it is put back":            {sealed: forgotten, putBack: true},
		"it is put back as another": {sealed: known, putBack: true, left: true, as: known.KnownAs},
	} {
		t.Run(name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, db *store.DB) {
				db.SealWith([]byte("the key of the books"))
				err := db.Do(ctx, func(tx *store.Tx) error {
					if err := tx.ForgottenPayments().Note(ctx, forgotten); err != nil {
						return err
					}
					if tc.putBack {
						if err := tx.ForgottenPayments().PutBack(ctx, tc.sealed); err != nil {
							return err
						}
					}
					return tx.Run(ctx, `UPDATE forgotten_payments SET seal = $1`, tx.SealForgottenEarlier(tc.sealed))
				})
				if err != nil {
					t.Fatal(err)
				}
				if left, as, waits := reads(t, db); left != tc.left || as != tc.as || waits != tc.wait {
					t.Errorf("dealt with is %v as %s, waiting %v, want %v as %s, and %v", left, as, waits, tc.left, tc.as, tc.wait)
				}
			})
		})
	}
}

// What an earlier release sealed does not prove whether it was given up. It is put back only for payments that the
// database knows and nothing else makes: it does not count as sure, and its seal then says so.
func TestAnEarlierSealProvesNothingAboutOtherPayments(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		db.SealWith([]byte("the key of the books"))
		err := db.Do(ctx, func(tx *store.Tx) error {
			if err := tx.ForgottenPayments().Note(ctx, forgotten); err != nil {
				return err
			}
			list, err := tx.ForgottenPayments().List(ctx, forgotten.Chain, 10)
			if err != nil || len(list) != 1 || !list[0].Sure {
				t.Errorf("listed are %+v, %v, want one that is sure", list, err)
			}
			if err := tx.Run(ctx, `UPDATE forgotten_payments SET seal = $1`, tx.SealForgottenEarlier(forgotten)); err != nil {
				return err
			}
			list, err = tx.ForgottenPayments().List(ctx, forgotten.Chain, 10)
			if err != nil || len(list) != 1 || list[0].Sure || list[0].Altered {
				t.Errorf("with an earlier seal listed are %+v, %v, want one that is not sure", list, err)
			}
			return tx.ForgottenPayments().PutBack(ctx, list[0])
		})
		if err != nil {
			t.Fatal(err)
		}
		if left, _, _ := reads(t, db); !left {
			t.Error("it was not dealt with")
		}
	})
}
