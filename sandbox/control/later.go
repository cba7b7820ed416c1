package control

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bursar/bursar/client"
)

// lateBy is how long after a charge's end a late payment is made: blocks carry whole seconds.
const lateBy = 2 * time.Second

// payLater makes a payment once its charge has ended, at once if it has.
func (s *Server) payLater(charge client.Charge, p chargePayment) (*time.Time, error) {
	if charge.ExpiresAt == nil {
		return nil, wrong("the charge has no end")
	}
	at := charge.ExpiresAt.Add(lateBy)
	wait := at.Sub(s.Now())
	if wait > maxWait {
		return nil, wrong("the charge ends in %s: make one that ends within %s, by its parameter expires",
			wait.Round(time.Second), maxWait)
	}
	s.inBackground("pay a charge late", func(ctx context.Context) error {
		ticker := time.NewTicker(lookEvery)
		defer ticker.Stop()
		for s.Now().Before(at) { // whose clock may be moved meanwhile
			select {
			case <-ctx.Done():
				return nil
			case <-ticker.C:
			}
		}
		_, err := p.pay()
		return err
	})
	return &at, nil
}

const (
	lookEvery  = 50 * time.Millisecond
	seenWithin = 30 * time.Second
)

// payAndReorg pays, and replaces the payment's block by one without it once the charge shows the payment.
func (s *Server) payAndReorg(api *client.Client, charge client.Charge, p chargePayment) (string, error) {
	before := p.chain.Height()
	hash, err := p.pay()
	if err != nil {
		return "", err
	}
	s.inBackground("reorg a payment of a charge", func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, seenWithin)
		defer cancel()
		if err := waitForPayment(ctx, api, charge.ChargeID, hash); err != nil {
			return err
		}
		return p.chain.Reorg(int(p.chain.Height()-before), []string{hash})
	})
	return hash, nil
}

// waitForPayment waits until a charge shows a payment.
func waitForPayment(ctx context.Context, api *client.Client, chargeID, hash string) error {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		charge, err := api.Charge(ctx, chargeID)
		if err != nil {
			return fmt.Errorf("look for the payment: %w", err)
		}
		for _, p := range charge.Payments {
			if p.HashID == hash {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("look for the payment: %w", context.Cause(ctx))
		case <-ticker.C:
		}
	}
}

// inBackground runs what goes on after the answer, and ends it with the remote control.
func (s *Server) inBackground(what string, run func(context.Context) error) {
	s.background.Go(func() {
		if err := run(s.life); err != nil && !errors.Is(err, context.Canceled) {
			s.Log.Error("remote control cannot go on", "what", what, "error", err)
		}
	})
}
