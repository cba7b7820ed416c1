package main

import (
	"context"
	"net/http"
)

// payment is what the sandbox's faucet pays.
type payment struct {
	Address string `json:"address"`
	Amount  string `json:"amount"`
}

// maxPayments is the most payments that the sandbox makes in one transaction.
const maxPayments = 300

// pay makes payments; they wait for a block.
func (d *deployment) pay(ctx context.Context, payments []payment) error {
	return d.payIn(ctx, "BTC", payments)
}

// payIn is pay in a currency.
func (d *deployment) payIn(ctx context.Context, currency string, payments []payment) error {
	for len(payments) > 0 {
		n := min(len(payments), maxPayments)
		body := map[string]any{"currency": currency, "payments": payments[:n]}
		if err := d.post(ctx, "/pay", body, &struct{}{}); err != nil {
			return err
		}
		payments = payments[n:]
	}
	return nil
}

func (d *deployment) mine(ctx context.Context, blocks int) error {
	return d.post(ctx, "/mine", map[string]any{"chain": "bitcoin", "blocks": blocks}, &struct{}{})
}

// outside returns an address that is not the service's.
func (d *deployment) outside(ctx context.Context) (string, error) {
	var answer struct{ Address string }
	err := d.post(ctx, "/address", map[string]string{"currency": "BTC"}, &answer)
	return answer.Address, err
}

func (d *deployment) newAccount(ctx context.Context, name string) (a account, err error) {
	err = d.post(ctx, "/account", map[string]string{"name": name}, &a)
	return a, err
}

// walletInfo is what the API says of a wallet, as far as it is used here.
type walletInfo struct {
	ID      string `json:"walletID"`
	Address string `json:"address"`
}

func (d *deployment) newWallet(ctx context.Context, a account, webhook string) (walletInfo, error) {
	return d.newWalletOf(ctx, a, "BTC", webhook)
}

func (d *deployment) newWalletOf(ctx context.Context, a account, currency, webhook string) (walletInfo, error) {
	var response struct{ Wallet walletInfo }
	body := map[string]string{"currency": currency, "webhook": webhook}
	err := d.call(ctx, a, http.MethodPost, "/wallet", body, &response)
	return response.Wallet, err
}

// balance returns an account's balance of BTC.
func (d *deployment) balance(ctx context.Context, a account) (string, error) {
	var response struct {
		Account struct{ Balance map[string]string }
	}
	if err := d.call(ctx, a, http.MethodGet, "/account", nil, &response); err != nil {
		return "", err
	}
	return response.Account.Balance["BTC"], nil
}

// deposits returns how many deposits a wallet has, and how many of them are credited.
func (d *deployment) deposits(ctx context.Context, a account, wallet walletInfo) (all, credited int, err error) {
	var response struct{ Deposits []struct{ Status string } }
	err = d.call(ctx, a, http.MethodGet, "/wallet/deposits?walletID="+wallet.ID, nil, &response)
	for _, each := range response.Deposits {
		if each.Status == "confirmed" {
			credited++
		}
	}
	return len(response.Deposits), credited, err
}
