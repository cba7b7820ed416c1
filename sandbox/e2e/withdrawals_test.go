package e2e

import (
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"sync"
)

// order is a withdrawal that is asked for, as often as it takes.
type order struct {
	*currency
	account              *account
	key, amount, address string
	inside               bool // to a wallet of the service

	mu sync.Mutex
	id string
}

// request notes a withdrawal that may be refused; place asks for it.
func (w *harness) request(a *account, c *currency, amount, address string) *order {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.drafts++
	inside := slices.Contains(w.ours[c.network], base(address))
	return &order{account: a, key: fmt.Sprintf("order-%d", w.drafts), currency: c, amount: amount, address: address,
		inside: inside}
}

// order notes a withdrawal that must be paid.
func (w *harness) order(a *account, c *currency, amount, address string) *order {
	o := w.request(a, c, amount, address)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.orders = append(w.orders, o)
	return o
}

// place asks for the withdrawal. All answers ever given must name the same one.
func (o *order) place() error {
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
		return fmt.Errorf("order %s became both %s and %s", o.key, o.id, made.Withdrawal.WithdrawalID)
	}
	return nil
}

func (o *order) look() (withdrawal, error) {
	var found struct{ Withdrawal withdrawal }
	err := o.account.call(http.MethodGet, "account/withdrawal", params{"withdrawalID": o.id}, nil, &found)
	return found.Withdrawal, err
}

// insist places an order again for as long as the service asks for that: a request that died with its process holds its
// key for a while, and a chain that is away cannot be asked for its fee.
func (o *order) insist() (err error) {
	waited := o.account.w.persist(func() error {
		if err = o.place(); isCode(err, "unavailable") {
			return err
		}
		return nil
	})
	return errors.Join(waited, err)
}

// outside makes as many orders to new outsiders in every currency.
func (w *harness) outside(amount string, count int) []*order {
	w.t.Helper()
	var list []*order
	for _, c := range w.currencies {
		for range count {
			list = append(list, w.order(w.a, c, amount, w.outsider(c)))
		}
	}
	return list
}

// copies is how often each order is sent at the same time, as by an impatient client.
const copies = 3

// placeAll sends all orders at once, each several times, and calls answered after each success. It returns what went
// wrong.
func placeAll(orders []*order, answered func(), place func(*order) error) error {
	var group sync.WaitGroup
	errs := make([]error, len(orders)*copies)
	for i := range errs {
		group.Go(func() {
			if errs[i] = place(orders[i/copies]); errs[i] == nil {
				answered()
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

// paid waits until all orders are confirmed.
func (w *harness) paid(orders []*order) {
	w.t.Helper()
	for _, o := range orders {
		w.eventually("withdrawal of "+o.code+" is confirmed", func() error {
			got, err := o.look()
			if err == nil && got.Status != "confirmed" {
				err = fmt.Errorf("withdrawal %s of %s %s is %s", o.id, o.amount, o.code, got.Status)
			}
			return err
		})
	}
}

// withdraw pays outsiders in all currencies, while what pays them is still collected and another account tries to spend
// more than it has.
func (w *harness) withdraw() {
	orders := w.outside("6.25", 2)
	greedy := w.overdraw()
	var group sync.WaitGroup
	var placed error
	group.Go(func() { placed = placeAll(orders, func() {}, (*order).place) })
	for _, c := range w.currencies {
		group.Go(func() { w.oneOf(greedy[c]) })
	}
	group.Wait()
	w.must(placed)
	w.paid(orders)
	for _, c := range w.currencies {
		w.paid(slices.DeleteFunc(greedy[c], func(o *order) bool { return o.id == "" }))
	}
}

// overdraw drafts orders of the second account of which it can pay one in each currency.
func (w *harness) overdraw() map[*currency][]*order {
	w.t.Helper()
	drafts := map[*currency][]*order{}
	for _, c := range w.currencies {
		most := new(big.Int).Quo(new(big.Int).Mul(w.b.balance(c), big.NewInt(6)), big.NewInt(10))
		for range 4 {
			drafts[c] = append(drafts[c], w.request(w.b, c, c.floor(most), w.outsider(c)))
		}
	}
	return drafts
}

// oneOf places drafts at the same time: one is taken, and the others are refused.
func (w *harness) oneOf(drafts []*order) {
	var group sync.WaitGroup
	errs := make([]error, len(drafts))
	for i, o := range drafts {
		group.Go(func() { errs[i] = o.place() })
	}
	group.Wait()
	taken := 0
	for i, o := range drafts {
		switch {
		case errs[i] == nil:
			taken++
			w.mu.Lock()
			w.orders = append(w.orders, o)
			w.mu.Unlock()
		case !isCode(errs[i], "insufficient_balance"):
			w.t.Errorf("order of %s %s: %v", o.amount, o.code, errs[i])
		}
	}
	if taken != 1 {
		w.t.Errorf("%d orders of %s %s were taken, the balance covers one", taken, drafts[0].amount, drafts[0].code)
	}
}
