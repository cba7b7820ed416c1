package recovery_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// answer applies an operator's explanation of a transaction.
func (r *harness) answer(x chain.ExternalSpend, a recovery.Answer) error {
	r.Helper()
	a.Item, a.Actor = r.external(x.TxID).Number, "ann"
	return r.DB.Do(ctx, func(tx *store.Tx) error { return r.Resolve(ctx, tx, a) })
}

// An explanation names the withdrawals that an unclear transaction has paid: they are on the chain from then on. It
// must cover every payment, or say how to book the rest.
func TestAnExplanationCoversEveryPayment(t *testing.T) {
	r := newHarness(t, numbered)
	w := r.order(ann, "x", "COIN", 500)
	x := r.mineExternal(pays("x", "", 500), pays("thief", "token", 9))
	found := r.evaluate(x, true)
	named := recovery.Answer{Withdrawals: []bursar.ID{w.ID}}
	if err := r.answer(x, named); !errors.Is(err, recovery.ErrUnfit) ||
		!strings.Contains(err.Error(), "0.000009 TOKEN to thief") {
		t.Errorf("an unexplained rest: %v, want %v and %q in it", err, recovery.ErrUnfit, "0.000009 TOKEN to thief")
	}
	r.untouched(w)
	if err := r.answer(x, recovery.Answer{}); !errors.Is(err, recovery.ErrUnfit) {
		t.Errorf("no explanation at all: %v, want %v", err, recovery.ErrUnfit)
	}
	named.Rest, named.Note = store.UsedUpAsLoss, "stolen"
	r.Must(r.answer(x, named))
	if got := r.now(w); got.Status != bursar.WithdrawalBroadcast || got.OutgoingID != found.OutgoingID ||
		got.TxID != x.TxID {
		t.Errorf("the withdrawal is %+v, want %v and %v and %v", got, bursar.WithdrawalBroadcast, found.OutgoingID, x.TxID)
	}
	if got := r.external(x.TxID); got.Status != store.ExternalAdopted || got.Booked != store.UsedUpAsLoss ||
		got.Note != "stolen" || got.Actor != "ann" {
		t.Errorf("recorded is %+v, want %v and %v and %q and %q", got, store.ExternalAdopted, store.UsedUpAsLoss, "stolen",
			"ann")
	}
	if err := r.answer(x, named); !errors.Is(err, recovery.ErrUnfit) {
		t.Errorf("a second explanation: %v, want %v", err, recovery.ErrUnfit)
	}
}

// What a transaction paid may be what a withdrawal asked for before somebody changed its row. Nobody books it as
// anything else before that is repaired: repaired later, the withdrawal would be paid again.
func TestNothingIsBookedWhileAnOrderIsAltered(t *testing.T) {
	for name, change := range map[string]string{
		"its amount":  `UPDATE withdrawals SET amount = '501' WHERE completed_at = 0 RETURNING amount`,
		"its address": `UPDATE withdrawals SET base = 'y' WHERE completed_at = 0 RETURNING base`,
		"its chain":   `UPDATE withdrawals SET chain = 'other' WHERE completed_at = 0 RETURNING chain`,
	} {
		t.Run(name, func(t *testing.T) {
			r := newHarness(t, numbered)
			w := r.order(ann, "x", "COIN", 500)
			url := storetest.AsOwner(r.url)
			storetest.Ask(t, url, change)
			x := r.mineExternal(pays("x", "", 500))
			r.evaluate(x, true)
			loss := recovery.Answer{Rest: store.UsedUpAsLoss, Note: "stolen"}
			if err := r.answer(x, loss); !errors.Is(err, store.ErrAltered) || !strings.Contains(err.Error(), w.ID.String()) {
				t.Errorf("as a loss: %v, want %v with the withdrawal", err, store.ErrAltered)
			}
			storetest.Ask(t, url, `UPDATE withdrawals SET amount = '500', base = 'x', chain = '`+string(numbered.ID)+`'
				WHERE completed_at = 0 RETURNING amount`)
			r.Must(r.answer(x, recovery.Answer{Withdrawals: []bursar.ID{w.ID}}))
			if got := r.now(w); got.TxID != x.TxID {
				t.Errorf("once it is repaired it is %s by %s, want %s", got.Status, got.TxID, x.TxID)
			}
		})
	}
}

