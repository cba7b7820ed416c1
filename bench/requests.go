package main

import (
	"context"
	"fmt"
	"strconv"
	"time"
)

// fixture is what the requests of a site need.
type fixture struct {
	target   account    // has the wallet
	wallet   walletInfo // that transfers go to
	accounts []account  // with money; the first is the hot one
	outside  string     // an address that is not the service's
}

func (f fixture) hot(int64) account { return f.accounts[0] }

func (f fixture) any(turn int64) account { return f.accounts[turn%int64(len(f.accounts))] }

// withdraw is a withdrawal of an account to an address.
func withdraw(from func(turn int64) account, address string) call {
	return func(turn int64) []byte {
		return request("POST", "/api/v1/account/withdraw", headersOf(from(turn)),
			`{"currency":"BTC","amount":0.0005,"address":"`+address+`"}`)
	}
}

const newWallet = `{"currency":"BTC","webhook":"https://example.com/hook","metadata":"order 1"}`

// The reference's requests.
func point(turn int64) []byte {
	return request("GET", "/point?id="+strconv.FormatInt(turn%rows+1, 10), referenceHeaders, "")
}

func insert(turn int64) []byte {
	return request("POST", "/insert", referenceHeaders, fmt.Sprintf(`{"name":"n%d"}`, turn))
}

func transfer(turn int64) []byte {
	return request("POST", "/transfer", referenceHeaders, fmt.Sprintf(`{"to":%d,"amount":1}`, turn%rows+1))
}

// subject is a call of the API beside one of the reference.
type subject struct {
	name      string
	target    float64 // of the ratio; 0: none
	reference call
	service   func(s *site, f fixture) call // nil: the service has none of the kind
}

func subjects(kind string) []subject {
	return []subject{
		{"a bare handler, GET /healthz", 0, fixed("GET", "/bare", "", ""), func(*site, fixture) call {
			return fixed("GET", "/healthz", "", "")
		}},
		{"the bare handler with authentication", 0, fixed("GET", "/auth", referenceHeaders, ""), nil},
		{"GET account", readTarget(kind), point, func(_ *site, f fixture) call {
			return fixed("GET", "/api/v1/account", headersOf(f.accounts[0]), "")
		}},
		{"GET wallet", readTarget(kind), point, func(_ *site, f fixture) call {
			return fixed("GET", "/api/v1/wallet?walletID="+f.wallet.ID, headersOf(f.target), "")
		}},
		{"POST wallet", 0.9, insert, func(s *site, _ fixture) call {
			return fixed("POST", "/api/v1/wallet", headersOf(s.account), newWallet)
		}},
		{"POST wallet with Idempotency-Key", 0.7, insert, func(s *site, _ fixture) call {
			key := headersOf(s.account)
			return func(turn int64) []byte {
				return request("POST", "/api/v1/wallet", key+"Idempotency-Key: bench-"+strconv.FormatInt(turn, 10)+"\r\n",
					newWallet)
			}
		}},
		{"transfer within the service, one hot account", 0.6, transfer, func(_ *site, f fixture) call {
			return withdraw(f.hot, f.wallet.Address)
		}},
		{"transfer within the service, random accounts", 0.6, transfer, func(_ *site, f fixture) call {
			return withdraw(f.any, f.wallet.Address)
		}},
		{"the rows of a wallet, by a bare program", 0, onlyPostgres(kind, fixed("POST", "/rows/wallet", referenceHeaders,
			`{"metadata":"order 1"}`)), nil},
		{"the rows of a transfer, by a bare program", 0, onlyPostgres(kind, fixed("POST", "/rows/transfer", referenceHeaders,
			`{"amount":50000}`)), nil},
		{"withdrawal recorded", 0, nil, func(_ *site, f fixture) call { return withdraw(f.any, f.outside) }},
	}
}

// onlyPostgres returns nil for another kind of database.
func onlyPostgres(kind string, c call) call {
	if kind != "postgres" {
		return nil
	}
	return c
}

func readTarget(kind string) float64 {
	if kind == "sqlite" {
		return 0.6
	}
	return 0.8
}

// requestSteps measure the API's calls beside the reference's, with each number of connections.
func (s *site) requestSteps() (steps []step) {
	for _, one := range subjects(s.kind) {
		if one.reference == nil && one.service == nil {
			continue
		}
		sides := 2
		if one.reference == nil || one.service == nil {
			sides = 1
		}
		for _, n := range s.conns {
			steps = append(steps, step{
				name:  fmt.Sprintf("%s, %d connections", one.name, n),
				takes: s.takes(sides),
				run: func(ctx context.Context) error {
					f, err := s.fixtures(ctx)
					if err != nil {
						return err
					}
					var service call
					if one.service != nil {
						service = one.service(s, f)
					}
					return s.compare(ctx, one.name, n, one.target, one.reference, service)
				},
			})
		}
	}
	return steps
}

const (
	randomAccounts = 200
	btcEach        = "5"    // paid in to each account
	btcHot         = "2000" // paid in to the hot one
)

const referenceHeaders = "X-API-KEY: " + referenceKey + "\r\n"

func headersOf(a account) string {
	return "X-API-KEY: " + a.Key + "\r\nX-API-SECRET: " + a.Secret + "\r\n"
}

// fixtures makes what the requests need, once.
func (s *site) fixtures(ctx context.Context) (fixture, error) {
	if s.made != nil {
		return *s.made, nil
	}
	var f fixture
	var err error
	if f.target, err = s.newAccount(ctx, "receiver"); err != nil {
		return f, err
	}
	if f.wallet, err = s.newWallet(ctx, f.target, "https://example.com/hook"); err != nil {
		return f, err
	}
	if f.accounts, err = s.funded(ctx, randomAccounts); err != nil {
		return f, err
	}
	if f.outside, err = s.outside(ctx); err != nil {
		return f, err
	}
	s.made = &f
	return f, nil
}

// funded makes accounts that have money; the first has the most.
func (s *site) funded(ctx context.Context, count int) (accounts []account, err error) {
	progress("%s: making %d accounts with a deposit each", s.kind, count)
	var payments []payment
	for i := range count {
		a, err := s.newAccount(ctx, fmt.Sprintf("account %d", i))
		if err != nil {
			return nil, err
		}
		w, err := s.newWallet(ctx, a, "https://example.com/hook")
		if err != nil {
			return nil, err
		}
		accounts, payments = append(accounts, a), append(payments, payment{w.Address, btcEach})
	}
	payments[0].Amount = btcHot
	if err := s.mature(ctx); err != nil {
		return nil, err
	}
	if err := s.pay(ctx, payments); err != nil {
		return nil, err
	}
	if err := s.mine(ctx, 6); err != nil {
		return nil, err
	}
	return accounts, s.credited(ctx, accounts[len(accounts)-1])
}

// mature mines blocks until the faucet has coinbase outputs that it may spend, once.
func (s *site) mature(ctx context.Context) error {
	if s.matured {
		return nil
	}
	s.matured = true
	return s.mine(ctx, 120)
}

// credited waits until an account has a balance of BTC.
func (s *site) credited(ctx context.Context, a account) error {
	return until(ctx, time.Minute, func() error {
		balance, err := s.balance(ctx, a)
		if err == nil && balance == "0.00000000" {
			err = errNotYet
		}
		return err
	})
}
