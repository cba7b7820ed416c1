package outgoing

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

const (
	// lostPatience is how long it may fail to find out whether a nonce is lost before an alarm says so.
	lostPatience = 10 * time.Minute
	// fillPatience is how long the transaction that uses up a lost nonce may take before an alarm says what to do.
	fillPatience = time.Hour
)

// nonceTrouble is what keeps lost nonces from being used up, as far as this process has seen it.
type nonceTrouble struct {
	since time.Time // of the first failure without a success after it; zero: there is none
	last  time.Time // of the last failure
	said  *string   // what the alarm says; "": none is open; nil: not known
}

func (s *Sender) nonceTroubleOf(ref string) *nonceTrouble {
	if s.memory.nonceTroubles[ref] == nil {
		s.memory.nonceTroubles[ref] = &nonceTrouble{last: s.DB.Now()}
	}
	return s.memory.nonceTroubles[ref]
}

// tooManyLost is why the nonces of an address are not used up, and what uses them up all the same.
func tooManyLost(id bursar.ChainID, base string, n int) error {
	return &WaitError{Reason: fmt.Sprintf("nothing is known of %d nonces of %s, more than a reorg loses: somebody may "+
		"have changed the database. If they are lost, `bursar recovery use-up %s %s --nonces %d` uses them up", n, base, id,
		base, n)}
}

// sayNotFilled raises an alarm if nonces are lost and cannot be used up, or if it fails for long to find out whether
// they are, and closes it once there is no trouble. what begins its message.
func (s *Sender) sayNotFilled(ctx context.Context, lease store.Lease, ref, what string, trouble error) error {
	t, message, now := s.nonceTroubleOf(ref), "", s.DB.Now()
	if trouble != nil {
		t.last = now
	}
	var held *WaitError
	switch {
	case trouble == nil:
		t.since = time.Time{}
	case errors.As(trouble, &held):
		message = what + held.Reason
	default:
		if t.since.IsZero() {
			t.since = now
		}
		if now.Sub(t.since) < lostPatience {
			return nil
		}
		message = what + "for more than 10 minutes no node has said whether a nonce is lost; the log has the errors. " +
			"Add an endpoint that has the state of the newest final block"
	}
	if t.said != nil && *t.said == message {
		return nil
	}
	alarm := store.Alarm{Chain: s.Chain.Capabilities().ID, Kind: recovery.AlarmNonceLost, Ref: ref, Message: message}
	err := s.setAlarm(ctx, lease, alarm)
	if err == nil {
		t.said = &message
	}
	return err
}

// setAlarm raises an alarm, or closes it if it has no message.
func (s *Sender) setAlarm(ctx context.Context, lease store.Lease, a store.Alarm) error {
	open := a.Message != ""
	if !open {
		err := s.DB.View(ctx, func(tx *store.Tx) (err error) {
			open, err = tx.Alarms().IsOpen(ctx, a.Kind, a.Ref)
			return err
		})
		if err != nil || !open {
			return err
		}
	}
	return s.DB.Do(ctx, func(tx *store.Tx) error {
		if _, err := tx.Leases().Fence(ctx, lease); err != nil {
			return err
		}
		if a.Message == "" {
			return tx.Alarms().Resolve(ctx, a.Kind, a.Ref)
		}
		return tx.Alarms().Raise(ctx, a)
	})
}

// sayHotNotFilled is sayNotFilled for a hot wallet.
func (s *Sender) sayHotNotFilled(ctx context.Context, lease store.Lease, base string, trouble error) error {
	what := fmt.Sprintf("nothing is paid from a hot wallet, because a nonce of %s may be lost: ", base)
	return s.sayNotFilled(ctx, lease, base, what, trouble)
}

// alarmLostBelow is sayNotFilled for all deposit addresses together, after a step: each step looks at some of their
// sweeps, so that a step without a failure proves nothing before some time has passed.
func (s *Sender) alarmLostBelow(ctx context.Context, lease store.Lease, state store.ChainState) error {
	if _, can := s.nonceReader(); !can {
		return nil
	}
	trouble := s.memory.lostBelow
	if t := s.nonceTroubleOf(string(state.Chain)); trouble == nil && s.DB.Now().Sub(t.last) < lostPatience {
		return nil
	}
	what := fmt.Sprintf("sweeps of deposit addresses of %s wait, because a nonce of theirs may be lost: ", state.Chain)
	return s.sayNotFilled(ctx, lease, string(state.Chain), what, trouble)
}

// whatWaits says what waits until a lost nonce of an address is used up.
func (s *Sender) whatWaits(base string) string {
	if _, hot := s.hotAt(base); hot {
		return "nothing is paid from a hot wallet"
	}
	return "later sweeps of that deposit address wait"
}

// sayFilling raises the alarm about lost nonces of an address that are being used up. It closes when what uses up the
// last of them has ended.
func (s *Sender) sayFilling(ctx context.Context, tx *store.Tx, by ...bursar.OutgoingTx) error {
	last := by[len(by)-1]
	resource, _ := recovery.Fills(last)
	message := fmt.Sprintf("the transaction with nonce %s is in no block and is not known any more; outgoing transaction "+
		"%s uses the nonce up; until it is final, %s", resource, last.ID, s.whatWaits(last.Base))
	if len(by) > 1 {
		message = fmt.Sprintf("by the word of an operator, %d outgoing transactions use up %d lost nonces of %s, the last "+
			"of which is %s; until it is final, %s", len(by), len(by), last.Base, last.ID, s.whatWaits(last.Base))
	}
	return tx.Alarms().Raise(ctx, store.Alarm{Chain: last.Chain, Kind: recovery.AlarmNonceLost, Ref: resource,
		Message: message})
}

// sayFillingLong has the alarm about a lost nonce say what to do if what uses it up is not final for long: payments or
// sweeps wait meanwhile.
func (s *Sender) sayFillingLong(ctx context.Context, lease store.Lease, p bursar.OutgoingTx) error {
	resource, _ := recovery.Fills(p)
	if t := s.nonceTroubleOf(resource); t.said != nil || s.DB.Now().Sub(p.CreatedAt) < fillPatience {
		return nil
	}
	message := fmt.Sprintf("outgoing transaction %s uses up a nonce of %s that is lost, and is not final after more than "+
		"an hour: %s until it is. `bursar outgoing show %s` shows what it waits for: send funds, end a halt, raise max_fee, "+
		"or see to the endpoints. If an explorer shows that the nonce was used before, `bursar outgoing abandon %s` ends it",
		p.ID, p.Base, s.whatWaits(p.Base), p.ID, p.ID)
	after, err := s.change(ctx, lease, p, func(tx *store.Tx, now bursar.OutgoingTx) error {
		return tx.Alarms().Raise(ctx, store.Alarm{Chain: p.Chain, Kind: recovery.AlarmNonceLost, Ref: resource,
			Message: message})
	})
	if err == nil && after.Status == p.Status {
		s.nonceTroubleOf(resource).said = &message
	}
	return err
}
