package unattributed_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/unattributed"
)

// A kept deposit becomes operator funds, its alarm closes, and the chain's sender is woken; it is resolved once.
func TestAKeptDepositBecomesOperatorFunds(t *testing.T) {
	r := newHarness(t, utxoModel)
	d, other := r.stranded(80_000), r.stranded(5)
	n, err := r.service.Keep(ctx, d.ID, "  ticket 42 ")
	r.Must(err)
	if n.Kind != bursar.ResolutionKeep || n.Status != bursar.ResolutionDone || n.Note != "ticket 42" ||
		n.CompletedAt.IsZero() ||
		n.DepositID != d.ID || n.Chain != d.Chain || n.Currency != "COIN" {
		t.Errorf("the resolution is %+v", n)
	}
	if got := r.standing(d); got.ID != n.ID || r.Deposit(d.ID).Purpose != bursar.ForOperatorFunds {
		t.Errorf("the deposit is for %s, by %s, want %v and %v", r.Deposit(d.ID).Purpose, got.ID, n.ID,
			bursar.ForOperatorFunds)
	}
	r.books(ledger.Capital, 80_000)
	r.books(ledger.Unattributed, 5)
	if !slices.Equal(r.decided, []bursar.ChainID{bursar.Bitcoin}) || r.alarms() != 1 {
		t.Errorf("woken is %s, %d alarms are open, want %s and 1",
			r.decided, r.alarms(), []bursar.ChainID{bursar.Bitcoin})
	}
	for name, err := range map[string]error{
		"kept again": second(r.service.Keep(ctx, d.ID, "")),
		"assigned":   second(r.service.AssignToWallet(ctx, d.ID, r.anns.ID, "")),
		"returned":   second(r.service.Refund(ctx, unattributed.RefundRequest{Deposit: d.ID, To: r.node.Named("sender")})),
	} {
		if !errors.Is(err, store.ErrResolved) {
			t.Errorf("%s: %v, want %v", name, err, store.ErrResolved)
		}
	}
	r.service.Resolved = nil
	if _, err := r.service.Keep(ctx, other.ID, ""); err != nil {
		t.Errorf("without a callback: %v", err)
	}
}

func second(_ bursar.Resolution, err error) error { return err }

// Only a final unattributed deposit is resolved, and only on a chain that is configured.
func TestOnlyFinalUnattributedValueIsResolved(t *testing.T) {
	r := newHarness(t, utxoModel)
	pending := r.arrive(r.anns.Address.Base, "", 80_000, 1)
	r.refused("pending", second(r.service.Keep(ctx, pending.ID, "")), unattributed.ErrNotFinal, pending)
	to := unattributed.RefundRequest{Deposit: pending.ID, To: r.node.Named("sender")}
	r.refused("pending", second(r.service.Refund(ctx, to)), unattributed.ErrNotFinal, pending)
	r.refused("unknown", second(r.service.Keep(ctx, bursar.ID{15: 9}, "")), bursar.ErrNotFound, bursar.Deposit{})

	r.node.Pay(chain.Payment{Address: r.anns.Address, Amount: bursar.Units(70_000)})
	r.node.Mine(2)
	r.step()
	var own bursar.Deposit
	r.Do(func(tx *store.Tx) error {
		list, err := tx.Deposits().List(ctx, ann, r.anns.ID, store.Page{Limit: 1})
		own = list[0]
		return err
	})
	r.refused("a customer's", second(r.service.Keep(ctx, own.ID, "")), unattributed.ErrNotUnattributed, own)
	r.books(ledger.Capital, 0)
}

// A deposit that is assigned to a wallet becomes the wallet's, less the deposit fee; its event goes to the wallet's
// webhook.
func TestAWalletGetsWhatIsAssigned(t *testing.T) {
	r := newHarness(t, utxoModel)
	d := r.stranded(80_000)
	other := r.wallet(bob, "COIN", "bob's other one")
	n, err := r.service.AssignToWallet(ctx, d.ID, other.ID, "")
	r.Must(err)
	if n.Kind != bursar.ResolutionAssign || n.Status != bursar.ResolutionDone || n.AccountID != bob ||
		n.WalletID != other.ID || n.CompletedAt.IsZero() {
		t.Errorf("the resolution is %+v", n)
	}
	r.books(ledger.Available(bob), 79_200)
	r.books(ledger.Available(ann), 0)
	got := r.Deposit(d.ID)
	if got.Purpose != bursar.ForWallet || got.AccountID != bob || got.WalletID != other.ID ||
		got.Metadata != "bob's other one" {
		t.Errorf("the deposit is %+v, want %v and %v and %v and %q", got, bursar.ForWallet, bob, other.ID, "bob's other one")
	}
	r.Do(func(tx *store.Tx) error {
		notified, err := tx.Deliveries().List(ctx, bob, store.Page{Limit: 9})
		if len(notified) != 1 || notified[0].URL != other.Webhook || notified[0].Subject != d.ID {
			t.Errorf("the events are %+v, want 1 of them and %v and %v", notified, other.Webhook, d.ID)
		}
		return err
	})
}

