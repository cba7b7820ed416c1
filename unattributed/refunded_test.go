package unattributed_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/unattributed"
)

// A deposit is not paid out while an external spend that nobody has explained by what was requested could be its
// refund: one payment to others since it came, of its asset, and of no more than came; of a token of exactly that. A
// note that names the external spend says that it is not.
func TestADepositThatMayBeRefundedIsNotPaidOut(t *testing.T) {
	to := func(base, contract string, units uint64) chain.Payment {
		return chain.Payment{Address: bursar.Address{Base: base}, Contract: contract, Amount: bursar.Units(units)}
	}
	for name, c := range map[string]struct {
		token  bool
		paid   func(r *harness) []chain.Payment
		change func(x *store.ExternalSpend)
		note   string
		may    bool
	}{
		"all":     {paid: func(*harness) []chain.Payment { return []chain.Payment{to("x", "", 5000)} }, may: true},
		"less":    {paid: func(*harness) []chain.Payment { return []chain.Payment{to("x", "", 900)} }, may: true},
		"more":    {paid: func(*harness) []chain.Payment { return []chain.Payment{to("x", "", 5001)} }},
		"a token": {paid: func(r *harness) []chain.Payment { return []chain.Payment{to("x", r.tokens(), 900)} }},
		"two":     {paid: func(*harness) []chain.Payment { return []chain.Payment{to("x", "", 1), to("y", "", 2)} }},
		"to us":   {paid: func(r *harness) []chain.Payment { return []chain.Payment{to(r.hot, "", 900)} }},
		"nobody":  {paid: func(*harness) []chain.Payment { return nil }},
		"of tokens": {token: true, paid: func(r *harness) []chain.Payment {
			return []chain.Payment{to("x", r.tokens(), 5000)}
		}, may: true},
		"less of tokens": {token: true,
			paid: func(r *harness) []chain.Payment { return []chain.Payment{to("x", r.tokens(), 4999)} }},
		"of tokens that keep a part": {token: true, paid: func(r *harness) []chain.Payment {
			return []chain.Payment{to("x", r.tokens(), 4900), to(r.tokens(), r.tokens(), 100)}
		}, may: true},
		"of tokens and more": {token: true, paid: func(r *harness) []chain.Payment {
			return []chain.Payment{to("x", r.tokens(), 5000), to("x", "", 1)}
		}},
		"beside change": {paid: func(r *harness) []chain.Payment {
			return []chain.Payment{to("x", "", 900), to(r.hot, "", 70)}
		}, may: true},
		"named": {paid: func(*harness) []chain.Payment { return []chain.Payment{to("x", "", 900)} },
			note: "spent was for something else"},
		"before": {paid: func(*harness) []chain.Payment { return []chain.Payment{to("x", "", 900)} },
			change: func(x *store.ExternalSpend) { x.Height-- }},
		"in no block": {paid: func(*harness) []chain.Payment { return []chain.Payment{to("x", "", 900)} },
			change: func(x *store.ExternalSpend) { x.Height = 0 }, may: true},
		"unclear": {paid: func(*harness) []chain.Payment { return []chain.Payment{to("x", "", 900)} },
			change: func(x *store.ExternalSpend) { x.Status = store.ExternalUnclear }},
	} {
		t.Run(name, func(t *testing.T) {
			r := newHarness(t, numbered)
			contract := ""
			if c.token {
				contract = r.tokens()
			}
			d := r.arrive(r.anns.Address.Base, contract, 5000, 2)
			payments, err := json.Marshal(c.paid(r))
			r.Must(err)
			x := store.ExternalSpend{Chain: d.Chain, TxID: "spent", Base: r.hot, Height: d.Height,
				MadeAt: r.DB.Now(), Reservations: []byte("[]"), Payments: payments, Status: store.ExternalHalted}
			if c.change != nil {
				c.change(&x)
			}
			r.Do(func(tx *store.Tx) error { return tx.ExternalSpends().Put(ctx, x) })
			_, err = r.service.Refund(ctx, unattributed.RefundRequest{Deposit: d.ID, To: r.node.Named("sender"), Note: c.note})
			if !c.may {
				r.Must(err)
				return
			}
			r.refused("a refund", err, unattributed.ErrTooLate, d)
			if !strings.Contains(err.Error(), "spent") {
				t.Errorf("it does not name the transaction: %v", err)
			}
			_, err = r.service.AssignToAccount(ctx, d.ID, ann, c.note)
			r.refused("an assignment", err, unattributed.ErrTooLate, d)
			_, err = r.service.Keep(ctx, d.ID, "")
			r.Must(err)
		})
	}
}

