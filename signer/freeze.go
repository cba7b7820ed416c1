package signer

import (
	"context"
	"fmt"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/signer/memory"
)

// notFrozen refuses everything while the signer is frozen, but what a compromise order in force allows.
//
// The attack: after an intrusion is noticed, the intruder restarts the signer, or lifts the halts that the service's
// database holds.
func notFrozen(ctx context.Context, tx memory.Tx, c *check) error {
	if err := underOrder(ctx, tx, c); err != nil || c.order != nil {
		return err
	}
	list, err := tx.Freezes(ctx)
	if err != nil || len(list) == 0 {
		return err
	}
	return c.frozen(list[0])
}

func (c *check) frozen(f memory.Freeze) error {
	return c.refuse(ReasonFrozen, "%s", frozenBy(f))
}

func frozenBy(f memory.Freeze) string {
	return fmt.Sprintf("frozen by %s at %s: %s; `bursar signer thaw` ends it", f.Who, memory.Minute(f.At), f.Why)
}

// gateIsOpen is notFrozen without the state, which a stalled disk or a busy signer may keep a freeze from. Whether a
// compromise order allows it, the state alone says.
func (e *evaluator) gateIsOpen(c *check) error {
	if c.order != nil {
		return nil
	}
	f, frozen, err := e.keeper.Gate().Frozen()
	if frozen {
		return c.frozen(f)
	}
	return err
}

// Leaving is the last check of a signature that Sign returned, for a caller that hands it to somebody else: it may have
// been halted or frozen in the meantime. The caller calls done once it has handed it over, within memory.AnswerTime; a
// freezing command waits for that. The error is a *RefusalError, or one of looking at the freeze.
func (s *Signer) Leaving(id bursar.ChainID, request chain.TxRequest) (done func(), err error) {
	if err := s.mayLeave(id, request); err != nil {
		return nil, err
	}
	done, f, frozen, err := s.evaluator.keeper.Gate().Pass()
	if frozen {
		if done, is, err := s.leavesUnderOrder(id, request); is || err != nil {
			return done, err
		}
		err = &RefusalError{Chain: id, OutgoingID: request.ID, Reason: ReasonFrozen, Detail: frozenBy(f)}
	}
	return done, err
}

// Freeze freezes the signer: at once, and durably when it returns nil. `bursar signer thaw` ends it.
func (s *Signer) Freeze(ctx context.Context, who, why string) error {
	return s.freeze(ctx, memory.Freeze{At: time.Now().UTC(), Who: who, Why: why})
}

func (s *Signer) freeze(ctx context.Context, f memory.Freeze) error {
	keeper := s.evaluator.keeper
	if err := keeper.Gate().Shut(f); err != nil {
		return err
	}
	return memory.Enter(ctx, keeper)
}

// Frozen returns why nothing is signed until a thaw, and when one begins that waits; "" if the signer is not frozen.
func (s *Signer) Frozen() (string, error) {
	f, frozen, err := s.evaluator.keeper.Gate().Frozen()
	if !frozen {
		return "", err
	}
	if w := s.ThawWaits(); !w.At.IsZero() {
		return fmt.Sprintf("frozen by %s at %s: %s; it %s", f.Who, memory.Minute(f.At), f.Why, w.Text()), nil
	}
	return frozenBy(f), nil
}
