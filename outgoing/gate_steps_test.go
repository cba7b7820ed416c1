package outgoing_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/audit"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/store"
)

// sentOnly is a chain that counts what is sent, whatever it is asked to build.
func (r *harness) sentOnly() *asked {
	node := &asked{Chain: r.Chain}
	r.Sender.Chain = node
	return node
}

// A freeze that begins before a payment is signed – before it is built, while it waits for the signer, or while it is
// signed – requeues it, and the signature is discarded. Another account's payment in the same batch is made without it.
func TestAFreezeBeforeASignatureRequeuesThePayment(t *testing.T) {
	for _, begins := range []string{"new", "reserved", "signing"} {
		t.Run(begins, func(t *testing.T) {
			both(t, func(t *testing.T, r *harness) {
				r.Fund()
				r.Pay(r.Wallet(1).Address, 900_000_000)
				r.Settle()
				frozen := r.Order(50_000_000, r.Chain.Named("frozen"))
				other, err := r.Withdraw(1, 50_000_000, r.Chain.Named("other"))
				r.Must(err)
				node := r.sentOnly()
				r.Trouble = true
				freeze := func() { r.Halt(r.FreezeOf(0)) }
				switch begins {
				case "new":
					r.Chain.Fail(sim.Build, 2, nil)
					r.Step()
				case "reserved":
					r.withoutSigner(r.Step)
				case "signing":
					once := false
					r.Sender.Signer = busy{r.Signer, func() {
						if !once {
							once = true
							freeze()
						}
					}}
					r.Step()
					r.Sender.Signer = r.Signer
				}
				if begins != "signing" {
					freeze()
				}
				r.Step()
				if now := r.Now(frozen); now.Status != bursar.WithdrawalQueued || !now.OutgoingID.IsZero() || now.TxID != "" {
					t.Errorf("the frozen account's is %s by %q, want %v and zero and %q", now.Status, now.TxID,
						bursar.WithdrawalQueued, "")
				}
				r.Blocks(6)
				if got := r.Chain.Balance(r.Chain.Named("frozen"), ""); !got.IsZero() {
					t.Errorf("%s was paid during the freeze, want 0", got)
				}
				if now := r.Now(other); now.Status != bursar.WithdrawalConfirmed || node.sent == 0 {
					t.Errorf("the other account's is %s, want %v and not 0", now.Status, bursar.WithdrawalConfirmed)
				}
				r.WantAlarms()
				r.Trouble = false
				r.Resume(r.FreezeOf(0))
				r.Settle()
				r.Must(r.Audit())
			})
		})
	}
}

// Signed bytes that are held end like any others if their UTXO has been reorged out for good. Until then they are not
// sent, and the reason is recorded.
func TestHeldBytesEndWhenTheirUTXOIsLost(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		r.Step()
		r.Pay(bursar.Address{Base: r.Hot.Base}, 700_000_000)
		r.Pay(r.Wallet(0).Address, 300_000_000)
		r.Chain.Mine(3)
		r.Step()
		deposit := r.Pay(r.Wallet(1).Address, 900_000_000)
		r.Chain.Mine(3)
		r.Step()
		w := r.Order(200_000_000, r.Chain.Named("outside"))
		r.Chain.FailBroadcasts(sim.LostUnknown, 1)
		r.Trouble = true
		r.Step()
		first := r.Now(w)
		if first.Status != bursar.WithdrawalSigned {
			t.Fatalf("the withdrawal is %s, want %s", first.Status, bursar.WithdrawalSigned)
		}
		halt := byAnn(store.HaltCurrency("COIN"))
		r.Halt(halt)
		r.Chain.Reorg(3, deposit)
		r.Chain.DoubleSpend(deposit)
		node := r.sentOnly()
		r.Blocks(1)
		if text := r.errors(); !strings.Contains(text, "a drill") || r.Now(w).OutgoingID != first.OutgoingID {
			t.Errorf("while the other transaction is not final its error is %q", text)
		}
		for range 8 {
			r.Blocks(1)
			if p := r.spendNow(first.OutgoingID); p.Status == bursar.OutgoingAbandoned && !strings.Contains(p.Error, "a drill") {
				t.Errorf("given up its error is %q", p.Error)
			}
		}
		if now := r.Now(w); now.Status != bursar.WithdrawalQueued || now.TxID != "" || node.sent != 0 {
			t.Errorf("the withdrawal is %s by %q, and %d transactions were sent during the halt, want %s, \"\" and 0",
				now.Status, now.TxID, node.sent, bursar.WithdrawalQueued)
		}
		r.NothingOpen()
		for range 3 {
			r.Step()
		}
		if now := r.Now(w); !now.OutgoingID.IsZero() {
			t.Error("it was assigned again during the halt")
		}
		r.Resume(halt)
		r.Blocks(8)
		if now := r.Now(w); now.Status != bursar.WithdrawalConfirmed {
			t.Errorf("after the halt the withdrawal is %s, want %s", now.Status, bursar.WithdrawalConfirmed)
		}
	})
}

