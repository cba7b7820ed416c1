package relay_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/relay"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/unattributed"
	"github.com/bursar/bursar/withdrawal"
)

// A payment waits until two persons have approved it, blocking no other and without an alarm, and is then paid.
func TestAPaymentWaitsForPersons(t *testing.T) {
	t.Parallel()
	bursartest.OnBoth(t, func(t *testing.T, r *bursartest.OneChain) {
		d := newHarness(t, r)
		r.Fund()
		large, small := r.Order(150_000_000, r.Chain.Named("alice")), r.Order(90_000_000, r.Chain.Named("bob"))
		r.Trouble = true // it waits
		for range 6 {
			r.Chain.Mine(1)
			r.Step()
		}
		r.WantAlarms()
		if got := r.Now(small).Status; got != bursar.WithdrawalConfirmed && got != bursar.WithdrawalBroadcast {
			t.Errorf("the small one is %s, want it paid", got)
		}
		w := d.waiting()
		if len(w.Orders) != 1 || !strings.Contains(w.Orders[0].Text, large.ID.String()) || r.Now(large).TxID != "" ||
			!strings.Contains(w.Orders[0].Reason, "0 of 2 approvals") {
			t.Fatalf("what waits is %+v, want the large one alone", w.Orders)
		}
		text := w.Orders[0].Text
		r.Must(d.approve(t, 1, text, approval.Yes))
		r.Must(d.approve(t, 1, text, approval.Yes))
		r.Step()
		if got := d.waiting(); len(got.Orders) != 1 || !strings.Contains(got.Orders[0].Reason, "1 of 2 approvals") {
			t.Errorf("what waits after one approval is %+v, want 1 of them and %q in it", got.Orders, "1 of 2 approvals")
		}
		r.Must(d.approve(t, 2, text, approval.Yes))
		r.Trouble = false
		r.Settle()
		if got := r.Chain.Balance(r.Chain.Named("alice"), ""); got != bursar.Units(150_000_000) {
			t.Errorf("alice got %s, want 150000000", got)
		}
		if got := d.waiting(); len(got.Orders) != 0 {
			t.Errorf("what waits in the end is %+v, want none", got.Orders)
		}
		r.WantAlarms()
		r.Must(r.Audit())
	})
}

// A payment that waits is tried again now and then. An approval that arrives while it is at the signer counts.
func TestAnApprovalThatArrivesDuringAnAttemptCounts(t *testing.T) {
	t.Parallel()
	bursartest.OnBoth(t, func(t *testing.T, r *bursartest.OneChain) {
		d := newHarness(t, r)
		r.Fund()
		r.Order(150_000_000, r.Chain.Named("alice"))
		r.Trouble = true
		r.Step()
		w := d.waiting()
		if len(w.Orders) != 1 {
			t.Fatalf("what waits is %+v, want one payment", w.Orders)
		}
		set := func(next bursar.OutgoingStatus) {
			r.Must(r.DB.Do(t.Context(), func(tx *store.Tx) error {
				list, err := tx.Outgoing().Open(t.Context(), r.Chain.Capabilities().ID, 10)
				for _, p := range list {
					if p.Status == bursar.OutgoingNew || p.Status == bursar.OutgoingReserved {
						return tx.Outgoing().SetStatus(t.Context(), p, next)
					}
				}
				return errors.Join(err, errors.New("no payment is new or built"))
			}))
		}
		set(bursar.OutgoingReserved)
		r.Must(r.DB.Do(t.Context(), func(tx *store.Tx) error {
			unsigned, err := tx.Outgoing().Unsigned(t.Context(), r.Chain.Capabilities().ID, 10)
			if err == nil && (len(unsigned) != 1 || unsigned[0].Status != bursar.OutgoingReserved) {
				t.Errorf("the unsigned payments are %+v, want the one that is built", unsigned)
			}
			return err
		}))
		if got := d.waiting(); len(got.Orders) != 1 {
			t.Errorf("what waits during the attempt is %+v, want one payment", got.Orders)
		}
		r.Must(d.approve(t, 1, w.Orders[0].Text, approval.Yes))
		set(bursar.OutgoingNew)
		r.Step()
		if got := d.waiting(); len(got.Orders) != 1 || !strings.Contains(got.Orders[0].Reason, "1 of 2 approvals") {
			t.Errorf("what waits after the attempt is %+v, want one payment with 1 of 2 approvals", got.Orders)
		}
	})
}

