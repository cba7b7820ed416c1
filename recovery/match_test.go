package recovery_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

func marshal(t testing.TB, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// A transaction that pays exactly what a withdrawal requests is its payment, whether the database is older than the
// chain or not: the withdrawal is on the chain from then on, and its account is notified.
func TestAnExternalSpendThatPaysAWithdrawalIsAdopted(t *testing.T) {
	for name, capabilities := range map[string]chain.Capabilities{"utxos": utxoCapabilities, "nonces": numbered} {
		for _, forgot := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				r := newHarness(t, capabilities)
				w, token := r.order(ann, "x", "COIN", 500), r.order(ann, "y", "TOKEN", 600)
				waiting := r.orderAs(bursar.WithdrawalPendingApproval, bob, "z", "COIN", 700)
				other := r.order(ann, "x", "COIN", 501)
				x := r.mineExternal(pays("x", "", 500), pays("hot", "", 90), pays("y", "token", 600), pays("z", "", 700))
				found := r.evaluate(x, forgot)
				r.paid(found, x, w, token, waiting)
				r.untouched(other)
				if !strings.Contains(found.Reason, w.ID.String()) || !strings.Contains(found.Reason, token.ID.String()) {
					t.Errorf("the reason is %q, want %v in it and %v in it", found.Reason, w.ID.String(), token.ID.String())
				}
				var request chain.TxRequest
				r.Must(json.Unmarshal(r.Outgoing(found.OutgoingID).Request, &request))
				if len(request.Payments) != 3 || request.Kind != chain.KindWithdrawal || request.MaxFee != x.Fee {
					t.Errorf("its request is %+v, want 3 of them and %v and %v", request, chain.KindWithdrawal, x.Fee)
				}
				r.Do(func(tx *store.Tx) error {
					notified, err := tx.Deliveries().List(ctx, bob, store.Page{Limit: 9})
					if len(notified) != 1 || notified[0].Subject != waiting.ID {
						t.Errorf("notified are %+v, want 1 of them and %v", notified, waiting.ID)
					}
					return err
				})
			})
		}
	}
}

// Only a payment that matches in amount, asset and address is adopted; one that does not match prevents the adoption of
// all. A database that has lost nothing takes the transaction for an external spend of somebody else, and halts;
// another database asks the operator.
func TestAPaymentThatMatchesNothingIsNotAdopted(t *testing.T) {
	for name, payments := range map[string][]chain.Payment{
		"a unit more":      {pays("x", "", 501)},
		"a unit less":      {pays("x", "", 499)},
		"another asset":    {pays("x", "token", 500)},
		"another address":  {pays("y", "", 500)},
		"a tag":            {{Address: bursar.Address{Base: "x", Memo: 1, HasMemo: true}, Amount: bursar.Units(500)}},
		"one more":         {pays("x", "", 500), pays("thief", "", 1)},
		"twice":            {pays("x", "", 500), pays("x", "", 500)},
		"an unknown asset": {pays("x", "", 500), pays("y", "unknown", 1)},
	} {
		t.Run(name, func(t *testing.T) {
			r := newHarness(t, numbered)
			w := r.order(ann, "x", "COIN", 500)
			x := r.mineExternal(payments...)
			found := r.evaluate(x, false)
			if found.Verdict != recovery.ExternalTx || !found.OutgoingID.IsZero() ||
				r.external(x.TxID).Status != store.ExternalHalted || !strings.Contains(found.Reason, "it paid") {
				t.Errorf("it is %+v, recorded as %+v, want %v and zero and %v and %q in it", found, r.external(x.TxID),
					recovery.ExternalTx, store.ExternalHalted, "it paid")
			}
			y := r.mineExternal(payments...)
			found = r.evaluate(y, true)
			if found.Verdict != recovery.Unclear || r.Outgoing(found.OutgoingID).TxID != y.TxID ||
				r.external(y.TxID).Status != store.ExternalUnclear {
				t.Errorf("it is %+v, recorded as %+v", found, r.external(y.TxID))
			}
			r.untouched(w)
		})
	}
}

// Of equal withdrawals of one account the oldest is paid; as many payments as equal withdrawals pay all of them, of
// whatever account; fewer payments for several accounts are ambiguous.
func TestEqualWithdrawals(t *testing.T) {
	r := newHarness(t, numbered)
	younger := r.order(ann, "x", "COIN", 500)
	r.clock.Advance(-5 * time.Second)
	older := r.order(ann, "x", "COIN", 500)
	x := r.mineExternal(pays("x", "", 500))
	r.paid(r.evaluate(x, false), x, older)
	r.untouched(younger)

	one, other := r.order(ann, "e", "COIN", 500), r.order(bob, "e", "COIN", 500)
	if found := r.evaluate(r.mineExternal(pays("e", "", 500)), false); found.Verdict != recovery.ExternalTx ||
		!strings.Contains(found.Reason, "several accounts") {
		t.Errorf("it is %+v, want %v and %q in it", found, recovery.ExternalTx, "several accounts")
	}
	r.untouched(one, other)
	x = r.mineExternal(pays("e", "", 500), pays("e", "", 500))
	r.paid(r.evaluate(x, false), x, one, other)
}

