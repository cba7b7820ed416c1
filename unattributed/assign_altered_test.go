package unattributed_test

import (
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
	"github.com/bursar/bursar/unattributed"
)

// The attack: somebody raises the amount of an unattributed deposit in the database and has an operator resolve it.
// None of the resolutions is recorded.
func TestAnAlteredDepositIsNotResolved(t *testing.T) {
	t.Parallel()
	bursartest.On(t, bursartest.Numbered, func(t *testing.T, r *bursartest.OneChain) {
		d, to := r.Astray(), r.Wallet(1)
		r.Forged = true
		driver, source := "pgx", storetest.AsOwner(storetest.URL(r.DB))
		if file, is := strings.CutPrefix(source, "sqlite:"); is {
			driver, source = "sqlite", "file:"+file+"?_pragma=busy_timeout(30000)"
		}
		raw, err := sql.Open(driver, source)
		r.Must(err)
		defer raw.Close()
		changed, err := raw.ExecContext(ctx, `UPDATE deposits SET amount = '90000000' WHERE tx_id = '`+d.TxID+`'`)
		r.Must(err)
		if n, err := changed.RowsAffected(); err != nil || n != 1 {
			t.Fatalf("the attack changes %d rows: %v, want 1", n, err)
		}
		_, keep := r.Unattributed().Keep(ctx, d.ID, "capital")
		_, assign := r.Unattributed().AssignToWallet(ctx, d.ID, to.ID, "")
		_, refund := r.Unattributed().Refund(ctx, unattributed.RefundRequest{Deposit: d.ID, To: r.Chain.Named("thief")})
		for name, err := range map[string]error{"keep": keep, "assign": assign, "refund": refund} {
			if !errors.Is(err, store.ErrAltered) {
				t.Errorf("%s gives %v, want %v", name, err, store.ErrAltered)
			}
		}
		if n := r.Resolution(d); n.ID != (bursar.ID{}) {
			t.Errorf("recorded is %+v, want no resolution", n)
		}
	})
}
