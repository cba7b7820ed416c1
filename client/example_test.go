package client_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/bursar/bursar/client"
)

// pretend is a service that always gives one response.
func pretend(status int, answer string) (*client.Client, func()) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(status)
		io.WriteString(w, answer)
	}))
	c, err := client.New(client.Config{BaseURL: server.URL, Key: "bk_…", Secret: "bs_…"})
	if err != nil {
		panic(err)
	}
	return c, server.Close
}

func ExampleClient_CreateWallet() {
	c, closeServer := pretend(200,
		`{"success":true,"response":{"wallet":{"walletID":"01991f2e-6c00-7a3b-8c1d-0123456789ab","currency":"BTC","address":"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4","minimum":"0.00010000"}}}`)
	defer closeServer()

	wallet, err := c.CreateWallet(context.Background(), client.NewWallet{
		Currency: "BTC",
		Webhook:  "https://shop.example/hooks/bursar",
		Metadata: "order 1234",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("pay at least", wallet.Minimum, wallet.Currency, "to", wallet.Address)
	// Output: pay at least 0.00010000 BTC to bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4
}

func ExampleClient_Withdraw() {
	c, closeServer := pretend(422,
		`{"success":false,"error":{"code":"insufficient_balance","message":"the balance of BTC does not cover the amount and its fee","field":"amount","docs":"/docs/errors#insufficient_balance"},"requestID":"01991f2e-6c00-7a3b-8c1d-0123456789ab"}`)
	defer closeServer()

	withdrawal, err := c.Withdraw(context.Background(), client.NewWithdrawal{
		Currency:       "BTC",
		Amount:         "0.5",
		Address:        "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
		IdempotencyKey: "payout 81", // our own ID of it: requested twice, it is paid once
	})
	var refusal *client.Error
	switch {
	case err == nil:
		fmt.Println("queued as", withdrawal.WithdrawalID)
	case client.CodeOf(err) == client.InsufficientBalance:
		fmt.Println("not enough money")
	case errors.As(err, &refusal):
		fmt.Println("refused:", refusal.Message)
	default:
		fmt.Println("not known; ask again with the same key:", err)
	}
	// Output: not enough money
}

func ExampleOrders() {
	_, key, err := ed25519.GenerateKey(nil) // yours, from where your payments are decided
	if err != nil {
		fmt.Println(err)
		return
	}
	orders := &client.Orders{
		Key:      key,
		Account:  "01991f2e-6c00-7a3b-8c1d-0123456789ab",
		Instance: "K7QJ3ZL2M5XW4RT6P8YN9VBHCD", // as the operator gave it to you
		Assets: map[string]client.Asset{
			"BTC":  {Chain: "bitcoin", Decimals: 8},
			"USDT": {Chain: "tron", Contract: "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", Decimals: 6},
		},
	}
	order, err := orders.Order(client.NewWithdrawal{Currency: "USDT", Amount: "12.5",
		Address: "TJRabPrwbZy45sbavfcjinPJC18kjpRTv8", IdempotencyKey: "payment 7",
		Created: time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(order.Text) // Withdraw of a client with these Orders sends it with its signature
	// Output:
	// bursar-order/1
	// instance: K7QJ3ZL2M5XW4RT6P8YN9VBHCD
	// account: 01991f2e-6c00-7a3b-8c1d-0123456789ab
	// order: a3fa038e-78ba-8d5a-a2a5-c9508f213c6e
	// requester: -
	// chain: tron
	// asset: TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t
	// pay: TJRabPrwbZy45sbavfcjinPJC18kjpRTv8
	// tag: -
	// units: 12500000
	// max_fee: -
	// created: 2026-11-24T12:00:00Z
	// expires: 2026-11-24T13:00:00Z
}

func ExampleAll() {
	c, closeServer := pretend(200, `{"success":true,"response":{"deposits":[{"amount":"0.10"},{"amount":"2.50"}]}}`)
	defer closeServer()

	walletID := "01991f2e-6c00-7a3b-8c1d-0123456789ab"
	deposits := client.All(context.Background(),
		func(ctx context.Context, p client.Page) (client.List[client.Deposit], error) {
			return c.Deposits(ctx, walletID, p)
		})
	for deposit, err := range deposits {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(deposit.Amount)
	}
	// Output:
	// 0.10
	// 2.50
}

func ExampleVerifyWebhook() {
	secret := "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" // of the account, from the environment
	clock := func() time.Time { return time.Unix(1767323050, 0) }
	handler := func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil {
			http.Error(w, "the body cannot be read", http.StatusBadRequest)
			return
		}
		event, err := client.VerifyWebhook(secret, r.Header, body, clock())
		if err != nil {
			http.Error(w, "this webhook is not believed", http.StatusBadRequest)
			return
		}
		// Keep event.EventID and do the work in one database transaction: an event may come twice.
		fmt.Println(event.Event, "of", event.Deposit.Amount, event.Deposit.Currency)
		w.WriteHeader(http.StatusNoContent)
	}

	for _, amount := range []string{"0.10000000", "9.10000000"} { // the second was changed on its way
		r := httptest.NewRequest(http.MethodPost, "/hooks/bursar",
			strings.NewReader(`{"success":true,"response":{"webhook":{"eventID":"01991f2e-6c00-7a3b-8c1d-0123456789ab","event":"deposit","deposit":{"amount":"`+amount+`","currency":"BTC"}}}}`))
		r.Header.Set("webhook-id", "01991f2e-6c00-7a3b-8c1d-0123456789ab")
		r.Header.Set("webhook-timestamp", "1767323045")
		r.Header.Set("webhook-signature", "v1,9Js+CZr9Fe2TEcotlPVkayIHp0L6lQupfgGARJXzM14=")
		w := httptest.NewRecorder()
		handler(w, r)
		fmt.Println(w.Code)
	}
	// Output:
	// deposit of 0.10000000 BTC
	// 204
	// 400
}
