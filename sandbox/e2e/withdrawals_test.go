package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// order is a withdrawal that is asked for, as often as it takes.
type order struct {
	account                        *account
	key, currency, amount, address string
	inside                         bool

	mu sync.Mutex
	id string
}

// order notes a withdrawal; place asks for it.
func (w *world) order(a *account, currency, amount, address string) *order {
	w.mu.Lock()
	defer w.mu.Unlock()
	o := &order{account: a, key: fmt.Sprintf("order-%d", len(w.orders)), currency: currency, amount: amount, address: address}
	for _, ours := range w.ours[currency] {
		o.inside = o.inside || ours == address
	}
	w.orders = append(w.orders, o)
	return o
}

// place asks for the withdrawal. All answers ever given must name the same one.
func (o *order) place() error {
	var made struct{ Withdrawal withdrawal }
	err := o.account.call(http.MethodPost, "account/withdraw", params{"currency": o.currency, "amount": o.amount, "address": o.address},
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
// key for a while.
func (o *order) insist() error {
	deadline := time.Now().Add(patience)
	for {
		err := o.place()
		if !isCode(err, "unavailable") || time.Now().After(deadline) {
			return err
		}
	}
}

// outside makes orders to as many new outsiders.
func (w *world) outside(currency, amount string, count int) []*order {
	w.t.Helper()
	var list []*order
	for range count {
		list = append(list, w.order(w.a, currency, amount, w.outsider(currency)))
	}
	return list
}

// copies is how often each order is sent at the same time, as by an impatient client.
const copies = 3

// placeAll sends all orders at once, each several times, and calls answered after each success. It returns what went wrong.
func placeAll(orders []*order, answered func()) error {
	var group sync.WaitGroup
	errs := make(chan error, len(orders)*copies)
	for _, o := range orders {
		for range copies {
			group.Go(func() {
				err := o.insist()
				if err == nil {
					answered()
				}
				errs <- err
			})
		}
	}
	group.Wait()
	close(errs)
	var all []error
	for err := range errs {
		all = append(all, err)
	}
	return errors.Join(all...)
}

// paid waits until all orders are confirmed.
func (w *world) paid(orders []*order) {
	w.t.Helper()
	for _, o := range orders {
		eventually(w.t, patience, "withdrawal is confirmed", func() error {
			got, err := o.look()
			if err == nil && got.Status != "confirmed" {
				err = fmt.Errorf("withdrawal %s of %s %s is %s", o.id, o.amount, o.currency, got.Status)
			}
			return err
		})
	}
}

// withdraw pays outsiders in both currencies.
func (w *world) withdraw() {
	orders := append(w.outside("BTC", "0.01", 8), w.outside("ETH", "0.1", 8)...)
	w.must(placeAll(orders, func() {}))
	w.paid(orders)
}

// killedInBurst ends the process while payments and blocks come in a burst. What was told before is there after.
func (w *world) killedInBurst() {
	type payment struct {
		wallet wallet
		hash   string
	}
	var mu sync.Mutex
	var told []payment
	enough := make(chan struct{})
	var group sync.WaitGroup
	for _, currency := range currencies {
		for range 3 {
			l := w.a.wallet(currency)
			group.Go(func() {
				for { // until the process is gone
					hash, err := w.tryPay(currency, share{l, "0.01"})
					if err != nil {
						return
					}
					mu.Lock()
					if told = append(told, payment{l, hash}); len(told) == 60 {
						close(enough)
					}
					mu.Unlock()
				}
			})
		}
		group.Go(func() {
			for w.box.ask(http.MethodPost, "/mine", map[string]any{"chain": chainOf[currency], "blocks": 2}, nil) == nil {
			}
		})
	}
	began := time.Now()
	<-enough
	w.box.kill()
	group.Wait()
	w.t.Logf("killed after %d payments in %v", len(told), time.Since(began).Round(time.Millisecond))
	w.restart()
	open := 0
	for _, p := range told {
		if p.wallet.has(p.hash, "confirmed", 1) != nil {
			open++
		}
	}
	w.t.Logf("%d of them were not credited yet", open)
	for _, p := range told {
		w.settled(p.wallet, p.hash, "confirmed", 1)
	}
}

// killedWhilePaying ends the process while orders come in, and again while they are paid.
func (w *world) killedWhilePaying() {
	orders := append(w.outside("BTC", "0.015", 12), w.outside("ETH", "0.12", 12)...)
	var answers atomic.Int32
	enough, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		_ = placeAll(orders, func() { // those that are cut off are sent again
			if answers.Add(1) == 10 {
				close(enough)
			}
		})
	}()
	<-enough
	w.box.kill()
	<-done
	w.restart()
	w.must(placeAll(orders, func() {}))
	eventually(w.t, patience, "the first withdrawals are on their way", func() error {
		for _, o := range orders {
			if got, err := o.look(); err != nil || got.Status == "broadcast" || got.Status == "confirmed" {
				return err
			}
		}
		return errors.New("none is")
	})
	w.restart()
	w.must(placeAll(orders, func() {}))
	w.paid(orders)
}
