package main

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// settled is a deployment of Bitcoin, which pays many withdrawals in one transaction, and of Ethereum, where what
// arrives at each wallet is swept by a transaction of its own.
type settled struct{ *site }

const (
	ethEach      = "0.05"
	payoutAmount = "0.0005"
	settleWithin = 10 * time.Minute
)

// settling is how many wallets one block pays and how many withdrawals are ordered.
func (b *bench) settling() (deposits, payouts int) {
	if b.quick {
		return 200, 200
	}
	return 5000, 5000
}

// settleSuites measure what follows a final block: deposits that are swept, and payouts that are booked.
func (b *bench) settleSuites() (suites []suite) {
	deposits, payouts := b.settling()
	for _, kind := range b.databases {
		s := &settled{&site{bench: b, kind: kind}}
		suites = append(suites, suite{
			name:  kind + ", settling",
			takes: 20 * time.Second,
			open:  s.open,
			steps: []step{
				{fmt.Sprintf("settling: %s payouts", number(float64(payouts))),
					time.Duration(payouts) * 5 * time.Millisecond, s.payouts},
				{fmt.Sprintf("settling: %s sweeps", number(float64(deposits))),
					time.Duration(deposits) * 20 * time.Millisecond, s.sweeps},
			},
		})
	}
	return suites
}

func (s *settled) open(ctx context.Context) (func(), error) {
	err := s.prepare(ctx, "settling-"+s.kind, "bitcoin", "ethereum")
	if err == nil {
		err = s.serve(ctx)
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s.close, nil
}

// work measures the time and the processor time of the service and its database until nothing is left to be done,
// while blocks are mined.
func (s *settled) work(ctx context.Context, name, chain string, count int, left string) error {
	before, err := s.ownTime()
	if err != nil {
		return err
	}
	start := time.Now()
	err = s.profiled(ctx, name, func() error { return s.minedUntilNone(ctx, chain, left) })
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	took := time.Since(start)
	after, err := s.ownTime()
	if err != nil {
		return err
	}
	p := s.part(partSettling)
	p.time(s.kind, name, took, 0)
	p.figure(figure{Database: s.kind, Name: name + ": processor time of service and database", Unit: "µs each",
		Value: float64((after - before).Microseconds()) / float64(count)})
	return s.faultless(ctx)
}

// ownTime is the processor time of the service and of its database's server so far.
func (s *settled) ownTime() (time.Duration, error) {
	service, err := s.service.processor()
	if err != nil || s.cluster.dir == "" {
		return service, err
	}
	database, err := s.cluster.processor()
	return service + database, err
}

// minedUntilNone mines one block after the other until a count is zero. Blocks follow each other as quickly as the
// service records them, a few times a second at most.
func (s *settled) minedUntilNone(ctx context.Context, chain, left string) error {
	return waitEvery(ctx, 200*time.Millisecond, settleWithin, func() error {
		if err := s.mineOn(ctx, chain, 1); err != nil {
			return err
		}
		var open int
		err := s.db.QueryRowContext(ctx, left).Scan(&open)
		if err == nil && open > 0 {
			err = fmt.Errorf("%d are left", open)
		}
		return err
	})
}

func (d *deployment) mineOn(ctx context.Context, chain string, blocks int) error {
	return d.post(ctx, "/mine", map[string]any{"chain": chain, "blocks": blocks}, &struct{}{})
}

// payouts orders withdrawals from one account to one address outside, and measures from the last order until all of
// them are booked as paid.
func (s *settled) payouts(ctx context.Context) error {
	_, count := s.settling()
	accounts, err := s.funded(ctx, 1)
	if err != nil {
		return err
	}
	outside, err := s.outside(ctx)
	if err != nil {
		return err
	}
	body := fmt.Sprintf(`{"currency":"BTC","amount":"%s","address":"%s"}`, payoutAmount, outside)
	last := s.turn.Load() + int64(count)
	_, err = drive(ctx, driving{addresses: []string{s.api}, conns: 16, turn: &s.turn,
		end:  func() bool { return s.turn.Load() >= last },
		next: fixed(http.MethodPost, "/api/v1/account/withdraw", headersOf(accounts[0]), body)})
	if err != nil {
		return err
	}
	var ordered int
	if err := s.db.QueryRowContext(ctx, `SELECT COUNT(*) FROM withdrawals`).Scan(&ordered); err != nil {
		return err
	}
	name := fmt.Sprintf("%s payouts: from the last order until all are booked", number(float64(ordered)))
	return s.work(ctx, name, "bitcoin", ordered, `SELECT COUNT(*) FROM withdrawals WHERE completed_at = 0`)
}

// sweeps pays many wallets of Ether in one block, and measures until the deposits are credited, and from then until
// what arrived is at the hot wallet and booked.
func (s *settled) sweeps(ctx context.Context) error {
	count, _ := s.settling()
	c := &crowd{site: s.site}
	var err error
	if c.account, err = s.newAccount(ctx, "swept"); err != nil {
		return err
	}
	if err := c.makeWalletsOf(ctx, "ETH", count, ethEach); err != nil {
		return err
	}
	if err := s.payIn(ctx, "ETH", c.payments); err != nil {
		return err
	}
	made := len(c.payments)
	name := fmt.Sprintf("a block of %s deposits of Ether: credited", number(float64(made)))
	credited := fmt.Sprintf(`SELECT %d - COUNT(*) FROM deposits WHERE currency = 'ETH' AND status = 'confirmed'`, made)
	if err := s.work(ctx, name, "ethereum", made, credited); err != nil {
		return err
	}
	swept := fmt.Sprintf(`SELECT %d - COUNT(*) FROM outgoing_txs WHERE share = 'sweep' AND status = 'final'`, made)
	return s.work(ctx, fmt.Sprintf("%s sweeps: from the credits until all are booked", number(float64(made))), "ethereum",
		made, swept)
}