// A token that keeps a fee delivers less than the withdrawal. The operator says so, and the transaction counts as one
// that was to pay all of it.
func TestAnExplanationMayNameAWithdrawalThatWasDeliveredInPart(t *testing.T) {
	r := newHarness(t, numbered)
	w, other := r.order(ann, "x", "TOKEN", 1000), r.order(ann, "y", "TOKEN", 500)
	x := r.mineExternal(pays("x", "token", 999), pays("issuer", "token", 1), pays("x", "", 2))
	found := r.evaluate(x, true)
	named := recovery.Answer{Withdrawals: []bursar.ID{w.ID}, Rest: store.UsedUpAsLoss}
	if err := r.answer(x, named); !errors.Is(err, recovery.ErrUnfit) ||
		!strings.Contains(err.Error(), "0.000999 TOKEN to x") {
		t.Errorf("without a note: %v, want %v and what it delivered", err, recovery.ErrUnfit)
	}
	for name, wrong := range map[string]bursar.Withdrawal{"to another address": other,
		"of less": r.order(ann, "x", "TOKEN", 998), "of another asset": r.order(ann, "x", "COIN", 1000)} {
		err := r.answer(x, recovery.Answer{Withdrawals: []bursar.ID{wrong.ID}, Rest: store.UsedUpAsLoss, Note: "a fee"})
		if !errors.Is(err, recovery.ErrUnfit) {
			t.Errorf("a withdrawal %s: %v, want %v", name, err, recovery.ErrUnfit)
		}
	}
	named.Note = "it kept a fee"
	r.Must(r.answer(x, named))
	if now := r.now(w); now.TxID != x.TxID {
		t.Errorf("the withdrawal is paid by %q, want %s", now.TxID, x.TxID)
	}
	r.Do(func(tx *store.Tx) error {
		p := r.outgoingIn(tx, found.OutgoingID)
		var request chain.TxRequest
		r.Must(json.Unmarshal(p.Request, &request))
		short, err := chain.Shortfalls(request.Payments, p.Delivered)
		if err != nil || len(short) != 1 || short[0].Delivered != bursar.Units(999) {
			t.Errorf("it fell short by %+v, %v, want 999 delivered", short, err)
		}
		return recovery.Settle(ctx, tx, r.Registry, p)
	})
	r.sums(ledger.Losses, "TOKEN", "0") // the withdrawal's settlement says who bears the rest
	r.sums(ledger.Losses, "COIN", "2")
}

// What a token kept is all that is missing, and it is not what another withdrawal asked for.
func TestWhatATokenKeptIsAllThatIsMissing(t *testing.T) {
	r := newHarness(t, numbered)
	w, other := r.order(ann, "x", "TOKEN", 1000), r.order(bob, "y", "TOKEN", 400)
	for name, moved := range map[string][]chain.Payment{
		"a part moved at all":     {pays("x", "token", 600)},
		"not enough to others":    {pays("x", "token", 600), pays("issuer", "token", 399)},
		"another asset to others": {pays("x", "token", 600), pays("issuer", "", 400)},
		"what another asked for":  {pays("x", "token", 600), pays("y", "token", 400)},
	} {
		x := r.mineExternal(moved...)
		r.evaluate(x, true)
		err := r.answer(x, recovery.Answer{Withdrawals: []bursar.ID{w.ID}, Rest: store.UsedUpAsLoss, Note: "a fee"})
		if !errors.Is(err, recovery.ErrUnfit) {
			t.Errorf("%s: %v, want %v", name, err, recovery.ErrUnfit)
		}
	}
	r.untouched(w, other)
}