// Held bytes that have expired are not sent, and while no node knows whether they have, both reasons are recorded.
func TestHeldBytesThatExpiredAreNotSent(t *testing.T) {
	each(t, bursartest.Expiring, func(t *testing.T, r *harness) {
		r.Prepare()
		r.Settle()
		w := r.Order(300_000_000, r.Chain.Named("outside"))
		r.Chain.FailBroadcasts(sim.LostUnknown, 1)
		r.Trouble = true
		r.Step()
		id := r.Now(w).OutgoingID
		r.Halt(byAnn(store.HaltCurrency("COIN")))
		node := r.sentOnly()
		r.Chain.Fail(sim.Expired, 1, nil)
		r.Step()
		if text := r.errors(); !strings.Contains(text, "a drill") || !strings.Contains(text, "find out whether it expired") {
			t.Errorf("the error is %q, want %q in it and %q in it", text, "a drill", "find out whether it expired")
		}
		r.Blocks(12)
		if p := r.spendNow(id); p.Status != bursar.OutgoingAbandoned || node.sent != 0 ||
			!strings.Contains(p.Error, "a drill") {
			t.Errorf("the outgoing transaction is %s, says %q, and %d transactions were sent during the halt, "+
				"want %v and 0 and %q in it",
				p.Status, p.Error, node.sent, bursar.OutgoingAbandoned, "a drill")
		}
	})
}

// Signed bytes that nothing holds are sent, even if no node knows whether they have expired; held ones are not, even
// if the database cannot be read for a moment.
func TestOnlyBytesThatAreNotHeldAreSent(t *testing.T) {
	each(t, bursartest.Expiring, func(t *testing.T, r *harness) {
		r.Prepare()
		r.Settle()
		w := r.Order(300_000_000, r.Chain.Named("outside"))
		r.Chain.FailBroadcasts(sim.LostUnknown, 1)
		r.Trouble = true
		r.Step()
		r.Halt(byAnn(store.HaltCurrency("COIN")))
		node, db, failed := r.sentOnly(), r.Sender.DB, false
		r.Sender.DB = db.As(db.Now, store.Hooks{Before: func(_ context.Context, at store.Point, what string) error {
			if at == store.Running && strings.Contains(what, "FROM outgoing_versions WHERE") && !failed {
				failed = true
				return errors.New("the connection broke")
			}
			return nil
		}})
		r.Step()
		r.Sender.DB = db
		if text := r.errors(); !failed || node.sent != 0 || !strings.Contains(text, "a drill") ||
			!strings.Contains(text, "the connection broke") {
			t.Errorf("%d were sent during the halt, and the error is %q", node.sent, text)
		}
		r.Resume(byAnn(store.HaltCurrency("COIN")))
		r.Chain.Fail(sim.Expired, 1, nil)
		r.Step()
		if now := r.Now(w); now.Status != bursar.WithdrawalBroadcast || node.sent != 1 {
			t.Errorf("after the halt it is %s, want %v and 1", now.Status, bursar.WithdrawalBroadcast)
		}
	})
}

