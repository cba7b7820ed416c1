package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"
)

// satoshiEach is what a block pays to each of its wallets.
const satoshiEach = 200_000

// crowd is an account with many wallets, which blocks pay.
type crowd struct {
	site     *site
	account  account
	payments []payment
	last     walletInfo
	rounds   int // blocks that paid them
}

// blockDeposits is the number of wallets that one block pays.
func (b *bench) blockDeposits() int {
	if b.quick {
		return 1000
	}
	return 5000
}

// depositSteps measure a block that pays many wallets.
func (s *site) depositSteps() []step {
	name := fmt.Sprintf("a block of %s deposits", number(float64(s.blockDeposits())))
	return []step{{
		name:  name,
		takes: 10*time.Second + time.Duration(s.rounds*s.blockDeposits())*2*time.Millisecond,
		run: func(ctx context.Context) error {
			c, err := s.crowd(ctx)
			if err == nil {
				err = s.warm(ctx)
			}
			if err != nil {
				return err
			}
			// The targets are for 5,000 deposits on PostgreSQL.
			for range s.rounds {
				var seen, credited time.Duration
				err := s.profiled(ctx, name, func() (err error) {
					seen, credited, err = c.block(ctx)
					return err
				})
				if err != nil {
					return err
				}
				p := s.part(partDeposits)
				p.time(s.kind, name+": seen", seen, s.targetOf(5000, 400*time.Millisecond))
				p.time(s.kind, name+": credited, with events", credited, s.targetOf(5000, 600*time.Millisecond))
			}
			return s.faultless(ctx)
		},
	}}
}

// faultless fails if the audit of the books, which runs all the time, has found anything wrong.
func (s *site) faultless(ctx context.Context) error {
	var fault string
	err := s.db.QueryRowContext(ctx, `SELECT message FROM book_faults ORDER BY number LIMIT 1`).Scan(&fault)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("the books are inconsistent: %s", fault)
}

// targetOf is a target that holds for a number of deposits on PostgreSQL.
func (s *site) targetOf(deposits int, target time.Duration) time.Duration {
	if s.kind != "postgres" || s.blockDeposits() != deposits {
		return 0
	}
	return target
}

// crowd makes the account whose wallets a block pays, once.
func (s *site) crowd(ctx context.Context) (*crowd, error) {
	if s.paid != nil {
		return s.paid, nil
	}
	progress("%s: making %d wallets", s.kind, s.blockDeposits())
	c := &crowd{site: s}
	var err error
	if c.account, err = s.newAccount(ctx, "deposits"); err != nil {
		return nil, err
	}
	if err := c.makeWallets(ctx, s.blockDeposits()); err != nil {
		return nil, err
	}
	s.paid = c
	return c, s.mature(ctx)
}

// makeWallets makes wallets over several connections, because one at a time would wait for as many syncs.
func (c *crowd) makeWallets(ctx context.Context, count int) error {
	return c.makeWalletsOf(ctx, "BTC", count, inBTC(satoshiEach))
}

// makeWalletsOf makes wallets of a currency, each of which a block pays an amount.
func (c *crowd) makeWalletsOf(ctx context.Context, currency string, count int, amount string) error {
	const workers = 32
	var mu sync.Mutex
	var failed error
	var group sync.WaitGroup
	for i := range workers {
		group.Go(func() {
			for range (count + i) / workers {
				w, err := c.site.newWalletOf(ctx, c.account, currency, "https://example.com/hook")
				mu.Lock()
				if err != nil {
					failed = err
				} else {
					c.last = w
					c.payments = append(c.payments, payment{w.Address, amount})
				}
				mu.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
	group.Wait()
	return failed
}

func inBTC(satoshi int) string { return fmt.Sprintf("%d.%08d", satoshi/1e8, satoshi%1e8) }

// block pays every wallet in one block, and returns how long it took until the last deposit was seen, and from the
// final block until everything was credited. The server knows the table's statistics, which autovacuum gathers within a
// minute: without them it may read the deposits of all wallets for those of one, each time that the driver looks.
func (c *crowd) block(ctx context.Context) (seen, credited time.Duration, err error) {
	if err := c.site.pay(ctx, c.payments); err != nil {
		return 0, 0, err
	}
	if _, err := c.site.db.ExecContext(ctx, `ANALYZE deposits`); err != nil {
		return 0, 0, fmt.Errorf("gather statistics: %w", err)
	}
	return c.mined(ctx)
}

// mined is block once the payments wait in the mempool.
func (c *crowd) mined(ctx context.Context) (seen, credited time.Duration, err error) {
	if seen, err = c.pending(ctx); err != nil {
		return 0, 0, err
	}
	credited, err = c.final(ctx)
	return seen, credited, err
}

// pending mines the block that pays every wallet, and the next, and waits until the deposits are seen.
func (c *crowd) pending(ctx context.Context) (time.Duration, error) {
	start := time.Now()
	if err := c.site.mine(ctx, 1); err != nil {
		return 0, err
	}
	err := until(ctx, time.Minute, func() error {
		n, _, err := c.site.deposits(ctx, c.account, c.last)
		if err == nil && n <= c.rounds {
			err = errNotYet
		}
		return err
	})
	seen := time.Since(start)
	if err != nil {
		return 0, fmt.Errorf("wait until the deposits are seen: %w", err)
	}
	c.rounds++
	return seen, c.site.mine(ctx, 1)
}

// final mines the block that makes the deposits final and waits until all are credited. The balance of an account adds
// up what is pending, so that to ask for it all the time would take from the server what is measured: it is asked once
// the last deposit is credited.
func (c *crowd) final(ctx context.Context) (time.Duration, error) {
	start := time.Now()
	if err := c.site.mine(ctx, 1); err != nil {
		return 0, err
	}
	want := inBTC(c.rounds * len(c.payments) * satoshiEach)
	err := until(ctx, time.Minute, func() error {
		_, credited, err := c.site.deposits(ctx, c.account, c.last)
		if err == nil && credited < c.rounds {
			err = errNotYet
		}
		if err != nil {
			return err
		}
		balance, err := c.site.balance(ctx, c.account)
		if err == nil && balance != want {
			err = fmt.Errorf("the balance is %s, want %s", balance, want)
		}
		return err
	})
	return time.Since(start), err
}