// What the database holds about an approved payment is changed afterwards: the signer sees to it.
func TestWhoeverWritesToTheDatabaseMovesNothing(t *testing.T) {
	t.Parallel()
	bursartest.On(t, bursartest.Numbered, func(t *testing.T, r *bursartest.OneChain) {
		d := newHarness(t, r)
		r.Fund()
		r.Order(150_000_000, r.Chain.Named("alice"))
		r.Trouble = true
		r.Step()
		text := d.waiting().Orders[0].Text
		r.Must(errors.Join(d.approve(t, 1, text, approval.Yes), d.approve(t, 2, text, approval.Yes)))
		orders := r.Sender.Orders
		for name, change := range map[string]func(list []chain.Order){
			"another address": func(list []chain.Order) {
				list[0].Text = strings.Replace(list[0].Text, r.Chain.Named("alice"), r.Chain.Named("thief"), 1)
			},
			"no approvals": func(list []chain.Order) { list[0].Approvals = nil },
			"one of them":  func(list []chain.Order) { list[0].Approvals = list[0].Approvals[:1] },
		} {
			r.Sender.Orders = func(
				ctx context.Context, p bursar.OutgoingTx, request chain.TxRequest, _ ...bursar.ID,
			) ([]chain.Order, error) {
				list, err := orders(ctx, p, request)
				if len(list) > 0 {
					change(list)
				}
				return list, err
			}
			r.Step()
			if got := r.Chain.Balance(r.Chain.Named("thief"), ""); !got.IsZero() {
				t.Errorf("%s: the thief got %s, want zero", name, got)
			}
		}
		// The payment itself is directed elsewhere, with the approvals of the real one.
		r.Sender.Orders = orders
		real := r.Sender.Signer
		r.Sender.Signer = bursartest.SignerFunc(func(ctx context.Context, id bursar.ChainID, request chain.TxRequest,
			unsigned chain.UnsignedTx) (chain.SignedTx, error) {
			request.Payments[0].Address.Base = r.Chain.Named("thief")
			built, err := r.Chain.Build(ctx, request)
			if err != nil {
				return chain.SignedTx{}, err
			}
			built.Orders = unsigned.Orders
			return real.Sign(ctx, id, request, built)
		})
		r.Step()
		r.WantAlarms("signer_refused")
		r.Sender.Signer, r.Trouble = real, false
		r.Settle()
		if got := r.Chain.Balance(r.Chain.Named("alice"), ""); got != bursar.Units(150_000_000) {
			t.Errorf("alice got %s, want 150000000", got)
		}
	})
}

func TestMalformedDecisionsAreKeptOut(t *testing.T) {
	t.Parallel()
	bursartest.On(t, bursartest.Numbered, func(t *testing.T, r *bursartest.OneChain) {
		d := newHarness(t, r)
		r.Fund()
		r.Order(150_000_000, r.Chain.Named("alice"))
		r.Trouble = true
		r.Step()
		text := d.waiting().Orders[0].Text
		for name, err := range map[string]error{
			"by an outsider":        d.approve(t, 9, text, approval.Yes),
			"of another amount":     d.approve(t, 1, strings.Replace(text, "units: 15", "units: 16", 1), approval.Yes),
			"of what does not wait": d.approve(t, 1, strings.Replace(text, "\norder: 0", "\norder: 1", 1), approval.Yes),
			"of another signer":     d.approve(t, 1, strings.Replace(text, "instance: ", "instance: X", 1), approval.Yes),
			"no approval": func() error {
				_, _, err := d.relay.Add(t.Context(), "yes\n", sign(t, 1, approval.NamespaceApproval, "yes\n"))
				return err
			}(),
		} {
			if !errors.Is(err, relay.ErrRefused) {
				t.Errorf("%s: got %v, want %v", name, err, relay.ErrRefused)
			}
		}
		r.Must(d.approve(t, 2, text, approval.No))
		r.Must(errors.Join(d.approve(t, 1, text, approval.Yes), d.approve(t, 2, text, approval.Yes)))
		r.Step()
		if got := d.waiting(); len(got.Orders) != 1 || !strings.Contains(got.Orders[0].Reason, "bob said no") {
			t.Errorf("what waits after a no is %+v", got.Orders)
		}
		_, err := r.Withdrawals.Cancel(t.Context(), func() bursar.ID {
			o, err := approval.ParseOrder(text)
			r.Must(err)
			return o.ID
		}())
		r.Must(err)
	})
}

