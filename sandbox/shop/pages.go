package shop

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/bursar/bursar/client"
	"github.com/bursar/bursar/sandbox/control"
)

// hookPath takes the webhooks.
const hookPath = "/hook"

const maxHook = 1 << 20 // bytes

// show writes a page.
func (s *Shop) show(w http.ResponseWriter, status int, page string, data any) {
	var body bytes.Buffer
	if err := s.pages.ExecuteTemplate(&body, page, data); err != nil {
		s.Log.Error("demo shop cannot show a page", "page", page, "error", err)
		http.Error(w, "the page cannot be shown", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = body.WriteTo(w) // the browser is gone if this fails
}

// fail shows what went wrong, and where to go on.
func (s *Shop) fail(w http.ResponseWriter, err error) {
	status := http.StatusBadGateway
	var refused *client.Error
	if errors.As(err, &refused) {
		status = refused.Status
	}
	s.show(w, status, "failed", err.Error())
}

func (s *Shop) home(w http.ResponseWriter, _ *http.Request) {
	s.show(w, http.StatusOK, "home", struct {
		Products []Product
		Lives    []time.Duration
		Orders   []Order
	}{products, lives, s.orders.newest(20)})
}

// buy makes an order and its charge, and leads to it.
func (s *Shop) buy(w http.ResponseWriter, r *http.Request) {
	product, found := productOf(r.FormValue("product"))
	life, err := time.ParseDuration(r.FormValue("life"))
	if !found || err != nil || !slices.Contains(lives, life) {
		s.show(w, http.StatusBadRequest, "failed", "there is no such thing to buy")
		return
	}
	number := newNumber()
	charge, err := s.Service.CreateSum(r.Context(), client.NewSum{
		Currencies:      s.Currencies,
		Price:           product.Price,
		PriceCurrency:   "EUR",
		UnderPercent:    "0.5",
		OverPercent:     "0.5",
		Life:            life,
		RateLock:        min(life, 15*time.Minute),
		Webhook:         s.URL() + hookPath,
		Reference:       number,
		Description:     product.Name,
		RedirectSuccess: s.URL() + "/order/" + number,
		RedirectFailure: s.URL() + "/order/" + number,
		Events:          []string{"pending", "partial", "overpaid", "expired", "cancelled", "refunded"},
	})
	if err != nil {
		s.fail(w, err)
		return
	}
	s.orders.add(Order{Number: number, Product: product, Charge: charge})
	http.Redirect(w, r, "/order/"+number, http.StatusSeeOther)
}

// way is a way in which the sandbox pays, in words.
type way struct{ How, Says string }

// ways are the remote control's, in its order.
var ways = []way{
	{control.PayExact, "exactly what is due"},
	{control.PayPartial, "half of it"},
	{control.PayOver, "half as much again"},
	{control.PayLate, "after the end"},
	{control.PayOtherAsset, "another currency of the same network"},
	{control.PayOtherNetwork, "on another network"},
	{control.PayNoTag, "without the tag"},
	{control.PayReorg, "in a block that is replaced"},
}

// order shows an order as the service has it now.
func (s *Shop) order(w http.ResponseWriter, r *http.Request) {
	order, found := s.orders.get(r.PathValue("number"))
	if !found {
		s.show(w, http.StatusNotFound, "failed", "there is no such order")
		return
	}
	charge, err := s.Service.Charge(r.Context(), order.Charge.ChargeID)
	if err != nil {
		s.fail(w, err)
		return
	}
	s.orders.learn(charge, "")
	order, _ = s.orders.get(order.Number)
	s.show(w, http.StatusOK, "order", struct {
		Order
		Hows    []way
		Watched bool // the page loads itself again until the order has ended
	}{order, ways, r.URL.Query().Has("watch") && !order.Ended()})
}

// pay has the remote control pay for the payer.
func (s *Shop) pay(w http.ResponseWriter, r *http.Request) {
	order, found := s.orders.get(r.PathValue("number"))
	if !found {
		s.show(w, http.StatusNotFound, "failed", "there is no such order")
		return
	}
	how := r.FormValue("how")
	err := s.payBy(r.Context(), map[string]string{
		"chargeID": order.Charge.ChargeID,
		"apiKey":   s.APIKey,
		"currency": r.FormValue("currency"),
		"how":      how,
	})
	if err != nil {
		s.fail(w, err)
		return
	}
	http.Redirect(w, r, "/order/"+order.Number+"?watch", http.StatusSeeOther)
}

// payBy asks the remote control.
func (s *Shop) payBy(ctx context.Context, payment map[string]string) error {
	body, err := json.Marshal(payment)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.Control+"/test/charge/pay", bytes.NewReader(body))
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("ask the remote control: %w", err)
	}
	defer response.Body.Close()
	var answer struct {
		Error string `json:"error"`
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, maxHook)).Decode(&answer); err != nil {
		return fmt.Errorf("read the remote control's answer: %w", err)
	}
	if answer.Error != "" {
		return &client.Error{Status: response.StatusCode, Message: answer.Error}
	}
	return nil
}

// hook takes what the service says of a charge, once it is known to come from there.
func (s *Shop) hook(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxHook))
	if err != nil {
		http.Error(w, "cannot read the body", http.StatusBadRequest)
		return
	}
	event, err := client.VerifyWebhook(s.WebhookSecret, r.Header, body, s.Now())
	if err != nil {
		http.Error(w, "this webhook is not authentic", http.StatusBadRequest)
		return
	}
	if event.Sum != nil {
		s.orders.learn(*event.Sum, event.Event)
	}
	w.WriteHeader(http.StatusNoContent)
}
