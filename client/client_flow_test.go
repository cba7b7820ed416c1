package client_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/client"
)

// TestEveryMethodAgainstTheService calls every method against the real service: a wallet gets a deposit, an event and
// pays a withdrawal.
func TestEveryMethodAgainstTheService(t *testing.T) {
	t.Parallel()
	s := newHarness(t)
	s.eventually("the chain has started", func() bool {
		states, err := s.service.ChainStatus(t.Context())
		return err == nil && len(states) == 1 && states[0].Height >= 0
	})
	wallet := s.wallets()
	charge := s.charges()
	s.pay(wallet.Address, 150_000_000)
	s.pay(charge.Address, 2_000_000)
	s.pay(s.service.Hot(bursar.Bitcoin).Base, 1_000_000_000) // what pays withdrawals before anything is swept
	s.deposits(wallet)
	s.paid(charge)
	s.withdrawals()
	s.books()
	s.statement()
	s.deliveries()
	s.requests()
	s.sums()
	s.found(wallet)
	s.feed()
	s.orders()
	s.recorder.whole(t)
}

func (s *harness) wallets() client.Wallet {
	ctx := s.Context()
	currencies, err := s.Currencies(ctx)
	if s.need(err); !slices.Equal(currencies.Codes, []string{"COIN"}) || currencies.Details["COIN"].Confirmations != 2 ||
		currencies.Details["COIN"].Contract != "" {
		s.Errorf("the currencies are %+v", currencies)
	}
	n := client.NewWallet{Currency: "COIN", Webhook: s.url + "/a", Metadata: "order <1> é", IdempotencyKey: "one"}
	wallet, err := s.CreateWallet(ctx, n)
	if s.need(err); wallet.Currency != "COIN" || wallet.Webhook != n.Webhook || wallet.Metadata != n.Metadata ||
		wallet.Minimum != "0.00001000" || wallet.CreatedAt.IsZero() {
		s.Errorf("made %+v", wallet)
	}
	again, err := s.CreateWallet(ctx, n)
	if s.need(err); again != wallet {
		s.Errorf("the same key gives %+v, want %v", again, wallet)
	}
	n.Metadata = "another"
	if _, err := s.CreateWallet(ctx, n); client.CodeOf(err) != client.IdempotencyConflict {
		s.Errorf("the same key for another wallet gives %v", err)
	}
	other, err := s.CreateWallet(ctx, client.NewWallet{Currency: "COIN", Webhook: s.url})
	s.need(err)
	got, err := s.Wallet(ctx, wallet.WalletID)
	if s.need(err); got != wallet {
		s.Errorf("got %+v, want %v", got, wallet)
	}
	wallet, err = s.SetMetadata(ctx, wallet.WalletID, "order 2")
	if s.need(err); wallet.Metadata != "order 2" {
		s.Errorf("metadata is %q, want %q", wallet.Metadata, "order 2")
	}
	s.webhooks(wallet)
	var listed []string
	for w, err := range client.All(ctx, func(ctx context.Context, p client.Page) (client.List[client.Wallet], error) {
		p.Limit = 1
		return s.WalletsOf(ctx, "COIN", p)
	}) {
		s.need(err)
		listed = append(listed, w.WalletID)
	}
	if !slices.Equal(listed, []string{other.WalletID, wallet.WalletID}) {
		s.Errorf("listed %v", listed)
	}
	for want, f := range map[string]client.WalletFilter{"by metadata": {Metadata: "order 2", Currency: "COIN"},
		"by address": {Address: wallet.Address, From: wallet.CreatedAt, To: wallet.CreatedAt.Add(time.Hour)}} {
		found, err := s.WalletsBy(f)(ctx, client.Page{})
		if s.need(err); len(found.Items) != 1 || found.Items[0].WalletID != wallet.WalletID {
			s.Errorf("%s are found %+v, want %s", want, found.Items, wallet.WalletID)
		}
	}
	return wallet
}

func (s *harness) webhooks(wallet client.Wallet) {
	ctx := s.Context()
	w, err := s.SetWalletWebhook(ctx, wallet.WalletID, s.url+"/b")
	if s.need(err); w.Webhook != s.url+"/b" || w.WalletID != wallet.WalletID {
		s.Errorf("the wallet is %+v", w)
	}
	if n, err := s.SetCurrencyWebhook(ctx, "COIN", s.url+"/c"); err != nil || n != 2 {
		s.Errorf("changed %d, %v", n, err)
	}
	if n, err := s.SetEveryWebhook(ctx, s.url+"/d"); err != nil || n != 2 {
		s.Errorf("changed %d, %v", n, err)
	}
	for what, err := range map[string]error{"wallet": second(s.SetWalletWebhook(ctx, "", s.url)),
		"currency": second(s.SetCurrencyWebhook(ctx, "", s.url))} {
		if client.CodeOf(err) != client.InvalidRequest && client.CodeOf(err) != client.UnsupportedCurrency {
			s.Errorf("no %s means all: %v", what, err)
		}
	}
	list, err := s.Wallets(ctx, client.Page{})
	if s.need(err); len(list.Items) != 2 || list.Items[0].Webhook != s.url+"/d" || list.NextCursor != "" {
		s.Errorf("listed %+v", list)
	}
}

