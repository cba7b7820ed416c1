package client_test

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/client"
	"github.com/bursar/bursar/docs"
)

func (s *harness) books() {
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

func (s *harness) statement() {
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
func (s *harness) requests() {
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

func (s *harness) deliveries() {
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
	s := newHarness(t)
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
		client.BelowMinimum, client.AboveMaximum, client.LimitReached,
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