// A deposit that is assigned to a charge pays it.
func TestAChargeIsPaidByWhatIsAssigned(t *testing.T) {
	r := newHarness(t, utxoModel)
	w := r.AddWallet(bursar.Wallet{
		AccountID: bob,
		Currency:  "COIN",
		Family:    "bitcoin",
		ForCharge: true,
		Index:     90,
		Webhook:   "https://bob.example/hook",
		Address:   bursar.Address{Base: r.node.Named("charge")},
	})
	r.Do(func(tx *store.Tx) error {
		return tx.Charges().Insert(ctx, bursar.Charge{Number: w.Number, ID: w.ID, AccountID: bob, Minimum: bursar.Units(1),
			Expires: tx.Now().Add(time.Hour)})
	})
	d := r.stranded(80_000)
	_, err := r.service.AssignToWallet(ctx, d.ID, w.ID, "")
	if r.Must(err); r.Deposit(d.ID).Purpose != bursar.ForCharge {
		t.Errorf("the deposit is for %s, want %s", r.Deposit(d.ID).Purpose, bursar.ForCharge)
	}
	r.Do(func(tx *store.Tx) error {
		c, err := tx.Charges().Get(ctx, bob, w.ID)
		if c.PaidBy != d.ID {
			t.Errorf("it is paid by %s, want %s", c.PaidBy, d.ID)
		}
		return err
	})
}

// A deposit that is assigned to an account has no wallet.
func TestAnAccountGetsWhatIsAssigned(t *testing.T) {
	r := newHarness(t, utxoModel)
	d := r.stranded(80_000)
	n, err := r.service.AssignToAccount(ctx, d.ID, bob, "")
	r.Must(err)
	if got := r.Deposit(d.ID); n.AccountID != bob || !n.WalletID.IsZero() || got.Purpose != bursar.ForAccount ||
		got.AccountID != bob {
		t.Errorf("the resolution is %+v, the deposit %+v, want %v and zero and %v", n, got, bob, bursar.ForAccount)
	}
	r.books(ledger.Available(bob), 79_200)
}

// An assignment that cannot be credited is refused, and the deposit stays unresolved.
func TestAnAssignmentThatCannotBeCreditedIsRefused(t *testing.T) {
	r := newHarness(t, utxoModel)
	d := r.stranded(80_000)
	r.refused("no wallet", second(r.service.AssignToWallet(ctx, d.ID, bursar.ID{15: 9}, "")), unattributed.ErrTarget, d)
	r.refused("another currency's", second(r.service.AssignToWallet(ctx, d.ID, r.bobs.ID, "")), unattributed.ErrTarget, d)
	r.refused("no account", second(r.service.AssignToAccount(ctx, d.ID, bursar.ID{15: 9}, "")), unattributed.ErrTarget, d)
	chains := r.service.Chains
	r.service.Chains = nil
	for name, err := range map[string]error{
		"assigned": second(r.service.AssignToAccount(ctx, d.ID, bob, "")),
		"returned": second(r.service.Refund(ctx, unattributed.RefundRequest{Deposit: d.ID, To: r.node.Named("sender")})),
	} {
		if err == nil || !strings.Contains(err.Error(), "not configured") {
			t.Errorf("%s on a chain that is not served: %v", name, err)
		}
	}
	r.service.Chains = chains
	r.books(ledger.Unattributed, 80_000)
	if len(r.decided) > 0 || r.alarms() != 1 {
		t.Errorf("woken is %s, %d alarms are open, want none and 1", r.decided, r.alarms())
	}
}

// A note is text of at most 10000 bytes; an invalid note is refused before anything is read.
func TestANoteIsShortText(t *testing.T) {
	r := newHarness(t, utxoModel)
	d := r.stranded(80_000)
	for name, note := range map[string]string{
		"long": strings.Repeat("x", 10_001), "no text": "a\xffb", "a zero": "a\x00b",
	} {
		r.refused(name, second(r.service.Keep(ctx, d.ID, note)), unattributed.ErrNote, d)
		if _, err := r.service.Cancel(ctx, d.ID, note); !errors.Is(err, unattributed.ErrNote) {
			t.Errorf("%s: calling back gave %v, want %v", name, err, unattributed.ErrNote)
		}
	}
	_, err := r.service.Keep(ctx, d.ID, strings.Repeat("x", 10_000))
	r.Must(err)
}

