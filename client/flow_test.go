package client_test

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/client"
	"github.com/bursar/bursar/docs"
)

// TestEveryMethodAgainstTheService calls every method against the real service: a wallet gets a deposit, an event and
// pays a withdrawal.
func TestEveryMethodAgainstTheService(t *testing.T) {
	t.Parallel()
	s := newShop(t)
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

func (s *shop) wallets() client.Wallet {
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

func (s *shop) webhooks(wallet client.Wallet) {
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

func (s *shop) charges() client.Charge {
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

func (s *shop) deposits(wallet client.Wallet) {
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

func (s *shop) paid(charge client.Charge) {
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

func (s *shop) withdrawals() {
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

func (s *shop) books() {
	got, err := s.Account(s.Context())
	if s.need(err); got.AccountID != s.issued.AccountID.String() || !strings.HasPrefix(got.Balance["COIN"], "1.0") ||
		got.Held["COIN"] != "0.00000000" || got.Pending["COIN"] != "0.00000000" {
		s.Errorf("the account is %+v", got)
	}
	if list, err := s.Destinations(s.Context(), client.Page{}); err != nil || list.Enabled || len(list.Items) != 0 {
		s.Errorf("the destinations are %+v, %v", list, err)
	}
	lines, err := s.Ledger(s.Context(), client.Page{})
	if s.need(err); len(lines.Items) != 6 || lines.Items[0].Kind != "withdrawal_settled" || lines.Items[0].Part != "fee" ||
		lines.Items[0].WithdrawalID == "" ||
		lines.Items[5].Kind != "deposit" || lines.Items[5].Part != "amount" || lines.Items[5].DepositID == "" ||
		lines.Items[5].Available != "1.50000000" {
		s.Errorf("the books have %+v", lines)
	}
	page, err := s.LedgerPage(s.Context(), client.LedgerFilter{}, client.Page{})
	if s.need(err); len(page.Items) != 6 || len(page.Archived) != 0 {
		s.Errorf("got a page of %d lines and %d sums of archived ones, want 6 and none", len(page.Items), len(page.Archived))
	}
	started := lines.Items[5].CreatedAt
	for want, filter := range map[int]client.LedgerFilter{
		2: {Kind: "deposit"}, 6: {Currency: "COIN", Since: started}, 4: {Since: started.Add(time.Microsecond)},
		0: {Until: started},
	} {
		var found []client.LedgerLine
		for line, err := range client.All(s.Context(), s.LedgerOf(filter)) {
			s.need(err)
			found = append(found, line)
		}
		if len(found) != want {
			s.Errorf("%+v gives %d lines, want %d", filter, len(found), want)
		}
	}
}

func (s *shop) statement() {
	of := client.StatementOf{From: s.clock.Now().Add(-24 * time.Hour), To: s.clock.Now().Add(time.Hour), Currency: "COIN"}
	first, err := s.Statement(s.Context(), of, client.Page{Limit: 4})
	if s.need(err); len(first.Entries) != 4 || first.NextCursor == "" || first.Final || len(first.Currencies) != 1 ||
		first.Currencies[0].Opening.Available != "0.00000000" || first.Currencies[0].Archived != nil {
		s.Errorf("the statement begins with %+v", first)
	}
	rest, err := s.Statement(s.Context(), of, client.Page{Cursor: first.NextCursor})
	if s.need(err); len(rest.Entries) != 2 || rest.NextCursor != "" || rest.Currencies != nil {
		s.Errorf("the statement goes on with %+v", rest)
	}
	account, err := s.Account(s.Context())
	if s.need(err); first.Currencies[0].Closing.Available != account.Balance["COIN"] {
		s.Errorf("the statement closes with %s, want %s", first.Currencies[0].Closing.Available, account.Balance["COIN"])
	}
	month, err := s.Statement(s.Context(), client.StatementOf{Month: s.clock.Now().UTC().Format("2006-01")}, client.Page{})
	if s.need(err); len(month.Entries) != 6 {
		s.Errorf("the month has %d entries, want 6", len(month.Entries))
	}
	text, next, err := s.StatementCSV(s.Context(), of, client.Page{})
	if s.need(err); strings.Count(text, "\n") != 9 || !strings.HasPrefix(text, "time,kind,") || next != "" {
		s.Errorf("the statement as CSV is %q with the cursor %q, want 9 rows and none", text, next)
	}
}

// requests finds in the log of requests the refusal of a wallet without a webhook.
func (s *shop) requests() {
	ctx := s.Context()
	_, err := s.CreateWallet(ctx, client.NewWallet{Currency: "NONE", Webhook: s.url})
	var refused *client.Error
	if !errors.As(err, &refused) {
		s.Fatalf("the wallet is refused with %v, want an error of the service", err)
	}
	s.eventually("the request is logged", func() bool {
		list, err := s.Requests(client.RequestFilter{Status: "4xx", Path: "wallet", RequestID: refused.RequestID})(ctx,
			client.Page{})
		s.need(err)
		return len(list.Items) == 1 && list.Items[0].RequestID == refused.RequestID &&
			list.Items[0].Code == client.UnsupportedCurrency && list.Items[0].Method == "POST"
	})
}

func (s *shop) deliveries() {
	ctx := s.Context()
	list, err := s.Deliveries(ctx, client.Page{})
	s.need(err)
	if len(list.Items) != 2 || list.Items[0].EventID == "" || list.Items[0].Webhook == "" {
		s.Fatalf("the deliveries are %+v", list)
	}
	for want, f := range map[int]client.DeliveryFilter{
		len(list.Items): {From: list.Items[1].CreatedAt},
		0:               {Status: "failed", Event: list.Items[0].Event},
	} {
		found, err := s.DeliveriesBy(f)(ctx, client.Page{})
		if s.need(err); len(found.Items) != want {
			s.Errorf("%+v finds %d deliveries, want %d", f, len(found.Items), want)
		}
	}
	s.need(s.Redeliver(ctx, list.Items[0].EventID))
	if n, err := s.RedeliverSince(ctx, s.clock.Now().Add(-time.Hour)); err != nil || n != 2 {
		s.Errorf("sent again: %d, %v", n, err)
	}
	test, err := s.TestWebhook(ctx, client.WebhookTest{Webhook: s.url, IdempotencyKey: "test event"})
	if s.need(err); test.Event != client.EventTest || test.Webhook != s.url || test.Status != "pending" ||
		len(test.Attempts) != 0 {
		s.Errorf("the test event is %+v", test)
	}
	if again, err := s.TestWebhook(ctx, client.WebhookTest{Webhook: s.url, IdempotencyKey: "test event"}); err != nil ||
		again.EventID != test.EventID {
		s.Errorf("the same key gives %+v, %v", again, err)
	}
	if got := s.notified(client.EventTest); got.EventID != test.EventID || got.Type != "test" || got.Deposit != nil {
		s.Errorf("the event is %+v", got)
	}
	if _, err := s.TestWebhook(ctx, client.WebhookTest{}); client.CodeOf(err) != client.InvalidRequest {
		s.Errorf("without a webhook: %v", err)
	}
	if _, err := s.TestWebhook(ctx,
		client.WebhookTest{WalletID: s.issued.AccountID.String()}); client.CodeOf(err) != client.NotFound {
		s.Errorf("to an unknown wallet: %v", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.wrong) > 0 {
		s.Errorf("webhooks were wrong: %v", s.wrong)
	}
}

func TestAnInvalidKeyIsRefused(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	c, err := client.New(client.Config{BaseURL: s.service.Address("api") + "/", Key: s.issued.APIKey[:45] + "x"})
	s.need(err)
	if _, err := c.Account(t.Context()); client.CodeOf(err) != client.Unauthorized {
		t.Errorf("got %v, want %v", err, client.Unauthorized)
	}
	c, err = client.New(client.Config{BaseURL: s.service.Address("api"), Key: s.issued.APIKey})
	s.need(err)
	if _, err := c.Withdraw(t.Context(), client.NewWithdrawal{Currency: "COIN", Amount: "1",
		Address: "x"}); client.CodeOf(err) != client.SecretRequired {
		t.Errorf("got %v, want %v", err, client.SecretRequired)
	}
	if _, err := c.Wallet(t.Context(), s.issued.AccountID.String()); client.CodeOf(err) != client.NotFound {
		t.Errorf("got %v, want %v", err, client.NotFound)
	}
}

// TestEveryCodeHasAName compares the client's codes with those of the API's description.
func TestEveryCodeHasAName(t *testing.T) {
	t.Parallel()
	served, err := docs.Render()
	if err != nil {
		t.Fatal(err)
	}
	named := []client.Code{client.InvalidRequest, client.UnsupportedCurrency, client.InvalidAmount, client.InvalidAddress,
		client.InvalidWebhook,
		client.Unauthorized, client.SecretRequired, client.InvalidSecret, client.Forbidden, client.WithdrawalsFrozen,
		client.NotFound, client.MethodNotAllowed,
		client.BodyTooLarge, client.UnsupportedMediaType, client.IdempotencyConflict, client.InsufficientBalance,
		client.BelowMinimum, client.AboveMaximum,
		client.DestinationRefused, client.RateLimited, client.Internal, client.Unavailable,
		client.RateUnavailable, client.ChargeClosed, client.AlreadyResolved, client.TooLate, client.EventsArchived,
		client.InvalidOrder, client.OrderExpired, client.OrderSignatureRequired, client.InvalidOrderSignature}
	var described []client.Code
	lists := regexp.MustCompile(`"code":\{"type":"string","enum":\[([^\]]*)\]`)
	for _, list := range lists.FindAllStringSubmatch(string(served.JSON), -1) {
		for code := range strings.SplitSeq(list[1], ",") {
			described = append(described, client.Code(strings.Trim(code, `"`)))
		}
	}
	slices.Sort(named)
	slices.Sort(described)
	if !slices.Equal(named, described) {
		t.Errorf("the client has %v, the API %v, want %+v", named, described, described)
	}
}