// A refund that waits is held by an external spend that was made after its request where the database had forgotten
// that, and an operator has booked it: the refund may have been requested once more. So is it by one that pays its
// address, whatever the database knew.
func TestALaterExternalSpendHoldsWhatWasForgotten(t *testing.T) {
	for name, c := range map[string]struct {
		status store.ExternalStatus
		to     string
		later  time.Duration
		may    bool
	}{
		"halted":                         {store.ExternalHalted, "x", 4 * time.Hour, false},
		"taken":                          {store.ExternalSettled, "x", 4 * time.Hour, false},
		"taken about then":               {store.ExternalSettled, "x", time.Hour, true},
		"halted, and pays its address":   {store.ExternalHalted, "sender", 4 * time.Hour, true},
		"taken, and pays its address":    {store.ExternalSettled, "sender", 4 * time.Hour, true},
		"adopted":                        {store.ExternalAdopted, "x", 4 * time.Hour, true},
		"adopted, and pays its address":  {store.ExternalAdopted, "sender", 4 * time.Hour, true},
		"taken, and left to the journal": {store.ExternalUnclear, "x", 4 * time.Hour, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newHarness(t, numbered)
			d := r.arrive(r.anns.Address.Base, "", 5000, 2)
			payments, err := json.Marshal([]chain.Payment{{Address: bursar.Address{Base: c.to}, Amount: bursar.Units(900)}})
			r.Must(err)
			p := bursar.OutgoingTx{ID: bursar.ID{7}, Chain: d.Chain, Kind: string(chain.KindWithdrawal), Currency: d.Currency,
				Base: r.hot, Request: []byte("{}"), Unsigned: []byte("{}"), TxID: "spent", Height: d.Height,
				Share: bursar.ShareWithdrawal}
			x := store.ExternalSpend{Chain: d.Chain, TxID: "spent", Base: r.hot, Height: d.Height, OutgoingID: p.ID,
				MadeAt: r.DB.Now().Add(c.later), Reservations: []byte("[]"), Payments: payments, Status: c.status}
			n := bursar.Resolution{DepositID: d.ID, ResolvedAt: r.DB.Now(), Address: bursar.Address{Base: "sender"}}
			r.Do(func(tx *store.Tx) error {
				if err := errors.Join(tx.Outgoing().InsertAdopted(ctx, p, nil), tx.ExternalSpends().Put(ctx, x)); err != nil {
					return err
				}
				x, err := tx.ExternalSpends().ByTx(ctx, d.Chain, x.TxID)
				if x.Booked = store.UsedUpAsLoss; c.status == store.ExternalHalted {
					x.Booked = ""
				}
				if err := errors.Join(err, tx.ExternalSpends().Set(ctx, x)); err != nil {
					return err
				}
				why, _, err := unattributed.Refunded(ctx, tx, n, d, []string{r.hot})
				if (why != "") != c.may {
					t.Errorf("it is held: %q, want %v", why, c.may)
				}
				return err
			})
		})
	}
}

