package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	blockTransactions = 4000
	smallBlocks       = 6  // before the full ones
	depositEvery      = 10 // blocks
	blockTarget       = "≥ 120"
)

// fullBlocks is how many full blocks are followed, and watchedWallets beside how many wallets.
func (b *bench) fullBlocks() (blocks int, watchedWallets []int64) {
	switch {
	case b.quick:
		return 150, []int64{10_000}
	case b.scale:
		return 600, []int64{10_000, 1_000_000, b.wallets}
	}
	return 600, []int64{10_000, 1_000_000}
}

// blockSuites follow full Bitcoin blocks from a scripted node, beside more and more wallets.
func (b *bench) blockSuites() []suite {
	kind := b.databases[0]
	blocks, numbers := b.fullBlocks()
	var suites []suite
	for _, wallets := range numbers {
		s := &site{bench: b, kind: kind}
		suites = append(suites, suite{
			name:  fmt.Sprintf("blocks, %s wallets", number(float64(wallets))),
			takes: 5*time.Second + time.Duration(wallets)*fillWallet,
			open:  func(ctx context.Context) (func(), error) { return s.openFilled(ctx, wallets) },
			steps: []step{{
				name:  fmt.Sprintf("Bitcoin blocks of %d transactions", blockTransactions),
				takes: time.Duration(blocks) * 15 * time.Millisecond,
				run:   func(ctx context.Context) error { return s.follow(ctx, blocks, wallets) },
			}},
		})
	}
	return suites
}

// fillWallet is about how long it takes to write a wallet by SQL.
const fillWallet = 30 * time.Microsecond

// openFilled prepares a database with wallets and does not start the service.
func (s *site) openFilled(ctx context.Context, wallets int64) (func(), error) {
	err := s.prepare(ctx, fmt.Sprintf("blocks-%d", wallets), "bitcoin")
	if err == nil {
		err = s.filler().wallets(ctx, s.account.AccountID, wallets)
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s.close, nil
}

// follow lets the service follow a scripted node to its tip, announces the full blocks and measures until they are
// recorded.
func (s *site) follow(ctx context.Context, blocks int, wallets int64) error {
	ready, err := newReadyChain(blockTransactions, smallBlocks)
	if err != nil {
		return err
	}
	n, err := newNode(ctx, ready)
	if err != nil {
		return err
	}
	defer n.close()
	if err := s.configure(s.nodes["bitcoin"], n.url); err != nil {
		return err
	}
	if err := s.serve(ctx); err != nil {
		return err
	}
	defer s.halt()
	wallet, err := s.newWallet(ctx, s.account, "https://example.com/hook")
	if err != nil {
		return err
	}
	pays, err := scriptOf(wallet.Address)
	if err != nil {
		return err
	}
	for i := range blocks {
		to := pays
		if i%depositEvery != 0 {
			to = nil
		}
		if err := ready.add(to, true); err != nil {
			return err
		}
	}
	if err := s.recorded(ctx, smallBlocks, tipWithin); err != nil {
		return err
	}
	return s.followed(ctx, n, blocks, wallets, wallet)
}

func (s *site) followed(ctx context.Context, n *node, blocks int, wallets int64, wallet walletInfo) error {
	before, err := s.service.processor()
	if err != nil {
		return err
	}
	start := time.Now()
	var took, after time.Duration
	var memory int64
	name := fmt.Sprintf("blocks of %s transactions, %s wallets", number(blockTransactions), number(float64(wallets)))
	err = s.profiled(ctx, name, func() (err error) {
		n.tip.Store(int64(smallBlocks + blocks))
		if err := s.recorded(ctx, smallBlocks+blocks, tipWithin); err != nil {
			return err
		}
		took = time.Since(start)
		if after, err = s.service.processor(); err == nil {
			memory, err = s.service.memory()
		}
		return err
	})
	if err != nil {
		return err
	}
	found, _, err := s.deposits(ctx, s.account, wallet)
	if err != nil {
		return err
	}
	if want := (blocks + depositEvery - 1) / depositEvery; found < min(want, 10) {
		return fmt.Errorf("the wallet has %d deposits, want %d", found, want)
	}
	p := s.part(partBlocks)
	perCore := float64(blocks) / (after - before).Seconds()
	p.figure(s.besideFirst(partBlocks, figure{Database: s.kind, Name: name, Unit: "blocks/s",
		Value: float64(blocks) / took.Seconds()}))
	f := s.besideFirst(partBlocks, figure{Database: s.kind, Name: name, Unit: "blocks/s and core", Value: perCore})
	f.Target = blockTarget
	p.figure(f)
	f = s.besideFirst(partBlocks, figure{Database: s.kind, Name: name, Unit: "MB", Value: float64(memory) / megabyte})
	f.Target = largeMemory
	p.figure(f)
	return nil
}

// besideFirst compares a figure with the first one of its unit in a part, which is that of the smallest database.
func (s *site) besideFirst(name string, f figure) figure {
	for _, first := range s.part(name).Figures {
		if first.Unit == f.Unit {
			return f.beside(first.Name[strings.LastIndex(first.Name, ", ")+2:], first.Value)
		}
	}
	return f
}

// recorded waits until the service has recorded the chain up to a height.
func (s *site) recorded(ctx context.Context, height int, timeout time.Duration) error {
	err := waitEvery(ctx, 10*time.Millisecond, timeout, func() error {
		var at int
		err := s.db.QueryRowContext(ctx, `SELECT height FROM chains WHERE chain = 'bitcoin'`).Scan(&at)
		if err == nil && at < height {
			err = fmt.Errorf("block %d is recorded, want %d", at, height)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("wait until the chain is followed: %w\n%s", err, lastLines(s.service.log.String(), 5))
	}
	return nil
}

// configure replaces a text in the configuration.
func (d *deployment) configure(old, replacement string) error {
	file := filepath.Join(d.dir, "bursar.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if !strings.Contains(string(text), old) {
		return fmt.Errorf("the configuration has no %s", old)
	}
	return os.WriteFile(file, []byte(strings.ReplaceAll(string(text), old, replacement)), 0o600)
}