// A withdrawal is explained by an unexplained payment of its amount and asset. If the address differs, the explanation
// needs a reason; a withdrawal that has ended, or that another transaction in a block pays, was not paid by this one.
func TestAnExplanationMatchesThePayments(t *testing.T) {
	r := newHarness(t, numbered)
	ended := r.order(ann, "x", "COIN", 500)
	r.Do(func(tx *store.Tx) error { return tx.Withdrawals().SetStatus(ctx, ended, bursar.WithdrawalCancelled) })
	included := r.order(ann, "x", "COIN", 500)
	p := r.takenUp(bursar.OutgoingSent, []string{"hot/80"}, included)
	r.Do(func(tx *store.Tx) error { return tx.Outgoing().Include(ctx, p.ID, "tx", 6, false, bursar.Units(1)) })
	elsewhere, more, token := r.order(ann, "y", "COIN", 500), r.order(ann, "x", "COIN", 501), r.order(ann, "x", "TOKEN",
		500)
	unsigned := r.order(ann, "x", "COIN", 500)
	q := r.takenUp(bursar.OutgoingReserved, []string{"hot/81"}, unsigned)
	x := r.mineExternal(pays("x", "", 500), pays("thief", "", 9))
	found := r.evaluate(x, true)
	for name, w := range map[string]bursar.Withdrawal{"ended": ended, "paid by another": included, "elsewhere": elsewhere,
		"another amount": more,
		"another asset":  token} {
		before := r.now(w)
		if err := r.answer(x, recovery.Answer{Withdrawals: []bursar.ID{w.ID}, Rest: store.UsedUpAsLoss}); !errors.Is(err,
			recovery.ErrUnfit) {
			t.Errorf("%s: %v, want %v", name, err, recovery.ErrUnfit)
		}
		if r.now(w) != before {
			t.Errorf("%s: it is %+v, want %+v", name, r.now(w), before)
		}
	}
	both := recovery.Answer{Withdrawals: []bursar.ID{unsigned.ID, elsewhere.ID}, Rest: store.UsedUpAsLoss, Note: "n"}
	if err := r.answer(x, both); !errors.Is(err, recovery.ErrUnfit) {
		t.Errorf("two withdrawals for one payment: %v, want %v", err, recovery.ErrUnfit)
	}
	r.Must(r.answer(x, recovery.Answer{Withdrawals: []bursar.ID{unsigned.ID}, Rest: store.UsedUpAsLoss}))
	if r.now(unsigned).OutgoingID != found.OutgoingID || r.Outgoing(q.ID).Status != bursar.OutgoingAbandoned {
		t.Errorf("it is paid by %s, and its earlier transaction is %s, want %s and %s",
			r.now(unsigned).OutgoingID, r.Outgoing(q.ID).Status, found.OutgoingID, bursar.OutgoingAbandoned)
	}
	y := r.mineExternal(pays("x", "", 500), pays("thief", "", 9))
	r.evaluate(y, true)
	r.Must(r.answer(y, recovery.Answer{Withdrawals: []bursar.ID{elsewhere.ID}, Rest: store.UsedForOperator,
		Note: "the customer moved"}))
	if r.now(elsewhere).TxID != y.TxID {
		t.Errorf("it is %+v, want %v", r.now(elsewhere), y.TxID)
	}
}

// A transaction that was put back pays a withdrawal which the database knows, and one that it has lost. An explanation
// may name both, as an operator sees both among the payments.
func TestAnExplanationMayNameAWithdrawalThatIsKnown(t *testing.T) {
	r := newHarness(t, numbered)
	known, other := r.order(ann, "x", "COIN", 500), r.order(ann, "y", "COIN", 70)
	x := r.mineExternal(pays("x", "", 500), pays("z", "", 70))
	found := r.evaluate(x, true)
	r.Do(func(tx *store.Tx) error { return r.Payouts.Adopted(ctx, tx, known.ID, r.Outgoing(found.OutgoingID)) })
	r.Must(r.answer(x, recovery.Answer{Withdrawals: []bursar.ID{known.ID, other.ID}, Note: "the customer moved"}))
	for _, w := range []bursar.Withdrawal{known, other} {
		if now := r.now(w); now.OutgoingID != found.OutgoingID {
			t.Errorf("%s is paid by %s, want %s", w.Address, now.OutgoingID, found.OutgoingID)
		}
	}
}

