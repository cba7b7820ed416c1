package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/big"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"
)

// account is a customer of the service.
type account struct {
	AccountID, APIKey, APISecret, WebhookSecret string

	w *harness
}

// refusal is an answer without success.
type refusal struct {
	status        int
	code, message string
	retryAfter    time.Duration
}

func (r *refusal) Error() string { return fmt.Sprintf("%d %s: %s", r.status, r.code, r.message) }

func isCode(err error, code string) bool {
	var r *refusal
	return errors.As(err, &r) && r.code == code
}

type params = map[string]string

// call sends a request to the API as this account; the response is decoded into out unless that is nil. Headers may
// be nil. It retries when the service asks for that, as a good client does.
func (a *account) call(method, path string, p params, headers map[string]string, out any) error {
	for {
		err := a.callOnce(method, path, p, headers, out)
		var r *refusal
		if !errors.As(err, &r) || r.code != "rate_limited" {
			return err
		}
		<-time.After(r.retryAfter)
	}
}

func (a *account) callOnce(method, path string, p params, headers map[string]string, out any) error {
	target, body := a.w.sandbox.API+"/api/v1/"+path, []byte(nil)
	if method == http.MethodGet {
		query := url.Values{}
		for name := range maps.Keys(p) {
			query.Set(name, p[name])
		}
		target += "?" + query.Encode()
	} else {
		body, _ = json.Marshal(p) // a map of texts: never fails
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
		seconds, _ := strconv.Atoi(answer.Header.Get("Retry-After")) // a missing header is 0
		return &refusal{answer.StatusCode, whole.Error.Code, whole.Error.Message, time.Duration(seconds) * time.Second}
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(whole.Response, out)
}

type wallet struct {
	WalletID, Address, Minimum string

	*currency
	account *account
}

type deposit struct {
	DepositID, WalletID, HashID, Currency, Address, Amount, Fee, Status, Webhook string
	Confirmations                                                                uint64
	RequiredConfirmations                                                        int
	BlockHeight                                                                  uint64
}

type charge struct {
	ChargeID, Address, Rule string
	Paid, Expired           bool
	DepositIDs              []string
	CreatedAt               time.Time

	*currency
}

type withdrawal struct {
	WithdrawalID, Currency, Amount, Fee, Address, Status string
	HashID                                               *string
}

// wallet creates a wallet whose webhooks go to the hook.
func (a *account) wallet(c *currency) wallet {
	a.w.t.Helper()
	return a.walletFor(c, a.w.hook.url)
}

// walletFor creates a wallet whose webhooks go to a URL.
func (a *account) walletFor(c *currency, webhook string) wallet {
	a.w.t.Helper()
	var made struct{ Wallet wallet }
	if err := a.call(http.MethodPost, "wallet", params{"currency": c.code, "webhook": webhook, "metadata": "e2e"}, nil,
		&made); err != nil {
		a.w.t.Fatalf("create a %s wallet: %v", c.code, err)
	}
	made.Wallet.account, made.Wallet.currency = a, c
	a.w.remember(c, made.Wallet.Address)
	return made.Wallet
}

// charge creates a charge whose webhooks go to the hook.
func (a *account) charge(c *currency, minimum string, life time.Duration) charge {
	a.w.t.Helper()
	var made struct{ Charge charge }
	a.w.must(a.call(http.MethodPost, "charge",
		params{"currency": c.code, "minimum": minimum, "expires": strconv.Itoa(int(life.Seconds())), "webhook": a.w.hook.url},
		nil, &made))
	made.Charge.currency = c
	a.w.remember(c, made.Charge.Address)
	return made.Charge
}

// look reads the charge as it is now.
func (a *account) look(k charge) (charge, error) {
	found := struct{ Charge charge }{charge{currency: k.currency}}
	err := a.call(http.MethodGet, "charge", params{"chargeID": k.ChargeID}, nil, &found)
	return found.Charge, err
}

// deposits lists the deposits of a wallet.
func (l wallet) deposits() ([]deposit, error) {
	var list struct{ Deposits []deposit }
	err := l.account.call(http.MethodGet, "wallet/deposits", params{"walletID": l.WalletID}, nil, &list)
	return list.Deposits, err
}

// receipt is the deposits of one transaction to one wallet: one of each amount.
type receipt struct {
	wallet
	hash    string
	amounts []string
}

// is checks that the wallet has exactly these deposits of the transaction, all with a status; with the status none,
// no deposit at all.
func (r receipt) is(status string) error {
	list, err := r.deposits()
	if err != nil {
		return err
	}
	var found, want []string
	for _, d := range list {
		if d.HashID != r.hash {
			continue
		}
		if d.Status != status {
			return fmt.Errorf("deposit %s of %s %s is %s, want %q", d.DepositID, d.Amount, d.Currency, d.Status, status)
		}
		found = append(found, r.units(d.Amount).String())
	}
	for _, amount := range r.amounts {
		if status != "" {
			want = append(want, r.units(amount).String())
		}
	}
	slices.Sort(found)
	if slices.Sort(want); !slices.Equal(found, want) {
		return fmt.Errorf("deposits of %v units of %s by transaction %s, want %v", found, r.code, r.hash, want)
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

// balance is what can be withdrawn, in smallest units up to the display precision.
func (a *account) balance(c *currency) *big.Int {
	a.w.t.Helper()
	b, err := a.balances()
	a.w.must(err)
	return c.units(b.Balance[c.code])
}
