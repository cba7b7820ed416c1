package e2e

import (
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"sync"
)

// withdrawalRequest is a withdrawal that is requested, as often as necessary.
type withdrawalRequest struct {
	*currency
	account              *account
	key, amount, address string
	inside               bool // to a wallet of the service

	mu sync.Mutex
	id string
}

// request prepares a withdrawal that may be refused; place requests it.
func (w *harness) request(a *account, c *currency, amount, address string) *withdrawalRequest {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests++
	inside := slices.Contains(w.ours[c.network], base(address))
	return &withdrawalRequest{account: a, key: fmt.Sprintf("order-%d", w.requests), currency: c, amount: amount,
		address: address, inside: inside}
}

// order prepares a withdrawal that must be paid.
func (w *harness) order(a *account, c *currency, amount, address string) *withdrawalRequest {
	o := w.request(a, c, amount, address)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requested = append(w.requested, o)
	return o
}

// place requests the withdrawal. All answers ever given must name the same one.
func (o *withdrawalRequest) place() error {
	var made struct{ Withdrawal withdrawal }
	err := o.account.call(http.MethodPost, "account/withdraw",
		params{"currency": o.code, "amount": o.amount, "address": o.address},
		map[string]string{"X-API-SECRET": o.account.APISecret, "Idempotency-Key": o.key}, &made)
	if err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.id == "" {
		o.id = made.Withdrawal.WithdrawalID
	}
	if o.id != made.Withdrawal.WithdrawalID {
		return fmt.Errorf("withdrawal %s became both %s and %s", o.key, o.id, made.Withdrawal.WithdrawalID)
	}
	return nil
}

func (o *withdrawalRequest) look() (withdrawal, error) {
	var found struct{ Withdrawal withdrawal }
	err := o.account.call(http.MethodGet, "account/withdrawal", params{"withdrawalID": o.id}, nil, &found)
	return found.Withdrawal, err
}

// insist repeats a request for as long as the service asks for that: a request that died with its process holds its
// idempotency key for a while, and a chain that is unreachable cannot be asked for its fee.
func (o *withdrawalRequest) insist() (err error) {
	waited := o.account.w.persist(func() error {
		if err = o.place(); isCode(err, "unavailable") {
			return err
		}
		return nil
	})
	return errors.Join(waited, err)
}

// toExternal makes so many withdrawals to new external addresses in every currency.
func (w *harness) toExternal(amount string, count int) []*withdrawalRequest {
	w.t.Helper()
	var list []*withdrawalRequest
	for _, c := range w.currencies {
		for range count {
			list = append(list, w.order(w.a, c, amount, w.external(c)))
		}
	}
	return list
}

// copies is how often each request is sent at the same time, as by an impatient client.
const copies = 3

// placeAll sends all requests at once, each several times, and calls answered after each success. It returns what
// went wrong.
func placeAll(requests []*withdrawalRequest, answered func(), place func(*withdrawalRequest) error) error {
	var group sync.WaitGroup
	errs := make([]error, len(requests)*copies)
	for i := range errs {
		group.Go(func() {
			if errs[i] = place(requests[i/copies]); errs[i] == nil {
				answered()
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

// paid waits until all withdrawals are confirmed.
func (w *harness) paid(requests []*withdrawalRequest) {
	w.t.Helper()
	for _, o := range requests {
		w.eventually("withdrawal of "+o.code+" is confirmed", func() error {
			got, err := o.look()
			if err == nil && got.Status != "confirmed" {
				err = fmt.Errorf("withdrawal %s of %s %s is %s", o.id, o.amount, o.code, got.Status)
			}
			return err
		})
	}
}

// withdraw pays external addresses in all currencies, while the deposits that fund them are still swept and another
// account tries to withdraw more than it has.
func (w *harness) withdraw() {
	requests := w.toExternal("6.25", 2)
	greedy := w.overdraw()
	var group sync.WaitGroup
	var placed error
	group.Go(func() { placed = placeAll(requests, func() {}, (*withdrawalRequest).place) })
	for _, c := range w.currencies {
		group.Go(func() { w.oneOf(greedy[c]) })
	}
	group.Wait()
	w.must(placed)
	w.paid(requests)
	for _, c := range w.currencies {
		w.paid(slices.DeleteFunc(greedy[c], func(o *withdrawalRequest) bool { return o.id == "" }))
	}
}

// overdraw prepares withdrawals of the second account of which it can pay one in each currency.
func (w *harness) overdraw() map[*currency][]*withdrawalRequest {
	w.t.Helper()
	requests := map[*currency][]*withdrawalRequest{}
	for _, c := range w.currencies {
		most := new(big.Int).Quo(new(big.Int).Mul(w.b.balance(c), big.NewInt(6)), big.NewInt(10))
		for range 4 {
			requests[c] = append(requests[c], w.request(w.b, c, c.floor(most), w.external(c)))
		}
	}
	return requests
}

// oneOf requests withdrawals at the same time: one is accepted, and the others are refused.
func (w *harness) oneOf(requests []*withdrawalRequest) {
	var group sync.WaitGroup
	errs := make([]error, len(requests))
	for i, o := range requests {
		group.Go(func() { errs[i] = o.place() })
	}
	group.Wait()
	taken := 0
	for i, o := range requests {
		switch {
		case errs[i] == nil:
			taken++
			w.mu.Lock()
			w.requested = append(w.requested, o)
			w.mu.Unlock()
		case !isCode(errs[i], "insufficient_balance"):
			w.t.Errorf("withdrawal of %s %s: %v", o.amount, o.code, errs[i])
		}
	}
	if taken != 1 {
		w.t.Errorf("%d withdrawals of %s %s were accepted, the balance covers "+
			"one, want 1", taken, requests[0].amount, requests[0].code)
	}
}
