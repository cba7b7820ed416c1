package clients

import (
	"encoding/json"
	"net/http"
	"net/url"
	"testing"
)

// call sends a request to the API and decodes its response into out.
func (s *sandbox) call(method, path string, body map[string]string, out any) error {
	var whole struct{ Response json.RawMessage }
	headers := map[string]string{"X-API-KEY": s.APIKey}
	if path == "account/withdraw" {
		headers["X-API-SECRET"] = s.APISecret
	}
	var sent any
	if body != nil {
		sent = body
	}
	if err := ask(method, s.API+"/api/v1/"+path, headers, sent, &whole); err != nil {
		return err
	}
	return json.Unmarshal(whole.Response, out)
}

// details are a currency's properties in the API.
type details struct {
	Chain    string
	Contract *string
	Decimals int
}

func (s *sandbox) currencies(t *testing.T) map[string]details {
	t.Helper()
	var list struct{ Details map[string]details }
	if err := s.call(http.MethodGet, "wallet/currencies", nil, &list); err != nil {
		t.Fatal(err)
	}
	return list.Details
}

type wallet struct{ WalletID, Address string }

// wallet creates a wallet whose webhooks go to the sandbox's receiver.
func (s *sandbox) wallet(t *testing.T, currency string) wallet {
	t.Helper()
	var hook struct{ URL string }
	if err := ask(http.MethodGet, s.Control+"/webhooks/url", nil, nil, &hook); err != nil {
		t.Fatal(err)
	}
	var made struct{ Wallet wallet }
	if err := s.call(http.MethodPost, "wallet", map[string]string{"currency": currency, "webhook": hook.URL},
		&made); err != nil {
		t.Fatal(err)
	}
	return made.Wallet
}

type deposit struct{ HashID, Amount, Status string }

func (s *sandbox) deposits(w wallet) ([]deposit, error) {
	var list struct{ Deposits []deposit }
	query := url.Values{"walletID": {w.WalletID}}
	err := s.call(http.MethodGet, "wallet/deposits?"+query.Encode(), nil, &list)
	return list.Deposits, err
}

type withdrawal struct {
	WithdrawalID, Status string
	HashID               *string
}
