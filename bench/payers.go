package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	payers        = 100                   // with a stream of changes each
	payersAt      = 20                    // addresses that they come from: one has a bounded number of streams
	payersConns   = 10                    // of the load beside them, each with a request every 20 ms: 500 per second
	changedEvery  = 50 * time.Millisecond // a charge of one of them
	changedWithin = 30 * time.Second
)

// payer has the page of a charge open.
type payer struct {
	charge string
	ended  chan time.Time // when its stream said that the charge is cancelled
}

// besidePayers drives paced requests alone, and again while payers' pages follow their charges, each of which changes
// once.
func (s *site) besidePayers(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	next := fixed("GET", "/api/v1/account", headersOf(s.account), "")
	quiet, err := drive(ctx, s.pacedBy(payersConns, next, after(s.seconds)))
	if err != nil {
		return err
	}
	open, err := s.payers(ctx)
	if err != nil {
		return err
	}
	var ended atomic.Bool
	changed := make(chan error, 1)
	var took []time.Duration
	go func() {
		defer ended.Store(true)
		var err error
		took, err = s.changeAll(ctx, open)
		changed <- err
	}()
	busy, err := drive(ctx, s.pacedBy(payersConns, next, ended.Load))
	if err := errors.Join(err, <-changed); err != nil {
		return fmt.Errorf("requests beside payers: %w", err)
	}
	p := s.part(partPayers)
	p.load(s.kind, "GET account, 500 per second, no payers", quiet)
	p.load(s.kind, fmt.Sprintf("GET account, 500 per second, beside %d payers' pages", payers), busy)
	p.times(s.kind, "change of a charge to its payer's page", took, 0)
	return nil
}

func (s *site) pacedBy(conns int, next call, end func() bool) driving {
	d := s.paced(next, end)
	d.conns = conns
	return d
}

// payers makes charges and opens the page of each.
func (s *site) payers(ctx context.Context) (open []*payer, err error) {
	for i := range payers {
		var made struct {
			Charge struct{ ChargeID, CheckoutURL string }
		}
		if err := s.call(ctx, s.account, http.MethodPost, "/charge", map[string]any{"currency": "BTC", "amount": "0.5",
			"webhook": "https://example.com/hook"}, &made); err != nil {
			return nil, err
		}
		if made.Charge.CheckoutURL == "" {
			return nil, errors.New("the charge has no payer's page: pay.url is not configured")
		}
		p := &payer{made.Charge.ChargeID, make(chan time.Time, 1)}
		if err := p.follow(ctx, made.Charge.CheckoutURL, i%payersAt); err != nil {
			return nil, err
		}
		open = append(open, p)
	}
	return open, nil
}

// follow opens the stream of a page, from one of several addresses of this machine.
func (p *payer) follow(ctx context.Context, page string, from int) error {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(10+from))}}
	browser := http.Client{Transport: &http.Transport{DialContext: dialer.DialContext}}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, page+"/events", nil)
	if err != nil {
		return err
	}
	response, err := browser.Do(r) //nolint:bodyclose // the goroutine below closes it
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return errors.Join(fmt.Errorf("the stream of a payer's page: status %d", response.StatusCode),
			response.Body.Close())
	}
	go func() {
		defer func() { _ = response.Body.Close() }()
		ids := 0
		for lines := bufio.NewScanner(response.Body); lines.Scan(); {
			if strings.HasPrefix(lines.Text(), "id: ") {
				ids++
			}
			if ids > 1 { // the first is the page as it was
				p.ended <- time.Now()
				return
			}
		}
	}()
	return nil
}

// changeAll cancels the payers' charges one after the other, and returns how long each page took to say so.
func (s *site) changeAll(ctx context.Context, open []*payer) ([]time.Duration, error) {
	ticker := time.NewTicker(changedEvery)
	defer ticker.Stop()
	var group sync.WaitGroup
	took, failed := make([]time.Duration, len(open)), make([]error, len(open))
	for i, p := range open {
		<-ticker.C
		if err := s.call(ctx, s.account, http.MethodPost, "/charge/cancel", map[string]any{"chargeID": p.charge},
			&struct{}{}); err != nil {
			return nil, err
		}
		changed := time.Now()
		group.Go(func() {
			select {
			case at := <-p.ended:
				took[i] = max(0, at.Sub(changed))
			case <-time.After(changedWithin):
				failed[i] = errors.New("a payer's page did not change within 30 seconds")
			}
		})
	}
	group.Wait()
	return took, errors.Join(failed...)
}
