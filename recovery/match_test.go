package recovery_test

import (
	"encoding/json"
	"strings"
	"testing"

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

// What pays exactly what a withdrawal wants is its payment, whether the database is older than the chain or not: the
// withdrawal is
// on the chain from then on, and its account is told.
func TestWhatPaysAWithdrawalIsAdopted(t *testing.T) {
	for name, capabilities := range map[string]chain.Capabilities{"utxos": coined, "nonces": numbered} {
		for _, forgot := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				r := newHarness(t, capabilities)
				w, token := r.order(ann, "x", "COIN", 500), r.order(ann, "y", "TOKEN", 600)
				waiting := r.orderAs(bursar.WithdrawalPendingApproval, bob, "z", "COIN", 700)
				other := r.order(ann, "x", "COIN", 501)
				x := r.mineExternal(pays("x", "", 500), pays("hot", "", 90), pays("y", "token", 600), pays("z", "", 700))
				found := r.judge(x, forgot)
				r.paid(found, x, w, token, waiting)
				r.untouched(other)
				if !strings.Contains(found.Reason, w.ID.String()) || !strings.Contains(found.Reason, token.ID.String()) {
					t.Errorf("the reason is %q", found.Reason)
				}
				var order chain.TxRequest
				r.need(json.Unmarshal(r.outgoing(found.OutgoingID).Order, &order))
				if len(order.Payments) != 3 || order.Kind != chain.KindWithdrawal || order.MaxFee != x.Fee {
					t.Errorf("its order is %+v", order)
				}
				r.do(func(tx *store.Tx) error {
					notified, err := tx.Deliveries().List(ctx, bob, store.Page{Limit: 9})
					if len(notified) != 1 || notified[0].Subject != waiting.ID {
						t.Errorf("told is %+v", notified)
					}
					return err
				})
			})
		}
	}
}

// What fits to the unit, the asset and the address, and nothing less, is a payment; one that does not fit spoils all of
// them. A
// database that has forgotten nothing takes it for a stranger's, and halts; another one asks.
func TestWhatFitsNothingIsNotAdopted(t *testing.T) {
	for name, payments := range map[string][]chain.Payment{
		"a unit more":         {pays("x", "", 501)},
		"a unit less":         {pays("x", "", 499)},
		"another asset":       {pays("x", "token", 500)},
		"another address":     {pays("y", "", 500)},
		"a tag":               {{Address: bursar.Address{Base: "x", Memo: 1, HasMemo: true}, Amount: bursar.Units(500)}},
		"one more":            {pays("x", "", 500), pays("thief", "", 1)},
		"twice":               {pays("x", "", 500), pays("x", "", 500)},
		"an asset of no name": {pays("x", "", 500), pays("y", "unknown", 1)},
	} {
		t.Run(name, func(t *testing.T) {
			r := newHarness(t, numbered)
			w := r.order(ann, "x", "COIN", 500)
			x := r.mineExternal(payments...)
			found := r.judge(x, false)
			if found.Verdict != recovery.ExternalTx || !found.OutgoingID.IsZero() ||
				r.external(x.TxID).Status != store.ExternalHalted || !strings.Contains(found.Reason, "it paid") {
				t.Errorf("it is %+v, remembered as %+v", found, r.external(x.TxID))
			}
			y := r.mineExternal(payments...)
			found = r.judge(y, true)
			if found.Verdict != recovery.Unclear || r.outgoing(found.OutgoingID).TxID != y.TxID ||
				r.external(y.TxID).Status != store.ExternalUnclear {
				t.Errorf("it is %+v, remembered as %+v", found, r.external(y.TxID))
			}
			r.untouched(w)
		})
	}
}

// Of equal withdrawals of one account the oldest is paid; as many payments as there are equals pay all of them, whose
// ever they are;
// fewer, of several accounts, cannot be told apart.
func TestEqualWithdrawals(t *testing.T) {
	r := newHarness(t, numbered)
	younger := r.order(ann, "x", "COIN", 500)
	r.at = r.at.Add(-5_000_000_000)
	older := r.order(ann, "x", "COIN", 500)
	x := r.mineExternal(pays("x", "", 500))
	r.paid(r.judge(x, false), x, older)
	r.untouched(younger)

	one, other := r.order(ann, "e", "COIN", 500), r.order(bob, "e", "COIN", 500)
	if found := r.judge(r.mineExternal(pays("e", "", 500)), false); found.Verdict != recovery.ExternalTx ||
		!strings.Contains(found.Reason, "several accounts") {
		t.Errorf("it is %+v", found)
	}
	r.untouched(one, other)
	x = r.mineExternal(pays("e", "", 500), pays("e", "", 500))
	r.paid(r.judge(x, false), x, one, other)
}