func second[T any](_ T, err error) error { return err }

func (s *harness) charges() client.Charge {
	ctx := s.Context()
	made, err := s.CreateCharge(ctx, client.NewCharge{Currency: "COIN", Webhook: s.url, Metadata: "m", Minimum: "0.02",
		Life: 10 * time.Minute})
	if s.need(err); made.Minimum != "0.02000000" || made.Expires != 600 || made.Paid || made.Metadata != "m" {
		s.Errorf("made %+v", made)
	}
	plain, err := s.CreateCharge(ctx, client.NewCharge{Currency: "COIN", Webhook: s.url})
	if s.need(err); plain.Minimum != "0.00001000" || plain.Expires != 3600 {
		s.Errorf("made %+v", plain)
	}
	list, err := s.Charges(ctx, client.Page{Limit: 1})
	if s.need(err); len(list.Items) != 1 || list.Items[0].ChargeID != plain.ChargeID || list.NextCursor == "" {
		s.Errorf("listed %+v", list)
	}
	return made
}

func (s *harness) deposits(wallet client.Wallet) {
	ctx := s.Context()
	event := s.notified(client.EventDeposit)
	s.eventually("the wallet's deposit is listed as confirmed", func() bool {
		list, err := s.Deposits(ctx, wallet.WalletID, client.Page{})
		s.need(err)
		return len(list.Items) == 1 && list.Items[0].Status == client.DepositConfirmed
	})
	list, err := s.Deposits(ctx, wallet.WalletID, client.Page{})
	s.need(err)
	got, err := s.Deposit(ctx, list.Items[0].DepositID)
	if s.need(err); got.Amount != "1.50000000" || got.WalletID != wallet.WalletID || got.ConfirmedAt == nil ||
		got.Confirmations < 2 || got.RequiredConfirmations != 2 {
		s.Errorf("the deposit is %+v", got)
	}
	byHash, err := s.DepositsByHash(ctx, got.HashID)
	if s.need(err); len(byHash) != 1 || byHash[0].DepositID != got.DepositID {
		s.Errorf("by its hash: %+v", byHash)
	}
	if event.AccountID != s.issued.AccountID.String() || event.Type != "wallet" || event.Deposit == nil ||
		event.Deposit.Metadata != "order 2" {
		s.Errorf("the event is %+v", event)
	}
}

func (s *harness) paid(charge client.Charge) {
	event := s.notified(client.EventPaid)
	if event.Type != "charge" || event.Charge == nil || event.Charge.ChargeID != charge.ChargeID ||
		event.Charge.Amount != "0.02000000" ||
		event.Charge.AmountUSDT != "1300.01" || event.Charge.FeeUSDT != "0.00" || event.Charge.RateUSDT != "65000.5" {
		s.Errorf("the event is %+v", event)
	}
	got, err := s.Charge(s.Context(), charge.ChargeID)
	if s.need(err); !got.Paid || got.Expired || len(got.DepositIDs) != 1 {
		s.Errorf("the charge is %+v", got)
	}
}

func (s *harness) withdrawals() {
	ctx := s.Context()
	order := client.NewWithdrawal{Currency: "COIN", Amount: "0.5", Address: s.node.Named("outside"),
		IdempotencyKey: "payment 7"}
	w, err := s.Withdraw(ctx, order)
	if s.need(err); w.Amount != "0.50000000" || w.HashID != "" || w.Error != "" || w.CompletedAt != nil {
		s.Errorf("the withdrawal is %+v", w)
	}
	again, err := s.Withdraw(ctx, order)
	if s.need(err); again.WithdrawalID != w.WithdrawalID {
		s.Errorf("the same key gives %+v", again)
	}
	for change, want := range map[client.NewWithdrawal]client.Code{
		{Currency: "COIN", Amount: "1000", Address: order.Address}:   client.InsufficientBalance,
		{Currency: "COIN", Amount: "1e3", Address: order.Address}:    client.InvalidAmount,
		{Currency: "COIN", Amount: "1", Address: "nowhere"}:          client.InvalidAddress,
		{Currency: "GOLD", Amount: "1", Address: order.Address}:      client.UnsupportedCurrency,
		{Currency: "COIN", Amount: "0.00000001", Address: w.Address}: client.BelowMinimum,
	} {
		_, err := s.Withdraw(ctx, change)
		var refusal *client.Error
		if !errors.As(err, &refusal) || refusal.Code != want || refusal.Field == "" || refusal.RequestID == "" ||
			refusal.Status/100 != 4 || refusal.Message == "" {
			s.Errorf("%+v gives %v, want %s", change, err, want)
		}
	}
	s.eventually("it is confirmed", func() bool {
		s.node.Mine(1)
		got, err := s.Withdrawal(ctx, w.WithdrawalID)
		s.need(err)
		return got.Status == client.WithdrawalConfirmed && got.HashID != "" && got.CompletedAt != nil
	})
	list, err := s.Withdrawals(ctx, client.Page{})
	if s.need(err); len(list.Items) != 1 || list.Items[0].WithdrawalID != w.WithdrawalID {
		s.Errorf("listed %+v", list)
	}
	if got := s.node.Balance(order.Address, ""); got != bursar.Units(50_000_000) {
		s.Errorf("outside holds %s", got)
	}
}
