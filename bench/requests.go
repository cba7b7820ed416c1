package main

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
)

const (
	randomAccounts = 200
	btcEach        = "5"    // paid in to each account
	btcHot         = "2000" // paid in to the hot one
)

// requests measures the API's calls beside the reference's.
func (b *bench) requests(ctx context.Context) error {
	target, err := b.newAccount(ctx, "receiver")
	if err != nil {
		return err
	}
	wallet, err := b.newWallet(ctx, target, "https://example.com/hook")
	if err != nil {
		return err
	}
	accounts, err := b.funded(ctx)
	if err != nil {
		return err
	}
	outside, err := b.outside(ctx)
	if err != nil {
		return err
	}
	key, hot := headersOf(b.account), accounts[0]
	point := func(turn int64) []byte {
		return request("GET", "/point?id="+strconv.FormatInt(turn%rows+1, 10), referenceHeaders, "")
	}
	insert := func(turn int64) []byte {
		return request("POST", "/insert", referenceHeaders, fmt.Sprintf(`{"name":"n%d"}`, turn))
	}
	transfer := func(turn int64) []byte {
		return request("POST", "/transfer", referenceHeaders, fmt.Sprintf(`{"to":%d,"amount":1}`, turn%rows+1))
	}
	withdraw := func(from func(turn int64) account, address string) call {
		return func(turn int64) []byte {
			return request("POST", "/api/v1/account/withdraw", headersOf(from(turn)),
				`{"currency":"BTC","amount":0.0005,"address":"`+address+`"}`)
		}
	}
	fromHot := func(int64) account { return hot }
	fromAny := func(turn int64) account { return accounts[turn%int64(len(accounts))] }
	newWallet := `{"currency":"BTC","webhook":"https://example.com/hook","metadata":"order 1"}`
	for _, m := range []struct {
		name               string
		target             float64
		reference, service call
	}{
		{"GET account", readTarget(b.kind), point, fixed("GET", "/api/v1/account", headersOf(hot), "")},
		{"GET wallet", readTarget(b.kind), point, fixed("GET", "/api/v1/wallet?walletID="+wallet.ID, headersOf(target), "")},
		{"POST wallet", 0.9, insert, fixed("POST", "/api/v1/wallet", key, newWallet)},
		{"POST wallet with Idempotency-Key", 0.7, insert, func(turn int64) []byte {
			return request("POST", "/api/v1/wallet", key+"Idempotency-Key: bench-"+strconv.FormatInt(turn, 10)+"\r\n", newWallet)
		}},
		{"transfer within the service, one hot account", 0.6, transfer, withdraw(fromHot, wallet.Address)},
		{"transfer within the service, random accounts", 0.6, transfer, withdraw(fromAny, wallet.Address)},
		{"withdrawal recorded", 0, nil, withdraw(fromAny, outside)},
	} {
		if err := b.compare(ctx, m.name, m.target, m.reference, m.service); err != nil {
			return err
		}
	}
	return nil
}

func readTarget(kind string) float64 {
	if kind == "sqlite" {
		return 0.6
	}
	return 0.8
}

const referenceHeaders = "X-API-KEY: " + referenceKey + "\r\n"

func headersOf(a account) string {
	return "X-API-KEY: " + a.Key + "\r\nX-API-SECRET: " + a.Secret + "\r\n"
}

// fixed is a call that sends the same request each time.
func fixed(method, target, headers, body string) call {
	text := request(method, target, headers, body)
	return func(int64) []byte { return text }
}

type walletInfo struct {
	ID      string `json:"walletID"`
	Address string `json:"address"`
}

func (b *bench) newAccount(ctx context.Context, name string) (a account, err error) {
	return a, b.post(ctx, "/account", map[string]string{"name": name}, &a)
}

func (b *bench) newWallet(ctx context.Context, a account, webhook string) (walletInfo, error) {
	var response struct{ Wallet walletInfo }
	body := map[string]string{"currency": "BTC", "webhook": webhook}
	err := b.call(ctx, a, http.MethodPost, "/wallet", body, &response)
	return response.Wallet, err
}

func (b *bench) outside(ctx context.Context) (string, error) {
	var answer struct{ Address string }
	return answer.Address, b.post(ctx, "/address", map[string]string{"currency": "BTC"}, &answer)
}

// funded makes accounts that have money. The first is the hot one.
func (b *bench) funded(ctx context.Context) ([]account, error) {
	progress("%s: making %d accounts with a deposit each", b.kind, randomAccounts)
	var accounts []account
	var payments []payment
	for i := range randomAccounts {
		a, err := b.newAccount(ctx, fmt.Sprintf("account %d", i))
		if err != nil {
			return nil, err
		}
		w, err := b.newWallet(ctx, a, "https://example.com/hook")
		if err != nil {
			return nil, err
		}
		accounts, payments = append(accounts, a), append(payments, payment{w.Address, btcEach})
	}
	payments[0].Amount = btcHot
	if err := b.mine(ctx, 120); err != nil { // so that the faucet's coinbase outputs are mature
		return nil, err
	}
	if err := b.pay(ctx, payments); err != nil {
		return nil, err
	}
	if err := b.mine(ctx, 6); err != nil {
		return nil, err
	}
	return accounts, b.credited(ctx, accounts[len(accounts)-1])
}