// What another transaction of ours has paid, or may still pay, is not paid by an external spend as well: the one that
// is signed may
// enter a block too. One that lost its nonce to the external spend cannot.
func TestWhatAnotherTransactionMayPayIsNotTaken(t *testing.T) {
	for name, c := range map[string]struct {
		capabilities chain.Capabilities
		status       bursar.OutgoingStatus
		resource     string
		taken        bool
	}{
		"it is not claimed":            {numbered, bursar.OutgoingNew, "hot/90", true},
		"it is not signed":             {numbered, bursar.OutgoingReserved, "hot/90", true},
		"it is signed":                 {numbered, bursar.OutgoingSigned, "hot/90", false},
		"it is sent":                   {numbered, bursar.OutgoingSent, "hot/90", false},
		"it is sent, and has lost":     {numbered, bursar.OutgoingSent, "hot/1", true},
		"it is sent, and will expire":  {expiring, bursar.OutgoingSent, "hot/90", false},
		"it is signed, of UTXOs":       {coined, bursar.OutgoingSigned, "u:0", false},
		"it is signed and beaten":      {coined, bursar.OutgoingSigned, "hot/1", true},
		"it is not signed, and beaten": {coined, bursar.OutgoingReserved, "hot/1", true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newHarness(t, c.capabilities)
			w, extra := r.order(ann, "x", "COIN", 500), r.order(ann, "y", "COIN", 1)
			p := r.takenUp(c.status, []string{c.resource}, w)
			x := r.mineExternal(pays("x", "", 500), pays("y", "", 1)) // it uses up hot/1, and is no version of the other
			found := r.judge(x, false)
			if !c.taken {
				verdict := recovery.ExternalTx
				if !c.capabilities.Lifetime.IsZero() {
					verdict = recovery.Unclear // it is judged again once the other has expired
				}
				if found.Verdict != verdict || r.now(w).OutgoingID != p.ID {
					t.Errorf("it is %+v", found)
				}
				r.untouched(extra)
				return
			}
			r.paid(found, x, w, extra)
			unsigned := c.status == bursar.OutgoingNew || c.status == bursar.OutgoingReserved
			if got := r.outgoing(p.ID).Status; unsigned && got != bursar.OutgoingAbandoned || !unsigned && got != c.status {
				t.Errorf("the other transaction is %s", got)
			}
		})
	}
}

// Of equals the one that waits is paid before the one for which another transaction is signed, though that is older: it
// may still
// enter a block. One that stands in a block is paid.
func TestTheOneThatWaitsIsPaidFirst(t *testing.T) {
	for name, height := range map[string]uint64{"sent": 0, "in a block": 6} {
		t.Run(name, func(t *testing.T) {
			r := newHarness(t, expiring)
			sent := r.order(ann, "x", "COIN", 500)
			p := r.takenUp(bursar.OutgoingSent, []string{"hot/90"}, sent)
			if height > 0 {
				r.do(func(tx *store.Tx) error {
					return tx.Outgoing().Include(ctx, p.ID, "tx", height, false, bursar.Units(1))
				})
			}
			waits := r.order(ann, "x", "COIN", 500)
			x := r.mineExternal(pays("x", "", 500))
			r.paid(r.judge(x, false), x, waits)
			if r.now(sent).OutgoingID != p.ID {
				t.Error("the one that is sent is taken")
			}
			second := r.mineExternal(pays("x", "", 500))
			if found := r.judge(second, false); height > 0 && found.Verdict != recovery.ExternalTx || height == 0 &&
				found.Verdict != recovery.Unclear {
				t.Errorf("a second one is %+v", found)
			}
		})
	}
}

// On the account model withdrawals are paid from the hot address; what leaves a deposit address pays none.
func TestADepositAddressPaysNoWithdrawal(t *testing.T) {
	r := newHarness(t, numbered)
	w := r.order(ann, "x", "COIN", 500)
	x := r.mineExternal(pays("x", "", 500))
	x.Base = "deposit"
	if found := r.judge(x, false); found.Verdict != recovery.ExternalTx {
		t.Errorf("it is %+v", found)
	}
	x = r.mineExternal(pays("x", "", 500))
	x.Base = "deposit"
	if found := r.judge(x, true); found.Verdict != recovery.Unclear {
		t.Errorf("it is %+v", found)
	}
	r.untouched(w)

	utxos := newHarnessBeside(t, coined)
	w = utxos.order(ann, "x", "COIN", 500)
	x = utxos.mineExternal(pays("x", "", 500))
	x.Base = "deposit" // the first of its inputs
	utxos.paid(utxos.judge(x, false), x, w)
}

// What failed paid nobody.
func TestWhatFailedPaysNobody(t *testing.T) {
	r := newHarness(t, numbered)
	w := r.order(ann, "x", "COIN", 500)
	x := r.mineExternal(pays("x", "", 500))
	x.Failed = true
	if found := r.judge(x, false); found.Verdict != recovery.ExternalTx {
		t.Errorf("it is %+v", found)
	}
	r.untouched(w)
}
