package e2e

import (
	"errors"
	"sync"
	"sync/atomic"
)

// notified is what the remote control answered before the process was killed.
type notified struct {
	mu     sync.Mutex
	list   []receipt
	enough chan struct{} // closed once there are as many as wanted
}

const manyPayments = 66

func (p *notified) add(r receipt) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.list = append(p.list, r); len(p.list) == manyPayments {
		close(p.enough)
	}
}

// killedInBurst kills the process during a burst of payments and blocks. Everything that was answered before is there
// afterwards.
func (w *harness) killedInBurst() {
	payments := &notified{enough: make(chan struct{})}
	var group sync.WaitGroup
	for _, c := range w.currencies {
		l := w.a.wallet(c)
		group.Go(func() {
			for { // until the process is gone
				hash, err := w.tryPay(c, share{l.Address, "1.25"})
				if err != nil {
					return
				}
				payments.add(receipt{l, hash, []string{"1.25"}})
			}
		})
	}
	for _, n := range w.networks() {
		group.Go(func() {
			for w.tryMine(n, 2) == nil {
			}
		})
	}
	select {
	case <-payments.enough:
	case <-w.sandbox.ended:
		w.t.Fatalf("the sandbox ended: %v\n%s", w.sandbox.err, w.sandbox.log)
	}
	w.sandbox.kill()
	group.Wait()
	w.restart()
	open := 0
	for _, r := range payments.list {
		if r.is("confirmed") != nil {
			open++
		}
	}
	w.t.Logf("killed after %d payments, of which %d were not credited", len(payments.list), open)
	w.settled("confirmed", payments.list...)
}

// killedWhileOrdering kills the process while withdrawals are placed, and again while they are paid.
func (w *harness) killedWhileOrdering() {
	requests := w.toExternal("5.5", 1)
	var answers atomic.Int32
	enough, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		_ = placeAll(requests, func() { // requests that are cut off are sent again
			if answers.Add(1) == 10 {
				close(enough)
			}
		}, (*withdrawalRequest).place)
	}()
	<-enough
	w.sandbox.kill()
	<-done
	w.restart()
	w.must(placeAll(requests, func() {}, (*withdrawalRequest).insist))
	w.eventually("the first withdrawals are broadcast", func() error {
		for _, o := range requests {
			if got, err := o.look(); err != nil || got.Status == "broadcast" || got.Status == "confirmed" {
				return err
			}
		}
		return errors.New("none is")
	})
	w.sandbox.kill()
	w.restart()
	w.must(placeAll(requests, func() {}, (*withdrawalRequest).insist))
	w.paid(requests)
}
