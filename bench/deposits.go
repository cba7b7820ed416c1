package main

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// blockDeposits is the number of wallets that one block pays, and blockPays what they get together, in BTC.
const (
	blockDeposits = 5000
	blockPays     = 10
)

type payment struct {
	Address string `json:"address"`
	Amount  string `json:"amount"`
}

// maxPayments is the most payments that the sandbox makes in one transaction.
const maxPayments = 300

// pay makes payments; they wait for a block.
func (b *bench) pay(ctx context.Context, payments []payment) error {
	for len(payments) > 0 {
		n := min(len(payments), maxPayments)
		body := map[string]any{"currency": "BTC", "payments": payments[:n]}
		if err := b.post(ctx, "/pay", body, &struct{}{}); err != nil {
			return err
		}
		payments = payments[n:]
	}
	return nil
}

func (b *bench) mine(ctx context.Context, blocks int) error {
	return b.post(ctx, "/mine", map[string]any{"chain": "bitcoin", "blocks": blocks}, &struct{}{})
}

// credited waits until an account has a balance of BTC.
func (b *bench) credited(ctx context.Context, a account) error {
	return until(ctx, 60*time.Second, func() error {
		balance, err := b.balance(ctx, a)
		if err == nil && balance == "0.00000000" {
			err = errNotYet
		}
		return err
	})
}

// balance returns an account's balance of BTC.
func (b *bench) balance(ctx context.Context, a account) (string, error) {
	var response struct {
		Account struct{ Balance map[string]string }
	}
	if err := b.call(ctx, a, http.MethodGet, "/account", nil, &response); err != nil {
		return "", err
	}
	return response.Account.Balance["BTC"], nil
}

// deposits measures a block that pays many wallets: from the making of the block until the last deposit is seen, and
// from the making of the final block until everything is credited, with its events.
func (b *bench) deposits(ctx context.Context) error {
	name := fmt.Sprintf("a block of %d deposits", blockDeposits)
	if !b.wanted(name) {
		return nil
	}
	progress("%s: making %d wallets", b.kind, blockDeposits)
	a, err := b.newAccount(ctx, "deposits")
	if err != nil {
		return err
	}
	var payments []payment
	var last walletInfo
	for range blockDeposits {
		if last, err = b.newWallet(ctx, a, "https://example.com/hook"); err != nil {
			return err
		}
		payments = append(payments, payment{last.Address, "0.002"})
	}
	for round := range b.rounds {
		if err := b.pay(ctx, payments); err != nil {
			return err
		}
		seen, credited, err := b.block(ctx, a, last, round)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		b.results.add(b.kind, name+": seen", seen, 400*time.Millisecond)
		b.results.add(b.kind, name+": credited, with events", credited, 600*time.Millisecond)
	}
	return nil
}

func (b *bench) block(
	ctx context.Context, a account, last walletInfo, round int,
) (seen, credited time.Duration, err error) {
	start := time.Now()
	if err := b.mine(ctx, 1); err != nil {
		return 0, 0, err
	}
	err = until(ctx, 60*time.Second, func() error {
		var response struct{ Deposits []struct{} }
		err := b.call(ctx, a, http.MethodGet, "/wallet/deposits?walletID="+last.ID, nil, &response)
		if err == nil && len(response.Deposits) <= round {
			err = errNotYet
		}
		return err
	})
	if err != nil {
		return 0, 0, err
	}
	seen = time.Since(start)
	if err := b.mine(ctx, 1); err != nil {
		return 0, 0, err
	}
	start = time.Now()
	if err := b.mine(ctx, 1); err != nil {
		return 0, 0, err
	}
	want := fmt.Sprintf("%d.00000000", (round+1)*blockPays)
	err = until(ctx, 60*time.Second, func() error {
		balance, err := b.balance(ctx, a)
		if err == nil && balance != want {
			err = errNotYet
		}
		return err
	})
	return seen, time.Since(start), err
}
