package charge_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/charge"
)

// A payer names where to be refunded to; the client refunds there, and from then on no other address is taken.
func TestAPayerNamesWhereToBeRefundedTo(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		d := r.sum(func(t *charge.Terms) { t.Life = 2 * time.Minute })
		propose := func(p charge.Proposal) error {
			p.Token = d.Token
			_, err := r.Charges.ProposeRefund(ctx, p)
			return err
		}
		buyer, other := r.chains[bursar.Bitcoin].Named("buyer"), r.chains[bursar.Bitcoin].Named("other")
		r.refuses(propose(charge.Proposal{Address: buyer}), bursar.CodeChargeClosed, "")
		r.send(d, "BTC", "BTC", 50_000)
		r.mine(bursar.Bitcoin, 3)
		r.shows(d, "expired partial !")
		r.refuses(propose(charge.Proposal{Address: "nonsense"}), bursar.CodeInvalidAddress, "address")
		r.refuses(propose(charge.Proposal{Currency: "XRP", Address: buyer}), bursar.CodeInvalidRequest, "currency")
		r.must(propose(charge.Proposal{Address: buyer}))
		version := r.view(d).Version
		r.must(propose(charge.Proposal{Address: buyer}))
		if v := r.view(d); v.Version != version || len(v.RefundAddresses) != 1 || v.RefundAddresses[0].Address != buyer ||
			v.RefundAddresses[0].Locked || v.RefundAddresses[0].Named != 1 {
			t.Fatalf("the charge is %+v, want version %d with one address", v, version)
		}
		r.must(propose(charge.Proposal{Address: other}))
		w, err := r.refund(d, 0, func(o *charge.Refund) { o.Address = other })
		r.must(err)
		r.refuses(propose(charge.Proposal{Address: buyer}), bursar.CodeChargeClosed, "")
		if v := r.view(d); v.RefundAddresses[0].Address != other || !v.RefundAddresses[0].Locked ||
			v.RefundAddresses[0].Named != 2 {
			t.Fatalf("the addresses are %+v, want %s, named as the second and locked", v.RefundAddresses, other)
		}
		_, err = r.Withdrawals.Cancel(ctx, w.ID)
		r.must(err)
		for n := range 8 {
			r.must(propose(charge.Proposal{Address: r.chains[bursar.Bitcoin].Named(fmt.Sprint(n))}))
		}
		r.refuses(propose(charge.Proposal{Address: buyer}), bursar.CodeChargeClosed, "")
		// Somebody else who has the page has used them all up; the payer waits, and corrects it.
		r.clock.Advance(10 * time.Minute)
		r.must(propose(charge.Proposal{Address: buyer}))
		r.refuses(propose(charge.Proposal{Address: other}), bursar.CodeChargeClosed, "")
		if _, err := r.Charges.ProposeRefund(ctx, charge.Proposal{Token: d.ID, Address: buyer}); refusal(err) == nil ||
			refusal(err).Code != bursar.CodeNotFound {
			t.Errorf("by the charge's ID: %v, want not_found", err)
		}
	})
}

// Of a currency with tags the payer is asked for one.
func TestAPayerIsAskedForATag(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		d := r.sum(func(t *charge.Terms) {
			t.Currencies, t.Unit, t.Amount, t.Life = []bursar.CurrencyCode{"XRP"}, "XRP", "10.00", 2*time.Minute
		})
		r.send(d, "XRP", "XRP", 5_000_000)
		r.mine(bursar.XRPL, 3)
		r.shows(d, "expired partial !")
		buyer := r.chains[bursar.XRPL].Named("buyer")
		for _, c := range []struct {
			proposal charge.Proposal
			field    string
		}{
			{charge.Proposal{Address: buyer}, "tag"},
			{charge.Proposal{Address: buyer, Tag: "x"}, "tag"},
			{charge.Proposal{Address: buyer + ":7", NoTag: true}, "tag"},
			{charge.Proposal{Address: buyer, Tag: "7"}, ""},
			{charge.Proposal{Address: buyer, NoTag: true}, ""},
		} {
			c.proposal.Token = d.Token
			_, err := r.Charges.ProposeRefund(ctx, c.proposal)
			if got := refusal(err); c.field == "" && err != nil || c.field != "" && (got == nil || got.Field != c.field) {
				t.Errorf("%+v: %v, want a refusal of %q", c.proposal, err, c.field)
			}
		}
	})
}

// refuses checks how a request was refused.
func (r *harness) refuses(err error, code bursar.ErrorCode, field string) {
	r.t.Helper()
	if got := refusal(err); got == nil || got.Code != code || got.Field != field {
		r.t.Fatalf("got %v, want %s of %q", err, code, field)
	}
}
