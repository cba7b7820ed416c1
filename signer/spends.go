package signer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/bursar/bursar/signer/memory"
)

// ExternalSpend is a transaction from an address of ours that the service saw on a chain and did not make. It is what
// the service says: that freezes, and does nothing else.
type ExternalSpend struct {
	Ref    string `json:"ref"` // the transaction
	Reason string `json:"reason"`
}

// maxSpends is how many spends of one message are looked at, and how many are remembered within spendsPace.
const (
	maxSpends  = 64
	spendsPace = time.Minute
)

// FreezeOnSpends makes the signer freeze, durably, when a service says that it saw a transaction from an address of
// ours which it did not make. Each of them freezes once: after a thaw the signer is not frozen by the same one again.
// It is called before the first halts are received.
func (s *Signer) FreezeOnSpends() { s.spends = &spends{} }

// spends remembers which spends are known, so that the memory is not asked twice a second.
type spends struct {
	known map[string]bool
	since time.Time // when the minute began in which noted were remembered
	noted int
}

// few returns as many of the spends as may still be remembered.
//
// The attack: anyone who controls the service names spends without end, to fill the disk. Those that are not remembered
// freeze too, and are looked at again with the next message.
func (s *spends) few(fresh []ExternalSpend, now time.Time) []ExternalSpend {
	if now.Sub(s.since) >= spendsPace || now.Before(s.since) {
		s.since, s.noted = now, 0
	}
	fresh = fresh[:min(len(fresh), maxSpends-s.noted)]
	s.noted += len(fresh)
	return fresh
}

// spent freezes the signer for spends that it has not heard of. The caller holds the lock of the halts.
func (s *Signer) spent(ctx context.Context, list []ExternalSpend) error {
	if s.spends == nil || len(list) == 0 {
		return nil
	}
	list = list[:min(len(list), maxSpends)]
	if !slices.ContainsFunc(list, func(x ExternalSpend) bool { return !s.spends.known[x.nonce()] }) {
		return nil
	}
	fresh, err := s.unheard(ctx, list)
	if err != nil {
		return fmt.Errorf("look at an external spend: %w", err)
	}
	if len(fresh) > 0 { // the freeze first: after a crash between the two it is made once more
		if frozen, err := s.staysFrozen(ctx); err == nil && !frozen {
			if err := s.Freeze(ctx, "the service", shortened("external spend: "+fresh[0].Reason)); err != nil {
				return err
			}
		}
	}
	few := s.spends.few(fresh, s.now())
	err = s.evaluator.keeper.Do(ctx, func(tx memory.Tx) error {
		for _, x := range few {
			if err := tx.AddNonce(ctx, x.nonce(), 0); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("note an external spend: %w", err)
	}
	s.spends.known = map[string]bool{}
	for _, x := range list {
		s.spends.known[x.nonce()] = !slices.Contains(fresh[len(few):], x)
	}
	return nil
}

// unheard returns the spends that the memory does not know.
func (s *Signer) unheard(ctx context.Context, list []ExternalSpend) (fresh []ExternalSpend, err error) {
	err = s.evaluator.keeper.Do(ctx, func(tx memory.Tx) error {
		for _, x := range list {
			_, known, err := tx.Nonce(ctx, x.nonce())
			if err != nil {
				return err
			}
			if !known {
				fresh = append(fresh, x)
			}
		}
		return nil
	})
	return fresh, err
}

// nonce is the name under which a spend is remembered. No text that people sign has such a one.
func (x ExternalSpend) nonce() string {
	hash := sha256.Sum256([]byte(x.Ref))
	return "spend " + hex.EncodeToString(hash[:])
}
