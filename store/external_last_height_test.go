package store_test

import (
	"errors"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// putLast records an external spend with a last height, as a block shows it.
func putLast(t *testing.T, db *store.DB, txID string, last uint64) {
	t.Helper()
	err := db.Do(ctx, func(tx *store.Tx) error {
		return tx.ExternalSpends().Put(ctx, store.ExternalSpend{Chain: bursar.XRPL, TxID: txID, Base: "hot", Height: 7,
			Reservations: []byte("[]"), Payments: []byte("[]"), Status: store.ExternalUnclear, LastHeight: last})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// wantLast checks which last height of an external spend counts, and that any is refused if altered.
func wantLast(t *testing.T, db *store.DB, why, txID string, want uint64, altered bool) {
	t.Helper()
	err := db.View(ctx, func(tx *store.Tx) error {
		x, err := tx.ExternalSpends().ByTx(ctx, bursar.XRPL, txID)
		if err != nil {
			return err
		}
		last, err := tx.ExternalSpends().LastHeight(x)
		if last != want || errors.Is(err, store.ErrAltered) != altered {
			t.Errorf("%s: the last height is %d (%v), want %d, altered %v", why, last, err, want, altered)
		}
		if altered {
			return nil
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// What a block last showed counts, one that shows nothing changes nothing, and a row of an earlier release has none.
func TestTheLastHeightOfAnExternalSpendIsWhatABlockShowed(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		db.SealWith([]byte("the key of the books"))
		putLast(t, db, "aa", 0)
		wantLast(t, db, "it names none", "aa", 0, false)
		putLast(t, db, "aa", 90)
		wantLast(t, db, "a block shows it", "aa", 90, false)
		putLast(t, db, "aa", 0)
		wantLast(t, db, "a block does not show it", "aa", 90, false)
		putLast(t, db, "aa", 1<<32-1)
		wantLast(t, db, "the highest there can be", "aa", 1<<32-1, false)
		edited(t, db, `UPDATE external_spends SET last_height = 0, last_height_seal = NULL`)
		wantLast(t, db, "a row of an earlier release", "aa", 0, false)
	})
}

// A last height that somebody without the key of the books wrote counts for nothing, also with the seal of another
// transaction or of another height. A process without that key knows none.
func TestALastHeightIsSealed(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		putLast(t, db, "of no key", 5)
		wantLast(t, db, "without any key", "of no key", 5, false)
		keyless := db.As(db.Now, store.Hooks{})
		db.SealWith([]byte("the key of the books"))
		wantLast(t, db, "from before there was a key", "of no key", 0, true)
		putLast(t, db, "old", 5)
		wantLast(t, keyless, "in a process without the key", "old", 0, false)
		for why, edit := range map[string]string{
			"a lower one":          `UPDATE external_spends SET last_height = 5 WHERE tx_id = 'new'`,
			"without a seal":       `UPDATE external_spends SET last_height = 5, last_height_seal = NULL WHERE tx_id = 'new'`,
			"the seal of no key":   seals(`of no key`),
			"the seal of another":  seals(`old`),
			"another height of it": `UPDATE external_spends SET last_height = 89 WHERE tx_id = 'new'`,
		} {
			putLast(t, db, "new", 90)
			edited(t, db, edit)
			wantLast(t, db, why, "new", 0, true)
		}
	})
}

// seals is an edit that gives one external spend the last height of another one with its seal.
func seals(of string) string {
	return `UPDATE external_spends SET last_height = 5, last_height_seal = (SELECT o.last_height_seal
		FROM external_spends o WHERE o.tx_id = '` + of + `') WHERE tx_id = 'new'`
}

func edited(t *testing.T, db *store.DB, edit string) {
	t.Helper()
	if err := db.Do(ctx, func(tx *store.Tx) error { return tx.Run(ctx, edit) }); err != nil {
		t.Fatal(err)
	}
}