// A payment that another transaction of ours has made, or may still make, is not matched with an external spend: the
// signed one may be included too. One that lost its nonce to the external spend cannot.
func TestAWithdrawalThatAnotherTransactionMayPayIsNotMatched(t *testing.T) {
	for name, c := range map[string]struct {
		capabilities chain.Capabilities
		status       bursar.OutgoingStatus
		resource     string
		taken        bool
	}{
		"it has no reservation":          {numbered, bursar.OutgoingNew, "hot/90", true},
		"it is not signed":               {numbered, bursar.OutgoingReserved, "hot/90", true},
		"it is signed":                   {numbered, bursar.OutgoingSigned, "hot/90", false},
		"it is sent":                     {numbered, bursar.OutgoingSent, "hot/90", false},
		"it is sent, and replaced":       {numbered, bursar.OutgoingSent, "hot/1", true},
		"it is sent, and will expire":    {expiring, bursar.OutgoingSent, "hot/90", false},
		"it is signed, of UTXOs":         {utxoCapabilities, bursar.OutgoingSigned, "u:0", false},
		"it is signed and replaced":      {utxoCapabilities, bursar.OutgoingSigned, "hot/1", true},
		"it is not signed, and replaced": {utxoCapabilities, bursar.OutgoingReserved, "hot/1", true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newHarness(t, c.capabilities)
			w, extra := r.order(ann, "x", "COIN", 500), r.order(ann, "y", "COIN", 1)
			p := r.takenUp(c.status, []string{c.resource}, w)
			x := r.mineExternal(pays("x", "", 500), pays("y", "", 1)) // it uses hot/1, and is not a version of the other
			found := r.evaluate(x, false)
			if !c.taken {
				verdict := recovery.ExternalTx
				if !c.capabilities.Lifetime.IsZero() {
					verdict = recovery.Unclear // it is assessed again once the other has expired
				}
				if found.Verdict != verdict || r.now(w).OutgoingID != p.ID {
					t.Errorf("it is %+v, want %v and %v", found, verdict, p.ID)
				}
				r.untouched(extra)
				return
			}
			r.paid(found, x, w, extra)
			unsigned := c.status == bursar.OutgoingNew || c.status == bursar.OutgoingReserved
			if got := r.Outgoing(p.ID).Status; unsigned && got != bursar.OutgoingAbandoned || !unsigned && got != c.status {
				t.Errorf("the other transaction is %s", got)
			}
		})
	}
}

// Of equal withdrawals the waiting one is paid before the one for which another transaction is signed, even if that is
// older: that transaction may still be included. A withdrawal whose transaction is in a block is paid.
func TestTheWaitingWithdrawalIsMatchedFirst(t *testing.T) {
	for name, height := range map[string]uint64{"sent": 0, "in a block": 6} {
		t.Run(name, func(t *testing.T) {
			r := newHarness(t, expiring)
			sent := r.order(ann, "x", "COIN", 500)
			p := r.takenUp(bursar.OutgoingSent, []string{"hot/90"}, sent)
			if height > 0 {
				r.Do(func(tx *store.Tx) error {
					return tx.Outgoing().Include(ctx, p.ID, "tx", height, false, bursar.Units(1))
				})
			}
			waits := r.order(ann, "x", "COIN", 500)
			x := r.mineExternal(pays("x", "", 500))
			r.paid(r.evaluate(x, false), x, waits)
			if r.now(sent).OutgoingID != p.ID {
				t.Errorf("the withdrawal of the sent transaction was matched, want %v", p.ID)
			}
			second := r.mineExternal(pays("x", "", 500))
			if found := r.evaluate(second, false); height > 0 && found.Verdict != recovery.ExternalTx || height == 0 &&
				found.Verdict != recovery.Unclear {
				t.Errorf("a second one is %+v", found)
			}
		})
	}
}

// On the account model withdrawals are paid from the hot wallet; a transaction from a deposit address pays none.
func TestADepositAddressPaysNoWithdrawal(t *testing.T) {
	r := newHarness(t, numbered)
	w := r.order(ann, "x", "COIN", 500)
	x := r.mineExternal(pays("x", "", 500))
	x.Base = "deposit"
	if found := r.evaluate(x, false); found.Verdict != recovery.ExternalTx {
		t.Errorf("it is %+v, want %v", found, recovery.ExternalTx)
	}
	x = r.mineExternal(pays("x", "", 500))
	x.Base = "deposit"
	if found := r.evaluate(x, true); found.Verdict != recovery.Unclear {
		t.Errorf("it is %+v, want %v", found, recovery.Unclear)
	}
	r.untouched(w)

	utxos := newHarnessBeside(t, utxoCapabilities)
	w = utxos.order(ann, "x", "COIN", 500)
	x = utxos.mineExternal(pays("x", "", 500))
	x.Base = "deposit" // the first of its inputs
	utxos.paid(utxos.evaluate(x, false), x, w)
}

// A failed transaction paid nobody.
func TestAFailedTransactionPaysNobody(t *testing.T) {
	r := newHarness(t, numbered)
	w := r.order(ann, "x", "COIN", 500)
	x := r.mineExternal(pays("x", "", 500))
	x.Failed = true
	if found := r.evaluate(x, false); found.Verdict != recovery.ExternalTx {
		t.Errorf("it is %+v, want %v", found, recovery.ExternalTx)
	}
	r.untouched(w)
}
