package outgoing_test

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// scatter credits an account with many deposits of the same amount.
func (r *harness) scatter(n int, units uint64) {
	r.T.Helper()
	r.Step()
	to := r.Wallet(0).Address
	for range n {
		r.Pay(to, units)
	}
	for range 4 {
		r.Chain.Mine(1)
		r.Step()
	}
}

func (r *harness) utxos() (n int) {
	r.T.Helper()
	r.View(func(tx *store.Tx) (err error) {
		n, err = tx.UTXOs().Count(ctx, r.Chain.Capabilities().ID, 1<<40, 1<<20)
		return err
	})
	return n
}

// A withdrawal that needs more UTXOs than one transaction may use is paid: as many as needed are consolidated first.
func TestALargeWithdrawalOfManySmallDepositsIsPaid(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		n := 5000
		if r.DB.Postgres() || testing.Short() {
			n = 1500 // the same way, in less time
		}
		r.Sender.ConsolidateAbove = 1 << 20
		r.scatter(n, 200_000)
		before, to := r.Available(0), r.Chain.Named("outside")
		w := r.Order(uint64(n)*200_000*9/10, to)
		r.Settle()
		r.Ends(w, to, bursar.WithdrawalConfirmed, before)
	})
}

// While fees are low, many UTXOs are consolidated without a request; while fees are not low, nothing is spent on that.
func TestUTXOsAreConsolidatedWhileFeesAreLow(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		r.Sender.ConsolidateAbove = 100
		r.Chain.SetRate(40)
		r.scatter(300, 200_000)
		for range 5 {
			r.Chain.Mine(1)
			r.Step()
		}
		if got := r.utxos(); got != 300 {
			t.Fatalf("at a high fee %d UTXOs of 300 are left, want 300", got)
		}
		r.Chain.SetRate(10)
		for range 8 {
			r.Chain.Mine(1)
			r.Step()
		}
		if got := r.utxos(); got >= 100 {
			t.Errorf("at a low fee %d UTXOs of 300 are left, want less than 100", got)
		}
		r.Must(r.Audit())
		r.NothingOpen()
	})
}

// While a payment waits for UTXOs that are not worth their fee, one consolidation is tried per block, and no more,
// because each is a row.
func TestConsolidationsInVainArePaced(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		r.Sender.ConsolidateAbove = 1 << 20
		r.scatter(600, 200_000)
		r.Order(600*200_000*9/10, r.Chain.Named("outside"))
		r.Sender.MaxFee = bursar.Units(1) // nothing can be made one for that
		r.Trouble = true
		for range 3 {
			r.Step()
		}
		before := r.rows()
		if before != 2 {
			t.Fatalf("%d rows besides the withdrawal's and the first try's, want 2", before-2)
		}
		for range 10 {
			r.Step()
		}
		if got := r.rows(); got != before {
			t.Errorf("in one block %d rows became %d", before, got)
		}
		for range 3 {
			r.Chain.Mine(1)
			r.Step()
			r.Step()
		}
		if got := r.rows(); got != before+3 {
			t.Errorf("in three blocks %d rows became %d, want %d", before, got, before+3)
		}
		if n := len(r.consolidations()); n != 0 {
			t.Errorf("%d that came to nothing are open, want 0", n)
		}
	})
}

// rows counts all outgoing transactions, open or ended.
func (r *harness) rows() (n int) {
	r.T.Helper()
	driver, source := "pgx", storetest.AsOwner(storetest.URL(r.DB))
	if file, is := strings.CutPrefix(source, "sqlite:"); is {
		driver, source = "sqlite", "file:"+file+"?_pragma=busy_timeout(30000)"
	}
	raw, err := sql.Open(driver, source)
	r.Must(err)
	defer raw.Close()
	r.Must(raw.QueryRow(`SELECT COUNT(*) FROM outgoing_txs`).Scan(&n))
	return n
}