// A payment of ours that was adopted, and that neither a withdrawal nor a refund explains any more, holds a deposit
// too, unless it was no payment. One that made exactly the payment of a refund holds that in whatever block it is.
func TestAnAdoptedPaymentThatNothingExplainsHoldsADeposit(t *testing.T) {
	for name, c := range map[string]struct {
		kind  chain.Kind
		block int64 // of the external spend, after the deposit's
		paid  uint64
		note  string
		may   bool
	}{
		"a payment":                     {kind: chain.KindWithdrawal, paid: 900, may: true},
		"a top-up":                      {kind: chain.KindGasTopUp, paid: 900},
		"before":                        {kind: chain.KindWithdrawal, block: -1, paid: 900},
		"before, and exactly the same":  {kind: chain.KindWithdrawal, block: -1, paid: 800, may: true},
		"the same, and named by a note": {kind: chain.KindWithdrawal, paid: 800, note: "not spent"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newHarness(t, numbered)
			d := r.arrive(r.anns.Address.Base, "", 5000, 2)
			payments, err := json.Marshal([]chain.Payment{{Address: bursar.Address{Base: "sender"},
				Amount: bursar.Units(c.paid)}})
			r.Must(err)
			height := uint64(int64(d.Height) + c.block)
			p := bursar.OutgoingTx{ID: bursar.ID{7}, Chain: d.Chain, Kind: string(c.kind), Currency: d.Currency,
				Base: r.hot, Request: []byte("{}"), Unsigned: []byte("{}"), TxID: "spent", Height: height,
				Share: bursar.ShareWithdrawal}
			x := store.ExternalSpend{Chain: d.Chain, TxID: "spent", Base: r.hot, Height: height, OutgoingID: p.ID,
				MadeAt: r.DB.Now(), Reservations: []byte("[]"), Payments: payments, Status: store.ExternalAdopted}
			n := bursar.Resolution{DepositID: d.ID, ResolvedAt: r.DB.Now(), Address: bursar.Address{Base: "sender"},
				Amount: bursar.Units(800), Note: c.note}
			r.Do(func(tx *store.Tx) error {
				if err := errors.Join(tx.Outgoing().InsertAdopted(ctx, p, nil), tx.ExternalSpends().Put(ctx, x)); err != nil {
					return err
				}
				why, _, err := unattributed.Refunded(ctx, tx, n, d, []string{r.hot})
				if (why != "") != c.may {
					t.Errorf("it is held: %q, want %v", why, c.may)
				}
				return err
			})
		})
	}
}

// A refusal names all external spends that a note has to name, up to ten of them, and a note can name many more.
func TestARefusalNamesWhatTheNoteHasToName(t *testing.T) {
	r := newHarness(t, numbered)
	d := r.arrive(r.anns.Address.Base, "", 5000, 2)
	payments, err := json.Marshal([]chain.Payment{{Address: bursar.Address{Base: "x"}, Amount: bursar.Units(900)}})
	r.Must(err)
	var all []string
	for i := range 40 {
		x := store.ExternalSpend{Chain: d.Chain, TxID: fmt.Sprintf("%064d", i), Base: r.hot, Height: d.Height,
			MadeAt: r.DB.Now(), Reservations: []byte("[]"), Payments: payments, Status: store.ExternalHalted}
		r.Do(func(tx *store.Tx) error { return tx.ExternalSpends().Put(ctx, x) })
		all = append(all, x.TxID)
	}
	for known, want := range map[int]string{0: strings.Join(all[:10], ", ") + " and 30 more,",
		30: "one of transactions " + strings.Join(all[30:], ", ") + ",", 39: ": transaction " + all[39] + ","} {
		note := strings.Join(all[:known], " ")
		_, err := r.service.Refund(ctx, unattributed.RefundRequest{Deposit: d.ID, To: r.node.Named("sender"), Note: note})
		r.refused("a refund", err, unattributed.ErrTooLate, d)
		if !strings.Contains(err.Error(), want) {
			t.Errorf("with %d named it says %v, want %q", known, err, want)
		}
	}
	_, err = r.service.Refund(ctx, unattributed.RefundRequest{Deposit: d.ID, To: r.node.Named("sender"),
		Note: strings.Join(all, " ")})
	r.Must(err)
}
