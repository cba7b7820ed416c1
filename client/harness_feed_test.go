package client_test

import (
	"context"
	"errors"
	"time"

	"github.com/bursar/bursar/client"
)

// feed reads every event once, page by page and from the middle on, and waits for one to come.
func (s *harness) feed() {
	var all []client.Event
	for event, err := range s.Feed(s.Context(), client.FeedQuery{Limit: 1}) {
		s.need(err)
		all = append(all, event)
	}
	if len(all) < 3 || all[0].Deposit == nil || all[0].EventID == "" {
		s.Fatalf("the feed has %+v, want every event from the first deposit on", all)
	}
	sums := 0
	for _, e := range all {
		if e.Type == "charge" && e.Sum != nil {
			sums++
		}
	}
	if sums == 0 {
		s.Error("no event is about a charge whose deposits add up, want one")
	}
	last := all[len(all)-1].EventID
	ctx, cancel := context.WithCancel(s.Context())
	defer cancel()
	waited := s.Feed(ctx, client.FeedQuery{After: last, Type: "test", Event: client.EventTest, Wait: 20 * time.Second})
	made := make(chan client.Delivery, 1)
	go func() {
		test, err := s.TestWebhook(ctx, client.WebhookTest{Webhook: s.url})
		if err != nil {
			s.Error(err)
		}
		made <- test
	}()
	for event, err := range waited {
		s.need(err)
		if test := <-made; event.EventID != test.EventID || event.Type != "test" {
			s.Errorf("the event that was waited for is %+v, want %s", event, test.EventID)
		}
		break
	}
	for _, err := range s.Feed(ctx, client.FeedQuery{After: "nonsense"}) {
		if client.CodeOf(err) != client.InvalidRequest {
			s.Errorf("a wrong position gives %v, want %s", err, client.InvalidRequest)
		}
	}
}

// found looks for what was made before, and quotes and cancels a withdrawal.
func (s *harness) found(wallet client.Wallet) {
	ctx := s.Context()
	day := 24 * time.Hour
	now := s.clock.Now()
	deposits, err := s.AllDeposits(client.DepositFilter{Status: client.DepositConfirmed, Currency: "COIN",
		Address: wallet.Address, From: now.Add(-day), To: now.Add(day)})(ctx, client.Page{})
	if s.need(err); len(deposits.Items) != 1 || deposits.Items[0].WalletID != wallet.WalletID {
		s.Fatalf("deposits to the wallet are %+v, want one", deposits)
	}
	hash := deposits.Items[0].HashID
	byHash, err := s.AllDeposits(client.DepositFilter{HashID: hash})(ctx, client.Page{})
	if s.need(err); len(byHash.Items) != 1 {
		s.Errorf("deposits in its transaction are %+v, want one", byHash)
	}
	found, err := s.Search(ctx, hash)
	if s.need(err); len(found.Deposits) != 1 || found.Deposits[0].HashID != hash {
		s.Errorf("found by the hash is %+v, want the deposit", found)
	}
	n := client.NewWithdrawal{Currency: "COIN", Amount: "0.1", Address: s.node.Named("later"), Reference: "payout 1",
		Metadata: client.MetadataOf(map[string]string{"order": "17"})}
	quote, err := s.QuoteWithdrawal(ctx, n)
	if s.need(err); quote.Amount != "0.10000000" || quote.Fee == "" || quote.ValidUntil.IsZero() {
		s.Errorf("the quote is %+v", quote)
	}
	if _, err := s.CancelWithdrawal(ctx, deposits.Items[0].DepositID); client.CodeOf(err) != client.NotFound {
		s.Errorf("cancelling what is no withdrawal gives %v, want %s", err, client.NotFound)
	}
	w, err := s.Withdraw(ctx, n)
	if s.need(err); w.Reference != n.Reference || w.Metadata.Texts()["order"] != "17" {
		s.Errorf("the withdrawal is %+v, want the reference and metadata of %+v", w, n)
	}
	again, err := s.Withdraw(ctx, n) // with another key
	if s.need(err); again.WithdrawalID != w.WithdrawalID {
		s.Errorf("the same reference gives %s, want %s", again.WithdrawalID, w.WithdrawalID)
	}
	each, err := s.WithdrawEach(ctx, []client.NewWithdrawal{n, {Currency: "COIN", Amount: "1000", Address: n.Address,
		Reference: "payout 2"}})
	if s.need(err); len(each) != 2 || each[0].Err != nil || each[0].Withdrawal.WithdrawalID != w.WithdrawalID ||
		each[1].Err == nil || each[1].Err.Code != client.InsufficientBalance || each[1].Reference != "payout 2" {
		s.Errorf("several gave %+v, want the first again and a refusal", each)
	}
	listed, err := s.WithdrawalsOf(client.WithdrawalFilter{Reference: n.Reference})(ctx, client.Page{})
	if s.need(err); len(listed.Items) != 1 || listed.Items[0].WithdrawalID != w.WithdrawalID {
		s.Errorf("listed under the reference are %+v, want %s", listed, w.WithdrawalID)
	}
	w, err = s.CancelWithdrawal(ctx, w.WithdrawalID) // the sender may have been faster
	var refusal *client.Error
	if w.Status != client.WithdrawalCancelled && (!errors.As(err, &refusal) || refusal.Code != client.TooLate) {
		s.Errorf("cancelled it is %+v, %v, want it cancelled or %s", w, err, client.TooLate)
	}
}