// candidates are the waiting withdrawals to an address that was paid.
func TestCandidatesAreWaitingWithdrawalsToTheAddress(t *testing.T) {
	r := newHarness(t, numbered)
	w := r.order(ann, "x", "COIN", 500)
	r.order(ann, "y", "COIN", 500)
	r.Do(func(tx *store.Tx) error {
		list, err := r.Candidates(ctx, tx, []chain.Payment{pays("x", "", 9), pays("z", "", 9)})
		if len(list) != 1 || list[0].ID != w.ID {
			t.Errorf("they are %+v, want 1 of them and %v", list, w.ID)
		}
		return err
	})
}

// sums checks the balance of an account in an asset.
func (r *harness) sums(account ledger.Account, code bursar.CurrencyCode, want string) {
	r.Helper()
	r.Do(func(tx *store.Tx) error {
		b, err := tx.Ledger().Balance(ctx, account, code)
		amount, negative := b.Net(account.Type())
		got := amount.String()
		if negative {
			got = "-" + got
		}
		if got != want {
			r.Errorf("%s has %s %s, want %s", account, got, code, want)
		}
		return err
	})
}

// noted has an entry of the journal waiting to be put back: a forgotten transaction that uses a nonce and pays a
// withdrawal.
func (r *harness) noted(db *store.DB, w bursar.Withdrawal, nonce string) {
	r.Helper()
	content, err := json.Marshal(map[string]any{
		"kind": "withdrawal", "currency": w.Currency, "share": "withdrawal", "base": "hot", "order": map[string]any{},
		"draft":       chain.UnsignedTx{Reservations: []string{nonce}},
		"withdrawals": []map[string]any{{"id": w.ID, "currency": w.Currency, "address": w.Address, "amount": w.Amount}},
	})
	r.Must(err)
	f := store.ForgottenPayment{Chain: r.Capabilities.ID, Number: 1, OutgoingID: bursar.ID{9}, Content: content,
		Sure: true}
	r.Must(db.Do(ctx, func(tx *store.Tx) error { return tx.ForgottenPayments().Note(ctx, f) }))
}

// The journal says what an external spend paid that used the same nonce and made the same payment. An entry that
// somebody without the key of the books wrote, one of another nonce, and one of another payment say nothing.
func TestTheJournalSaysWhatAnExternalSpendPaid(t *testing.T) {
	for name, tc := range map[string]struct {
		to, nonce string
		contract  string
		paid      uint64
		forged    bool
		says      bool
	}{
		"its transaction":     {to: "receiver", nonce: "hot/1", paid: 90, says: true},
		"forged":              {to: "receiver", nonce: "hot/1", paid: 90, forged: true},
		"of another nonce":    {to: "receiver", nonce: "hot/2", paid: 90},
		"of another asset":    {to: "receiver", nonce: "hot/1", contract: "token", paid: 90},
		"of another amount":   {to: "receiver", nonce: "hot/1", paid: 91},
		"of another receiver": {to: "somebody else", nonce: "hot/1", paid: 90},
	} {
		t.Run(name, func(t *testing.T) {
			r := newHarness(t, numbered)
			w := r.order(ann, "receiver", "COIN", 90)
			db := r.DB
			if tc.forged {
				db = r.DB.As(r.clock.Now, store.Hooks{})
				db.SealWith([]byte("another key"))
			}
			r.noted(db, w, tc.nonce)
			x := r.mineExternal(pays(tc.to, tc.contract, tc.paid))
			x.Reservations = []string{"hot/1"}
			found := store.ExternalSpend{TxID: x.TxID}
			var err error
			found.Reservations, err = json.Marshal(x.Reservations)
			r.Must(err)
			found.Payments, err = json.Marshal(x.Payments)
			r.Must(err)
			r.Do(func(tx *store.Tx) error {
				list, err := r.Journaled(ctx, tx, found)
				if says := len(list) == 1 && list[0].ID == w.ID; says != tc.says || len(list) > 1 {
					t.Errorf("the journal says that it paid %+v, want %v", list, tc.says)
				}
				return err
			})
		})
	}
}