// The error of a transaction that is being made void names the transaction that voids it.
func TestATransactionBeingVoidedNamesTheVoidingOne(t *testing.T) {
	each(t, bumping(), func(t *testing.T, r *harness) {
		held := r.jammed(false)
		r.Halt(shortToken())
		r.Order(100_000_000, r.Chain.Named("coin"))
		for range 3 {
			r.Step()
		}
		list, now := r.fillers(), r.spendNow(r.Now(held).OutgoingID)
		if len(list) != 1 || !strings.Contains(now.Error,
			"it is being made void by outgoing transaction "+list[0].ID.String()) {
			t.Errorf("its error is %q", now.Error)
		}
	})
}

// A halt of the currency that a transaction pays holds it, whatever currency its row names, and its reservations are
// released.
func TestAHaltHoldsAPaymentWhateverItsRowSays(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.WithTokens().Prepare()
		r.Give("TOKEN", bursar.Address{Base: r.Hot.Base}, 100_000)
		r.Give("TOKEN", r.WalletOf(0, "TOKEN").Address, 100_000)
		r.Settle()
		r.OrderOf(0, "TOKEN", 1_000, r.Chain.Named("outside"))
		r.Trouble, r.Forged = true, true
		r.withoutSigner(r.Step)
		intruder(t, r.DB)(`UPDATE outgoing_txs SET currency = 'COIN' WHERE status = 'claimed'`)
		r.Halt(byAnn(store.HaltCurrency("TOKEN")))
		node := r.sentOnly()
		r.Blocks(4)
		if got := r.tokensOf("outside"); !got.IsZero() || node.sent != 0 {
			t.Errorf("%s of the halted TOKEN was paid by %d transactions, want 0 and 0", got, node.sent)
		}
		if p := r.Open()[0]; p.Status != bursar.OutgoingNew || len(p.Unsigned) != 0 || !strings.Contains(p.Error, "a drill") {
			t.Errorf("the outgoing transaction is %s with %d bytes reserved: %q, want %s, 0 and one with %q",
				p.Status, len(p.Unsigned), p.Error, bursar.OutgoingNew, "a drill")
		}
		if n := r.written(); n != 0 {
			t.Errorf("%d transactions were written while it is held, want 0", n)
		}
	})
}

// audits counts how often the books are audited.
type audits struct {
	outgoing.Books
	n    int
	fail error
}

func (a *audits) CatchUp(ctx context.Context) error {
	a.n++
	if a.fail != nil {
		return a.fail
	}
	return a.Books.CatchUp(ctx)
}

// The books are audited once per step, however many payments it makes, and again in the next step; if they cannot be
// audited, nothing is signed, and the error says so.
func TestTheBooksAreAuditedOnceInAStep(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.Fund()
		r.Settle()
		books := &audits{fail: errors.New("no answer"),
			Books: &audit.Auditor{DB: r.DB, Registry: r.Registry, Log: slog.New(slog.DiscardHandler)}}
		r.Sender.Books = books
		r.Order(1_000_000, r.Chain.Named("one"))
		r.Order(1_000_000, r.Chain.Named("two"))
		r.Trouble = true
		r.withoutSigner(r.Step)
		if text := r.errors(); strings.Count(text, "audit the books before paying: no answer") != 2 ||
			len(r.reserved()) != 0 {
			t.Errorf("the error is %q, want 2 and none", text)
		}
		books.n, books.fail = 0, nil
		r.withoutSigner(r.Step)
		if books.n != 1 || len(r.reserved()) != 2 {
			t.Errorf("they were audited %d times in one step, after which %d are to be signed, want 1 and 2",
				books.n, len(r.reserved()))
		}
		r.withoutSigner(r.Step)
		if books.n != 2 {
			t.Errorf("they were audited %d times in two steps, want 2", books.n)
		}
	})
}

// reserved returns the open transactions that have reserved something and are not signed.
func (r *harness) reserved() (list []bursar.OutgoingTx) {
	for _, p := range r.Open() {
		if p.Status == bursar.OutgoingReserved {
			list = append(list, p)
		}
	}
	return list
}
