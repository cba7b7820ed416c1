package e2e

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/big"
	"net/http"
	"net/url"
	"strings"
)

// account is a customer of the service.
type account struct {
	AccountID, APIKey, APISecret, WebhookSecret string

	w *world
}

// refusal is an answer that is no success.
type refusal struct {
	status        int
	code, message string
}

func (r *refusal) Error() string { return fmt.Sprintf("%d %s: %s", r.status, r.code, r.message) }

func isCode(err error, code string) bool {
	var r *refusal
	return errors.As(err, &r) && r.code == code
}

type params = map[string]string

// call puts a request to the API as this account; the response is read into out unless that is nil. Headers may be nil.
func (a *account) call(method, path string, p params, headers map[string]string, out any) error {
	target, body := a.w.box.API+"/api/v1/"+path, []byte(nil)
	if method == http.MethodGet {
		query := url.Values{}
		for name := range maps.Keys(p) {
			query.Set(name, p[name])
		}
		target += "?" + query.Encode()
	} else {
		body, _ = json.Marshal(p) // of texts: never fails
	}
	request, err := http.NewRequest(method, target, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("X-API-KEY", a.APIKey)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	answer, err := httpClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	return readAnswer(answer, out)
}

func readAnswer(answer *http.Response, out any) error {
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	var whole struct {
		Success  bool
		Response json.RawMessage
		Error    struct{ Code, Message string }
	}
	if err := json.Unmarshal(text, &whole); err != nil {
		return fmt.Errorf("%d %q: %w", answer.StatusCode, text, err)
	}
	if !whole.Success || answer.StatusCode != http.StatusOK {
		return &refusal{answer.StatusCode, whole.Error.Code, whole.Error.Message}
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(whole.Response, out)
}

type wallet struct {
	WalletID, Currency, Address, Minimum string

	account *account
}

type deposit struct {
	DepositID, WalletID, HashID, Currency, Address, Amount, Fee, Status string
	Confirmations                                                       uint64
	RequiredConfirmations                                               int
	BlockHeight                                                         uint64
}

type withdrawal struct {
	WithdrawalID, Currency, Amount, Fee, Address, Status string
	HashID                                               *string
}

// wallet makes a wallet whose webhooks go to the built-in receiver.
func (a *account) wallet(currency string) wallet {
	a.w.t.Helper()
	var made struct{ Wallet wallet }
	if err := a.call(http.MethodPost, "wallet", params{"currency": currency, "webhook": a.w.hook, "metadata": "e2e"}, nil, &made); err != nil {
		a.w.t.Fatalf("create a %s wallet: %v", currency, err)
	}
	made.Wallet.account = a
	a.w.remember(currency, made.Wallet.Address)
	return made.Wallet
}

// deposits lists what a wallet received.
func (l wallet) deposits() ([]deposit, error) {
	var list struct{ Deposits []deposit }
	err := l.account.call(http.MethodGet, "wallet/deposits", params{"walletID": l.WalletID}, nil, &list)
	return list.Deposits, err
}

// has checks that the wallet's deposits of a transaction are so many and all have a status.
func (l wallet) has(hash, status string, count int) error {
	list, err := l.deposits()
	if err != nil {
		return err
	}
	found := 0
	for _, d := range list {
		if d.HashID != hash {
			continue
		}
		if found++; d.Status != status {
			return fmt.Errorf("deposit %s of %s %s is %s, want %s", d.DepositID, d.Amount, d.Currency, d.Status, status)
		}
	}
	if found != count {
		return fmt.Errorf("%d deposits of transaction %s, want %d", found, hash, count)
	}
	return nil
}

// balances are those of GET account.
type balances struct{ Balance, Pending, Held map[string]string }

func (a *account) balances() (balances, error) {
	var whole struct{ Account balances }
	err := a.call(http.MethodGet, "account", nil, nil, &whole)
	return whole.Account, err
}

// balance is what can be spent, in smallest units as far as its places tell.
func (a *account) balance(currency string) *big.Int {
	a.w.t.Helper()
	b, err := a.balances()
	if err != nil {
		a.w.t.Fatal(err)
	}
	return units(currency, b.Balance[currency])
}

// verify checks a delivery's signature after Standard Webhooks.
func (a *account) verify(d delivery) error {
	secret, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(a.WebhookSecret, "whsec_"))
	if err != nil {
		return fmt.Errorf("webhook secret: %w", err)
	}
	mac := hmac.New(sha256.New, secret)
	fmt.Fprintf(mac, "%s.%s.%s", d.Headers["webhook-id"], d.Headers["webhook-timestamp"], d.Body)
	want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	for signature := range strings.FieldsSeq(d.Headers["webhook-signature"]) {
		if signature == want {
			return nil
		}
	}
	return fmt.Errorf("signature %q is not that of account %s", d.Headers["webhook-signature"], a.AccountID)
}

// delivery is one that the built-in receiver got.
type delivery struct {
	Headers map[string]string
	Body    string
}

// event is the body of a delivery.
type event struct {
	Response struct {
		Webhook struct {
			AccountID, Type, Event string
			Deposit                *deposit
			Charge                 *struct{ ChargeID, Amount string }
		}
	}
}

// told checks that the receiver got an event, signed for the account, whose body satisfies is.
func (a *account) told(kind string, is func(event) bool) error {
	var got struct{ Deliveries []delivery }
	if err := a.w.box.ask(http.MethodGet, "/webhooks", nil, &got); err != nil {
		return err
	}
	for _, d := range got.Deliveries {
		var e event
		if err := json.Unmarshal([]byte(d.Body), &e); err != nil {
			return fmt.Errorf("delivery %q: %w", d.Body, err)
		}
		if hook := e.Response.Webhook; hook.AccountID == a.AccountID && hook.Event == kind && is(e) {
			return a.verify(d)
		}
	}
	return fmt.Errorf("no event %s like that among %d deliveries", kind, len(got.Deliveries))
}

// of matches the events of one transaction with an amount; an empty amount matches any.
func of(hash, amount string) func(event) bool {
	return func(e event) bool {
		d := e.Response.Webhook.Deposit
		return d != nil && d.HashID == hash && (amount == "" || units(d.Currency, d.Amount).Cmp(units(d.Currency, amount)) == 0)
	}
}

// decimals of the currencies' smallest units.
var decimals = map[string]int{"BTC": 8, "LTC": 8, "ETH": 18, "BNB": 18, "MATIC": 18, "SOL": 9, "XRP": 6, "TRX": 6, "USDT": 6, "USDT-MATIC": 6, "USDC-MATIC": 6}

// units reads a decimal, signed where it is a change, as a count of smallest units.
func units(currency, text string) *big.Int {
	whole, fraction, _ := strings.Cut(text, ".")
	n, ok := new(big.Int).SetString(whole+fraction+strings.Repeat("0", max(0, decimals[currency]-len(fraction))), 10)
	if !ok || len(fraction) > decimals[currency] {
		panic(fmt.Sprintf("%q is no amount of %s", text, currency))
	}
	return n
}