// A refund is cancelled while it is queued and not later; a cancelled one can be resolved again, and says why it
// failed.
func TestARefundIsCancelledOnlyWhileItIsQueued(t *testing.T) {
	r := newHarness(t, utxoModel)
	d := r.stranded(80_000)
	for _, note := range []string{"", "wrong address"} {
		if _, err := r.service.Cancel(ctx, d.ID, ""); !errors.Is(err, unattributed.ErrTooLate) {
			t.Errorf("without a return: %v, want %v", err, unattributed.ErrTooLate)
		}
		sent, err := r.service.Refund(ctx, unattributed.RefundRequest{Deposit: d.ID, To: r.node.Named("sender")})
		r.Must(err)
		n, err := r.service.Cancel(ctx, d.ID, note)
		if r.Must(err); n.ID != sent.ID || n.Status != bursar.ResolutionFailed {
			t.Errorf("it is %+v, want %v and %v", n, sent.ID, bursar.ResolutionFailed)
		}
		r.Do(func(tx *store.Tx) error {
			all, err := tx.Resolutions().About(ctx, []bursar.Deposit{d})
			if got, want := all[d.ID], strings.TrimSuffix("the operator cancelled it: "+note, ": "); got.Error != want ||
				got.Status != bursar.ResolutionFailed {
				t.Errorf("recorded is %+v, want %q", got, want)
			}
			return err
		})
		r.books(ledger.Unattributed, 80_000)
		r.books(ledger.Refunding, 0)
		if r.alarms() != 1 || r.Deposit(d.ID).Purpose != bursar.ForUnattributed {
			t.Errorf("%d alarms are open, it is for %s, want 1 and %s",
				r.alarms(), r.Deposit(d.ID).Purpose, bursar.ForUnattributed)
		}
	}
	_, err := r.service.Keep(ctx, d.ID, "")
	r.Must(err)
	if _, err := r.service.Cancel(ctx, d.ID, ""); !errors.Is(err, unattributed.ErrTooLate) ||
		!strings.Contains(err.Error(), "kept") {
		t.Errorf("of what is kept: %v, want %v and %q in it", err, unattributed.ErrTooLate, "kept")
	}
}

// A database restored from a backup may not know that value was refunded: until its chain has recovered nobody else
// gets it. A refund may be requested, so that the recovery can adopt its payment.
func TestADepositThatMayBeRefundedIsNotAssigned(t *testing.T) {
	r := newHarness(t, utxoModel)
	d, ordered := r.stranded(80_000), r.stranded(90_000)
	to := r.node.Named("sender")
	r.Must(second(r.service.Refund(ctx, unattributed.RefundRequest{Deposit: ordered.ID, To: to})))
	decisions := map[string]func() error{
		"kept":                func() error { return second(r.service.Keep(ctx, d.ID, "")) },
		"assigned":            func() error { return second(r.service.AssignToWallet(ctx, d.ID, r.anns.ID, "")) },
		"given to an account": func() error { return second(r.service.AssignToAccount(ctx, d.ID, ann, "")) },
		"cancelled":           func() error { return second(r.service.Cancel(ctx, ordered.ID, "")) },
	}
	why := "the database has stepped back"
	r.service.Behind = func(context.Context) (string, error) { return why, nil }
	for name, decide := range decisions {
		if err := decide(); !errors.Is(err, store.ErrRecovering) || !strings.Contains(err.Error(), why) {
			t.Errorf("%s before the database is looked at: %v, want %v and %v in it", name, err, store.ErrRecovering, why)
		}
	}
	r.service.Behind = nil
	r.Do(func(tx *store.Tx) error { return tx.Recoveries().Begin(ctx, d.Chain, "restored") })
	for name, decide := range decisions {
		if err := decide(); !errors.Is(err, store.ErrRecovering) {
			t.Errorf("%s while the chain recovers: %v, want %v", name, err, store.ErrRecovering)
		}
	}
	if n := r.standing(d); !n.ID.IsZero() || r.standing(ordered).Status != bursar.ResolutionQueued {
		t.Errorf("it is resolved: %+v, want zero and %v", n, bursar.ResolutionQueued)
	}
	r.Must(second(r.service.Refund(ctx, unattributed.RefundRequest{Deposit: d.ID, To: to})))
}
