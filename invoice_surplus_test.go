package bursar_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bursar/bursar"
)

// kept is a charge in a currency, whose surplus is refunded while payments come, are reorged out and come back.
type kept struct {
	bursar.InvoiceDetail
	t *rapid.T
}

func (k *kept) pay() {
	id := byte(len(k.Payments) + 1)
	status := rapid.SampledFrom([]bursar.DepositStatus{bursar.DepositPending, bursar.DepositConfirmed}).Draw(k.t, "status")
	k.Payments = append(k.Payments, payment(id, rapid.Uint64Range(1, 1500).Draw(k.t, "units"), status))
}

// turn changes the status of a payment: a block credits it, or a reorg takes it back.
func (k *kept) turn() {
	p := &k.Payments[rapid.IntRange(0, len(k.Payments)-1).Draw(k.t, "turned")].Deposit
	if p.Status == bursar.DepositConfirmed {
		p.Status = bursar.DepositReversed
		p.Reversals++
		return
	}
	p.Status = bursar.DepositConfirmed
}

// refund refunds what is over, as far as one payment has it.
func (k *kept) refund() {
	s := k.State(invoiceStart)
	p := s.Payments[rapid.IntRange(0, len(s.Payments)-1).Draw(k.t, "refunded")]
	amount := s.Over.SubOrZero(s.Returned).Min(p.Refundable())
	if s.Status != bursar.ChargePaid || !p.Counted || amount.IsZero() {
		return
	}
	r := k.RefundTerms(s, p.Deposit.ID, amount, p.Rate, invoiceStart)
	r.Withdrawal, r.Status = bursar.ID{2, byte(len(k.Refunds))}, bursar.WithdrawalQueued
	k.Refunds = append(k.Refunds, r)
}

// end has a refund fail, or undoes that.
func (k *kept) end() {
	if len(k.Refunds) == 0 {
		return
	}
	r := &k.Refunds[rapid.IntRange(0, len(k.Refunds)-1).Draw(k.t, "ended")]
	if r.Status = bursar.WithdrawalFailed; rapid.Bool().Draw(k.t, "undone") {
		r.Status = bursar.WithdrawalBroadcast
	}
}

// check fails if the charge is paid with less than is enough once what was refunded is taken from it, or if the order
// of its facts means anything.
func (k *kept) check() {
	s := k.State(invoiceStart)
	var credited, refunded bursar.Amount
	for _, p := range s.Payments {
		if p.Deposit.Status == bursar.DepositConfirmed {
			credited, _ = credited.Add(p.Value)
			refunded, _ = refunded.Add(p.Refunded)
		}
	}
	left := credited.SubOrZero(refunded)
	if enough := k.Required.SubOrZero(k.Under); s.Status == bursar.ChargePaid && left.Less(enough) {
		k.t.Fatalf("the charge is paid with %s of %s left, want %s at least; its state is %+v", left, credited, enough, s)
	}
	other := k.InvoiceDetail
	other.Payments, other.Refunds = slices.Clone(k.Payments), slices.Clone(k.Refunds)
	slices.Reverse(other.Payments)
	slices.Reverse(other.Refunds)
	if o := other.State(invoiceStart); o.Status != s.Status || o.Received != s.Received || o.Returned != s.Returned ||
		o.Due != s.Due || !slices.Equal(o.Labels, s.Labels) {
		k.t.Fatalf("in the other order the state is %+v, want %+v", o, s)
	}
}

// A charge is never paid by money that was refunded because it was too much, whatever is reorged out and comes back.
func TestARefundedSurplusNeverPays(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		k := &kept{bursar.InvoiceDetail{Invoice: invoice()}, t}
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			switch n := rapid.IntRange(0, 5).Draw(t, "step"); {
			case n < 2 || len(k.Payments) == 0:
				k.pay()
			case n == 2:
				k.turn()
			case n == 3:
				k.end()
			default:
				k.refund()
			}
			k.check()
		}
	})
}

// A refund that had failed is paid after all once a reorg takes its failure back: with the one that was requested in
// its place, more than the payment has left. The charge is not paid by what other payments would have to make up for.
func TestASurplusThatIsRefundedTwiceDoesNotPay(t *testing.T) {
	t.Parallel()
	k := bursar.InvoiceDetail{Invoice: invoice()}
	for id, units := range []uint64{1500, 300} {
		k.Payments = append(k.Payments, payment(byte(id+1), units, bursar.DepositConfirmed))
	}
	first := k.Payments[0]
	for i := range 2 {
		s := k.State(invoiceStart)
		r := k.RefundTerms(s, first.Deposit.ID, s.Over, first.Rate, invoiceStart)
		r.Withdrawal, r.Status = bursar.ID{2, byte(i)}, bursar.WithdrawalFailed
		k.Refunds = append(k.Refunds, r)
	}
	for i := range k.Refunds {
		k.Refunds[i].Status = bursar.WithdrawalBroadcast
	}
	k.Payments = append(k.Payments, payment(3, 690, bursar.DepositConfirmed))
	s := k.State(invoiceStart)
	if s.Status == bursar.ChargePaid || s.Returned != bursar.Units(1600) {
		t.Errorf("2490 came and 1600 left: the charge is %s with %s returned, want one that is not paid and 1600",
			s.Status, s.Returned)
	}
}

// The same where the second refund was of all that the payment had left, so that the payment counts no more.
func TestAPaymentThatIsRefundedBeyondItselfIsMissingFromOthers(t *testing.T) {
	t.Parallel()
	k := bursar.InvoiceDetail{Invoice: invoice(), Payments: []bursar.Payment{
		payment(1, 1011, bursar.DepositConfirmed),
		payment(2, 990, bursar.DepositConfirmed),
	}}
	k.Refunds = []bursar.InvoiceRefund{
		{Deposit: k.Payments[0].Deposit.ID, Amount: bursar.Units(11), Surplus: bursar.Units(11)},
		{Deposit: k.Payments[0].Deposit.ID, Amount: bursar.Units(1001), Void: true},
	}
	k.Refunds[0].Status, k.Refunds[1].Status = bursar.WithdrawalFailed, bursar.WithdrawalBroadcast
	if s := k.State(invoiceStart); s.Status != bursar.ChargePaid {
		t.Errorf("990 came besides the refunded payment: the charge is %s, want paid", s.Status)
	}
	k.Refunds[0].Status = bursar.WithdrawalBroadcast
	if s := k.State(invoiceStart); s.Status == bursar.ChargePaid || s.Returned != bursar.Units(1) {
		t.Errorf("of 1011 there were 1012 refunded: the charge is %s with %s returned, want one that is not paid and 1",
			s.Status, s.Returned)
	}
}
