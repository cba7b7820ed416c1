package api_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/api"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// An account is shown the largest withdrawal that it may request, from the moment on that an operator set it.
func TestTheLargestWithdrawalShownIsTheCallersOwn(t *testing.T) {
	t.Parallel()
	c := newScript(t, storetest.Reused(t))
	shows := func(account, code, want string) {
		t.Helper()
		r := c.request([]string{"GET /api/v1/wallet/currencies", "@" + account})
		response, body := c.send(r)
		c.always(r, response, body)
		var answer struct {
			Response struct {
				Details map[string]struct{ WithdrawalMaximum string }
			}
		}
		if err := json.Unmarshal(body, &answer); err != nil {
			t.Fatal(err)
		}
		if got := answer.Response.Details[code].WithdrawalMaximum; got != want {
			t.Errorf("%s is shown a largest withdrawal of %q %s, want %q", account, got, code, want)
		}
	}
	shows("mine", "BTC", "")
	c.do(func(tx *store.Tx) error {
		for _, r := range []bursar.LimitRule{
			{AccountID: c.id("mine"), Currency: "BTC", Amount: bursar.Units(5_000_000)},
			{Currency: "SOL", Amount: bursar.Units(1_000_000_000)}, {Currency: "ETH", Amount: bursar.LargestAmount()},
		} {
			r.Kind = bursar.LimitMaximum
			if err := tx.LimitRules().Set(c.Context(), r); err != nil {
				return err
			}
		}
		return nil
	})
	shows("mine", "BTC", "0.05000000")
	shows("other", "BTC", "")
	shows("other", "SOL", "1.00000000") // the configuration has 100
}

// logged keeps the request that the last line of a log names.
type logged struct {
	slog.Handler
	message, request string
}

func (l *logged) Enabled(context.Context, slog.Level) bool { return true }

// Handle keeps what a line says.
func (l *logged) Handle(ctx context.Context, line slog.Record) error {
	l.message, l.request = line.Message, bursar.RequestOf(ctx)
	return nil
}

// A line that a request causes is found by the X-Request-ID of its answer.
func TestLinesOfTheLogNameTheRequest(t *testing.T) {
	t.Parallel()
	lines := &logged{Handler: slog.DiscardHandler}
	c := newScript(t, storetest.Reused(t), func(config *api.Config) { config.Charges.Log = slog.New(lines) })
	r := c.request([]string{"POST /api/v1/link?currency=BTC&webhook=https://shop.example/link", "@mine"})
	response, body := c.send(r)
	c.always(r, response, body)
	if id := response.Header.Get("X-Request-ID"); lines.message != "payment link made" || lines.request != id || id == "" {
		t.Errorf("the last line is %q of request %q, want that of the link, of %q: %s", lines.message, lines.request,
			id, body)
	}
}
