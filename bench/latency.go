package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"
)

// samples is how many times a latency is measured.
func (b *bench) samples() int {
	if b.quick {
		return 10
	}
	return 60
}

// latencySteps measure how long a client waits for what the service does by itself, and for its own requests while it
// does much.
func (s *site) latencySteps() []step {
	takes := time.Duration(s.samples()) * 200 * time.Millisecond
	return []step{
		{"latency: announcement to webhook", takes, s.toWebhook},
		{"latency: order to broadcast", takes, s.toBroadcast},
		{"latency: requests beside a block", 4*s.seconds + 10*time.Second, s.besideBlock},
		{"payers' pages", s.seconds + 10*time.Second, s.besidePayers},
	}
}

// toWebhook pays a wallet again and again, and measures from the request that mines the final block until the webhook
// of the credit begins.
func (s *site) toWebhook(ctx context.Context) error {
	if err := s.mature(ctx); err != nil {
		return err
	}
	wallet, err := s.newWallet(ctx, s.account, s.receiver.url)
	if err != nil {
		return err
	}
	var took []time.Duration
	for range s.samples() {
		one, err := s.webhookOnce(ctx, wallet)
		if err != nil {
			return err
		}
		took = append(took, one)
	}
	s.part(partLatency).times(s.kind, "announcement to webhook", took, 0)
	return nil
}

func (s *site) webhookOnce(ctx context.Context, wallet walletInfo) (time.Duration, error) {
	if err := s.pay(ctx, []payment{{wallet.Address, "0.01"}}); err != nil {
		return 0, err
	}
	if err := s.mine(ctx, 2); err != nil {
		return 0, err
	}
	if err := s.followedToTip(ctx); err != nil {
		return 0, err
	}
	done := s.receiver.expect(1)
	start := time.Now()
	if err := s.mine(ctx, 1); err != nil {
		return 0, err
	}
	select {
	case <-done:
		first, _, _ := s.receiver.got()
		return first.Sub(start), nil
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(30 * time.Second):
		return 0, errors.New("no webhook of the credit came within 30 seconds")
	}
}

// tipWithin bounds how long the service may take to record a block that is there: after a start it first reads all
// addresses.
const tipWithin = 5 * time.Minute

// followedToTip waits until the service has recorded the node's newest block.
func (s *site) followedToTip(ctx context.Context) error {
	var tip int
	if err := s.askNode(ctx, "getblockcount", &tip); err != nil {
		return err
	}
	return s.recorded(ctx, tip, tipWithin)
}

// askNode calls a method of the chain's node.
func (d *deployment) askNode(ctx context.Context, method string, result any) error {
	answer := struct{ Result any }{result}
	return exchange(ctx, http.MethodPost, d.nodes["bitcoin"], nil, map[string]any{"method": method, "id": 1}, &answer)
}

// toBroadcast orders withdrawals one after the other, each once the one before is in a block, and measures until the
// node has a transaction in its mempool.
func (s *site) toBroadcast(ctx context.Context) error {
	f, err := s.fixtures(ctx)
	if err != nil {
		return err
	}
	if err := s.emptied(ctx); err != nil {
		return err
	}
	var took []time.Duration
	for range s.samples() {
		start := time.Now()
		err := s.call(ctx, f.accounts[0], http.MethodPost, "/account/withdraw",
			map[string]any{"currency": "BTC", "amount": "0.0005", "address": f.outside}, &struct{}{})
		if err != nil {
			return err
		}
		if err := s.mempool(ctx, func(n int) bool { return n > 0 }); err != nil {
			return err
		}
		took = append(took, time.Since(start))
		if err := s.emptied(ctx); err != nil {
			return err
		}
	}
	s.part(partLatency).times(s.kind, "order to broadcast", took, 0)
	return nil
}

// emptied mines until no withdrawal is under way.
func (s *site) emptied(ctx context.Context) error {
	return until(ctx, 3*time.Minute, func() error {
		if err := s.mine(ctx, 1); err != nil {
			return err
		}
		if err := s.followedToTip(ctx); err != nil {
			return err
		}
		var open int
		err := s.db.QueryRowContext(ctx, `SELECT COUNT(*) FROM withdrawals WHERE completed_at = 0`).Scan(&open)
		if err == nil && open > 0 {
			err = fmt.Errorf("%d withdrawals are under way", open)
		}
		return err
	})
}

// mempool waits until the number of transactions in the node's mempool is as wanted.
func (s *site) mempool(ctx context.Context, wanted func(n int) bool) error {
	return waitEvery(ctx, time.Millisecond, 30*time.Second, func() error {
		var ids []string
		if err := s.askNode(ctx, "getrawmempool", &ids); err != nil {
			return err
		}
		if !wanted(len(ids)) {
			return fmt.Errorf("%d transactions are in the mempool", len(ids))
		}
		return nil
	})
}

const (
	pacedConns = 8
	pacedEvery = 20 * time.Millisecond
)

// besideBlock drives paced requests while nothing else happens, and again while blocks with many deposits are recorded
// and credited.
func (s *site) besideBlock(ctx context.Context) error {
	c, err := s.crowd(ctx)
	if err != nil {
		return err
	}
	for _, subject := range []struct {
		name string
		next call
	}{
		{"GET account", fixed("GET", "/api/v1/account", headersOf(c.account), "")},
		{"POST wallet", fixed("POST", "/api/v1/wallet", headersOf(s.account), newWallet)},
	} {
		quiet, err := drive(ctx, s.paced(subject.next, after(s.seconds)))
		if err != nil {
			return err
		}
		if err := s.pay(ctx, c.payments); err != nil {
			return err
		}
		var ended atomic.Bool
		failed := make(chan error, 1)
		go func() {
			_, _, err := c.mined(ctx)
			ended.Store(true)
			failed <- err
		}()
		busy, err := drive(ctx, s.paced(subject.next, ended.Load))
		if err := errors.Join(err, <-failed); err != nil {
			return fmt.Errorf("%s beside a block: %w", subject.name, err)
		}
		p := s.part(partLatency)
		p.load(s.kind, subject.name+", nothing else happens", quiet)
		p.load(s.kind, fmt.Sprintf("%s beside a block of %s deposits", subject.name, number(float64(len(c.payments)))), busy)
	}
	return nil
}

func (s *site) paced(next call, end func() bool) driving {
	return driving{addresses: []string{s.api}, conns: pacedConns, end: end, next: next, turn: &s.turn, pace: pacedEvery}
}

// load keeps how long the requests of a load took.
func (p *part) load(database, name string, l load) {
	progress("%s, %s: p50 %s, p99 %s", database, name, short(l.P50), short(l.P99))
	p.Times = append(p.Times, timing{Database: database, Name: name, Samples: int(l.Requests), P50: l.P50, P99: l.P99})
}
