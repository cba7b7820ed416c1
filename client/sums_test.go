package client_test

import (
	"slices"
	"time"

	"github.com/bursar/bursar/client"
)

// sums plays charges whose deposits add up: one with a price that is overpaid and refunded, and one that is cancelled.
func (s *harness) sums() {
	ctx := s.Context()
	rates, err := s.Rates(ctx)
	if s.need(err); len(rates) != 1 || rates[0].Currency != "COIN" || rates[0].Rate != "100" {
		s.Errorf("got the rates %+v, want 100 EUR", rates)
	}
	n := client.NewSum{Currencies: []string{"COIN"}, Price: "25.00", PriceCurrency: "EUR", Webhook: s.url, Metadata: "m",
		Life: time.Hour, RateLock: 10 * time.Minute, UnderPercent: "1", UnderAmount: "0.10", OverPercent: "1",
		OverAmount: "0.20", Late: "review", Other: "accept", Reference: "order 1", Description: "shoes", Customer: "c 7",
		RedirectSuccess: "https://shop.example/ok", RedirectFailure: "https://shop.example/no",
		Contact: "help@shop.example", Locale: "en", LinkFormat: "link", Events: []string{client.EventPartial}}
	made, err := s.CreateSum(ctx, n)
	if s.need(err); made.Status != client.SumOpen || made.Options[0].Due != "0.25000000" || made.Address == "" ||
		made.Tolerance.Under != "0.10" || made.Tolerance.Over != "0.20" || made.RateLock != 600 || made.ExpiresAt == nil {
		s.Errorf("made %+v", made)
	}
	if again, err := s.CreateSum(ctx, n); err != nil || again.ChargeID != made.ChargeID {
		s.Errorf("the same reference makes %+v, %v, want the first", again, err)
	}
	n.Price = "26.00"
	if _, err := s.CreateSum(ctx, n); client.CodeOf(err) != client.IdempotencyConflict {
		s.Errorf("another price with the reference: %v, want idempotency_conflict", err)
	}
	if same, err := s.QuoteCharge(ctx, made.ChargeID, "COIN"); err != nil || same.Version != made.Version {
		s.Errorf("a quote within the lock makes %+v, %v, want the same version", same, err)
	}
	s.pay(made.Address, 10_000_000)
	if partial := s.notified(client.EventPartial); partial.Sum == nil || partial.Charge != nil ||
		partial.Sum.Received != "10.00" || partial.Sum.Options[0].Due != "0.15000000" {
		s.Errorf("the event is %+v of %+v", partial, partial.Sum)
	}
	s.pay(made.Address, 20_000_000)
	over := s.notified(client.EventAttention)
	if over.Sum == nil || over.Sum.Status != client.SumPaid || !slices.Contains(over.Sum.Labels, "over") {
		s.Fatalf("the event is %+v of %+v", over, over.Sum)
	}
	s.refunds(*over.Sum)
	s.cancels()
	s.links()
}

// links makes payment links, and closes one.
func (s *harness) links() {
	ctx := s.Context()
	n := client.NewLink{NewSum: client.NewSum{Currencies: []string{"COIN"}, Price: "25.00", PriceCurrency: "EUR",
		Webhook: s.url}, Fields: []string{"email", "order"}, MaxUses: 7, Closes: time.Now().Add(time.Hour)}
	made, err := s.CreateLink(ctx, n)
	if s.need(err); made.Amount != "25.00" || made.PriceCurrency != "EUR" || made.MaxUses != 7 || len(made.Fields) != 2 ||
		made.ClosesAt == nil || made.Token == "" || made.Token == made.LinkID {
		s.Errorf("made %+v", made)
	}
	open, err := s.CreateLink(ctx, client.NewLink{NewSum: client.NewSum{Currencies: []string{"COIN"}, Webhook: s.url}})
	if s.need(err); open.Amount != "" || open.PriceCurrency != "COIN" || open.MaxUses != 0 || open.ClosesAt != nil {
		s.Errorf("made %+v", open)
	}
	if closed, err := s.CloseLink(ctx, made.LinkID); err != nil || closed.ClosedAt == nil {
		s.Errorf("closed %+v, %v", closed, err)
	}
	if got, err := s.Link(ctx, made.LinkID); err != nil || got.ClosedAt == nil {
		s.Errorf("got %+v, %v, want a closed one", got, err)
	}
	list, err := s.Links(ctx, client.Page{Limit: 1})
	if s.need(err); len(list.Items) != 1 || list.Items[0].LinkID != open.LinkID || list.NextCursor == "" {
		s.Errorf("the links are %+v", list)
	}
	closed, err := s.LinksBy(client.LinkFilter{Open: "false", From: made.CreatedAt})(ctx, client.Page{})
	if s.need(err); len(closed.Items) != 1 || closed.Items[0].LinkID != made.LinkID {
		s.Errorf("the closed links are %+v, want %s alone", closed, made.LinkID)
	}
}

func (s *harness) refunds(charge client.Charge) {
	ctx := s.Context()
	deposit := charge.Payments[1].DepositID
	got, w, err := s.RefundCharge(ctx, client.Refund{ChargeID: charge.ChargeID, DepositID: deposit,
		Address: s.node.Named("payer"), Part: "over", Rate: "then", Fee: "merchant", IdempotencyKey: "refund 1"})
	if s.need(err); w.Amount != "0.05000000" || len(got.Refunds) != 1 || got.Refunds[0].WithdrawalID != w.WithdrawalID ||
		got.Attention {
		s.Errorf("the refund is %+v of %+v", w, got)
	}
	_, _, err = s.RefundCharge(ctx, client.Refund{ChargeID: charge.ChargeID, DepositID: deposit,
		Address: s.node.Named("payer"), Amount: "1"})
	if client.CodeOf(err) != client.AboveMaximum {
		s.Errorf("a refund of more than was paid: %v, want above_maximum", err)
	}
	if _, err := s.KeepPayment(ctx, charge.ChargeID, deposit); client.CodeOf(err) != client.AlreadyResolved {
		s.Errorf("a second resolution: %v, want already_resolved", err)
	}
	if _, err := s.AcceptPayment(ctx, charge.ChargeID, charge.Payments[0].DepositID); client.CodeOf(err) !=
		client.ChargeClosed {
		s.Errorf("a payment that is in order: %v, want charge_closed", err)
	}
	for want, f := range map[int]client.ChargeFilter{1: {Status: "paid", Label: "over", Attention: "false",
		Reference: "order 1", Currency: "COIN", From: s.clock.Now().Add(-time.Hour), To: s.clock.Now().Add(time.Hour)},
		0: {Status: "cancelled"}} {
		list, err := s.ChargesOf(f)(ctx, client.Page{})
		if s.need(err); len(list.Items) != want {
			s.Errorf("%+v gives %+v, want %d", f, list, want)
		}
	}
}

func (s *harness) cancels() {
	made, err := s.CreateSum(s.Context(), client.NewSum{Currencies: []string{"COIN"}, Amount: "0.5", Webhook: s.url})
	s.need(err)
	got, err := s.CancelCharge(s.Context(), made.ChargeID)
	if s.need(err); got.Status != client.SumCancelled || got.Version != 2 || !got.Expired {
		s.Errorf("cancelled it is %+v", got)
	}
	if _, err := s.QuoteCharge(s.Context(), made.ChargeID, "COIN"); client.CodeOf(err) != client.ChargeClosed {
		s.Errorf("a quote of a cancelled charge: %v, want charge_closed", err)
	}
}