// The attack: anyone who orders a payment approves it too, so that one person fewer knows of it.
func TestWhoeverOrderedItDoesNotApproveIt(t *testing.T) {
	t.Parallel()
	bursartest.On(t, bursartest.Numbered, func(t *testing.T, r *bursartest.OneChain) {
		d := newHarness(t, r)
		r.Fund()
		_, err := r.Withdrawals.Request(t.Context(), withdrawal.Request{Account: r.Accounts[0], Currency: "COIN",
			Amount: "1.5", Address: r.Chain.Named("alice"), By: "ann"})
		r.Must(err)
		r.Trouble = true
		r.Step()
		text := d.waiting().Orders[0].Text
		if !strings.Contains(text, "\nrequester: ann\n") {
			t.Fatalf("got %s, want ann as who ordered it", text)
		}
		if err := d.approve(t, 1, text, approval.Yes); !errors.Is(err, relay.ErrRefused) ||
			!strings.Contains(err.Error(), "ann ordered it") {
			t.Errorf("got %v, want %v", err, relay.ErrRefused)
		}
		r.Must(d.approve(t, 2, text, approval.Yes))
		// The signer evaluates itself, whatever the service keeps.
		o, err := approval.ParseOrder(text)
		r.Must(err)
		now := time.Now().UTC().Truncate(time.Second)
		own := approval.Approval{Instance: o.Instance, Decision: approval.Yes, Payment: 1, Role: roster.RoleApprover,
			Version: d.policy.Version, Policy: d.policy.Hash(), Created: now, Expires: now.Add(time.Hour),
			Nonce: approval.NewNonce(), Order: o}.Text()
		r.Must(r.DB.Do(t.Context(), func(tx *store.Tx) error {
			return tx.Approvals().Add(t.Context(), store.Approval{OrderID: o.ID, Text: own,
				Signature: sign(t, 1, approval.NamespaceApproval, own)})
		}))
		r.Step()
		if w := d.waiting(); len(w.Orders) != 1 || !strings.Contains(w.Orders[0].Reason, "1 of 2 approvals") ||
			!strings.Contains(w.Orders[0].Reason, "ann ordered it") {
			t.Errorf("got %+v, want it to wait for another person", w.Orders)
		}
	})
}

// The attack: one approver signs so often that the approvals of others do not fit.
func TestEachPersonUsesTheCapacityOfOne(t *testing.T) {
	t.Parallel()
	bursartest.On(t, bursartest.Numbered, func(t *testing.T, r *bursartest.OneChain) {
		d := newHarness(t, r)
		r.Fund()
		large := r.Order(150_000_000, r.Chain.Named("alice"))
		r.Trouble = true
		r.Step()
		text := d.waiting().Orders[0].Text
		o, err := approval.ParseOrder(text)
		r.Must(err)
		now := time.Now().UTC().Truncate(time.Second)
		at := func(created time.Time) error {
			signed := approval.Approval{Instance: o.Instance, Decision: approval.Yes, Payment: 1, Role: roster.RoleApprover,
				Version: d.policy.Version, Policy: d.policy.Hash(), Created: created, Expires: created.Add(3 * time.Hour),
				Nonce: approval.NewNonce(), Order: o}.Text()
			_, _, err := d.relay.Add(t.Context(), signed, sign(t, 1, approval.NamespaceApproval, signed))
			return err
		}
		for i := range store.MaxApprovals {
			r.Must(at(now.Add(time.Duration(i-store.MaxApprovals) * time.Second)))
		}
		if err := at(now); err == nil {
			t.Error("one too many: got none, want a refusal")
		}
		if err := at(now.Add(-time.Minute)); !errors.Is(err, relay.ErrRefused) {
			t.Errorf("an older one: got %v, want %v", err, relay.ErrRefused)
		}
		if got := len(d.waiting().Orders[0].Approvals); got != 1 {
			t.Errorf("got %d approvals of one person, want 1", got)
		}
		r.Must(d.approve(t, 2, text, approval.Yes))
		r.Trouble = false
		r.Settle()
		if got := r.Now(large).Status; got != bursar.WithdrawalConfirmed {
			t.Errorf("got %s, want it paid", got)
		}
	})
}

// A refund to a sender names the operator who decided it.
func TestARefundNamesItsOperator(t *testing.T) {
	t.Parallel()
	bursartest.On(t, bursartest.Numbered, func(t *testing.T, r *bursartest.OneChain) {
		d := newHarness(t, r)
		_, err := r.Unattributed().Refund(t.Context(), unattributed.RefundRequest{Deposit: r.Astray().ID,
			To: r.Chain.Named("sender"), By: "bob"})
		r.Must(err)
		var texts []string
		r.Sender.Orders = func(
			ctx context.Context, p bursar.OutgoingTx, request chain.TxRequest, _ ...bursar.ID,
		) ([]chain.Order, error) {
			list, err := d.relay.Orders(ctx, p, request)
			for _, o := range list {
				texts = append(texts, o.Text)
			}
			return list, err
		}
		r.Step()
		if len(texts) == 0 || !strings.Contains(texts[0], "\naccount: -\n") ||
			!strings.Contains(texts[0], "\nrequester: bob\n") {
			t.Errorf("got %q, want an order of bob's", texts)
		}
	})
}
