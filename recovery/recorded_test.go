package recovery_test

import (
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
	"github.com/bursar/bursar/withdrawal"
)

// redirect changes the destination of every withdrawal to an address in the database, as its owner could.
func redirect(r *bursartest.OneChain, from, to string) {
	r.T.Helper()
	driver, source := "pgx", storetest.AsOwner(storetest.URL(r.DB))
	if file, is := strings.CutPrefix(source, "sqlite:"); is {
		driver, source = "sqlite", "file:"+file+"?_pragma=busy_timeout(30000)"
	}
	raw, err := sql.Open(driver, source)
	r.Must(err)
	defer raw.Close()
	_, err = raw.ExecContext(ctx, `UPDATE withdrawals SET base = $2 WHERE base = $1`, from, to)
	r.Must(err)
}

// A backup is restored in which somebody has changed the destination of a withdrawal that a forgotten transaction has
// paid. An operator cannot say that the transaction paid nobody: once the row is mended, the withdrawal would be paid
// again. Nor is the altered row said to be paid, and nothing goes to its destination.
func TestTheJournalKnowsWhatAForgottenTransactionPaid(t *testing.T) {
	bursartest.OnModels(t, func(t *testing.T, r *bursartest.OneChain) {
		r.Forged = true
		file := filepath.Join(t.TempDir(), "seed.marks")
		r.Guarded(file)
		r.Prepare()
		r.Settle()
		w := r.Order(300_000_000, r.Chain.Named("receiver"))
		redirect(r, w.Address.Base, r.Chain.Named("attacker"))
		before := r.Backup()
		redirect(r, r.Chain.Named("attacker"), w.Address.Base)
		r.Step()
		if r.Now(w).TxID == "" {
			t.Fatal("nothing was sent")
		}
		r.Chain.Mine(1)
		r.Revive(before, file)
		r.Trouble = true // an altered row is not paid
		halt := store.Halt{Scope: store.HaltAll, Kind: store.HaltByOperator, Reason: "the books contradict themselves"}
		r.Do(func(tx *store.Tx) error { return tx.Halts().Put(ctx, halt) })
		for range 3 {
			r.Step()
		}
		unclear := r.Unclear()
		if len(unclear) != 1 {
			t.Fatalf("unclear is %+v, want the payment", unclear)
		}
		answer := recovery.Answer{Item: unclear[0].Number, Rest: store.UsedUpAsLoss, Actor: "ann"}
		if err := r.Resolve(answer); !errors.Is(err, recovery.ErrUnfit) || !strings.Contains(err.Error(),
			"the journal says that it pays withdrawal "+w.ID.String()) {
			t.Errorf("the answer that it paid nobody gives %v, want %v and what the journal says", err, recovery.ErrUnfit)
		}
		answer.Withdrawals, answer.Note = []bursar.ID{w.ID}, "as the journal says"
		if err := r.Resolve(answer); !errors.Is(err, store.ErrAltered) {
			t.Errorf("to name the altered row gives %v, want %v", err, store.ErrAltered)
		}
		r.Do(func(tx *store.Tx) error {
			_, err := tx.Halts().Lift(ctx, store.HaltAll, store.HaltByOperator, "")
			return err
		})
		for range 6 {
			r.Step()
			r.Chain.Mine(1)
		}
		if paid := r.Chain.Balance(w.Address.Base, ""); paid != w.Amount {
			t.Errorf("the receiver holds %s, want %s", paid, w.Amount)
		}
		if stolen := r.Chain.Balance(r.Chain.Named("attacker"), ""); !stolen.IsZero() {
			t.Errorf("the attacker holds %s, want 0", stolen)
		}
	})
}

// A token moved nothing in the block that has a forgotten payment, and the older database took it for one that pays
// nobody. The journal says whom it was to pay: that withdrawal is refunded, as it is where the database knew it, and
// not taken for paid.
func TestAForgottenPaymentThatMovedNothingIsRefunded(t *testing.T) {
	bursartest.On(t, bursartest.Numbered, func(t *testing.T, r *bursartest.OneChain) {
		file := filepath.Join(t.TempDir(), "seed.marks")
		token := r.WithToken()
		r.Guarded(file)
		r.Step()
		r.Pay(bursar.Address{Base: r.Hot.Base}, 900_000_000)
		for _, to := range []bursar.Address{r.WalletOf(0, token.Code).Address, {Base: r.Hot.Base}} {
			r.Chain.Pay(chain.Payment{Address: to, Contract: token.Contract, Amount: bursar.Units(80_000_000)})
		}
		r.Chain.Mine(5)
		r.Settle()
		w, err := r.Withdrawals.Request(ctx, withdrawal.Request{Account: r.Accounts[0], Currency: token.Code, Amount: "10",
			Address: r.Chain.Named("receiver")})
		r.Must(err)
		before := r.Backup()
		r.Step()
		if r.Now(w).TxID == "" {
			t.Fatal("nothing was sent")
		}
		r.Chain.SetManners(token.Contract, sim.Manners{False: true})
		r.Chain.Mine(1)
		r.Chain.SetManners(token.Contract, sim.Manners{})
		r.Revive(before, file)
		for range 3 {
			r.Step()
		}
		r.Settle()
		paid := r.Chain.Balance(r.Chain.Named("receiver"), token.Contract)
		if now := r.Now(w); now.Status == bursar.WithdrawalConfirmed || !paid.IsZero() {
			t.Errorf("the withdrawal is %s, and its receiver holds %s, want it refunded and 0", now.Status, paid)
		}
		r.Must(r.Reconcile())
	})
}
