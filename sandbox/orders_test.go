package main

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/bursar/bursar/client"
	"github.com/bursar/bursar/sandbox/control"
)

// ask sends a request to the remote control.
func ask(t *testing.T, url string, request, into any) {
	t.Helper()
	body, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.Post(url, "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: got %s, %v, want an answer", url, text, err)
	}
}

func keyOf(t *testing.T, text string) crypto.Signer {
	t.Helper()
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		t.Fatalf("got %q, want a key", text)
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return key.(crypto.Signer)
}

// await asks until something holds, at most for a minute.
func await(t *testing.T, what string, holds func() (bool, error)) {
	t.Helper()
	deadline := time.After(time.Minute)
	for tick := time.NewTicker(200 * time.Millisecond); ; {
		is, err := holds()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if is {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("after a minute it does not hold that %s", what)
		case <-tick.C:
		}
	}
}

// An account whose key the sandbox gave out is paid by the Go client what it signed, through the real signer's state,
// and nothing unsigned; another account goes on as before.
func TestTheSandboxPaysSignedOrders(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a whole sandbox: left out by -short")
	}
	t.Parallel()
	line, end := begin(t, "--json", "--chains", "bitcoin")
	defer func() {
		if err := end(); err != nil {
			t.Error(err)
		}
	}()
	f := startInfoOf(t, line)
	var signs control.Account
	ask(t, f.Control+"/account", map[string]any{"name": "signs", "orders": true}, &signs)
	plain := funded(t, client.Config{BaseURL: f.API, Key: f.APIKey, Secret: f.APISecret}, f.Control)
	config := client.Config{BaseURL: f.API, Key: signs.APIKey, Secret: signs.APISecret}
	unsigned := funded(t, config, f.Control)
	config.Orders = &client.Orders{Key: keyOf(t, signs.OrderKey), Account: signs.AccountID, Instance: signs.Instance,
		Assets: map[string]client.Asset{"BTC": {Chain: "bitcoin", Decimals: 8}}}
	signed, err := client.New(config)
	if err != nil {
		t.Fatal(err)
	}
	var outside struct{ Address string }
	ask(t, f.Control+"/address", map[string]string{"currency": "BTC"}, &outside)
	n := client.NewWithdrawal{Currency: "BTC", Amount: "0.1", Address: outside.Address}
	if _, err := unsigned.Withdraw(t.Context(), n); client.CodeOf(err) != client.OrderSignatureRequired {
		t.Errorf("unsigned: got %v, want %s", err, client.OrderSignatureRequired)
	}
	await(t, "the service knows the signer's instance", func() (bool, error) {
		keys, err := signed.OrderKeys(t.Context())
		return keys.Instance == signs.Instance, err
	})
	for name, c := range map[string]*client.Client{"the one that signs": signed, "the other": plain} {
		w, err := c.Withdraw(t.Context(), n)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		await(t, name+" is paid", func() (bool, error) {
			got, err := c.Withdrawal(t.Context(), w.WithdrawalID)
			if got.Status == client.WithdrawalFailed {
				err = fmt.Errorf("it failed: %s", got.Error)
			}
			return got.Status == client.WithdrawalConfirmed, err
		})
	}
}

// funded returns a client of an account, which has 1 BTC.
func funded(t *testing.T, config client.Config, remote string) *client.Client {
	t.Helper()
	c, err := client.New(config)
	if err != nil {
		t.Fatal(err)
	}
	var receiver struct{ URL string }
	if answer, err := http.Get(remote + "/webhooks/url"); err != nil {
		t.Fatal(err)
	} else if err := errors.Join(json.NewDecoder(answer.Body).Decode(&receiver), answer.Body.Close()); err != nil {
		t.Fatal(err)
	}
	wallet, err := c.CreateWallet(t.Context(), client.NewWallet{Currency: "BTC", Webhook: receiver.URL})
	if err != nil {
		t.Fatal(err)
	}
	ask(t, remote+"/pay", map[string]string{"currency": "BTC", "address": wallet.Address, "amount": "1"}, &struct{}{})
	await(t, "the account has its deposit", func() (bool, error) {
		got, err := c.Account(t.Context())
		return got.Balance["BTC"] == "1.00000000", err
	})
	return c
}
