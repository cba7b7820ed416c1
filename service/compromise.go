package service

import (
	"context"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/people"
	"github.com/bursar/bursar/store"
)

// alarmCompromise is open while the compromise order that was drilled last would not help, or another is due.
const alarmCompromise = "compromise_order_due"

// noteCompromise notes what the signer says of compromise orders, and raises an alarm while one is due.
func (s *Service) noteCompromise(ctx context.Context, p signer.PolicyText) error {
	now, before := p.Compromise, s.compromise.Load()
	if before != nil && *before == now {
		return nil
	}
	if before == nil || before.Trouble != now.Trouble {
		err := s.DB.Do(ctx, func(tx *store.Tx) error {
			ref := s.Keys.Fingerprint()
			if now.Trouble == "" {
				return tx.Alarms().Resolve(ctx, alarmCompromise, ref)
			}
			return tx.Alarms().Raise(ctx, store.Alarm{Kind: alarmCompromise, Ref: ref, Message: now.Trouble + ": prepare, " +
				"sign and drill one, `bursar signer compromise`"})
		})
		if err != nil {
			return fmt.Errorf("note whether a compromise order is due: %w", err)
		}
	}
	if now.InForce != "" && (before == nil || before.InForce != now.InForce) {
		s.log.Error("compromise order in force: everything is moved to cold wallets, and nothing else is signed")
	}
	s.compromise.Store(&now)
	return nil
}

// emptyingOf returns what says where a chain's hot wallet is emptied to.
func (s *Service) emptyingOf(id bursar.ChainID) func() outgoing.Emptying {
	return func() outgoing.Emptying { return emptying(s.compromise.Load(), id) }
}

func emptying(status *people.CompromiseStatus, id bursar.ChainID) outgoing.Emptying {
	if status == nil || status.InForce == "" {
		return outgoing.Emptying{}
	}
	o, err := approval.ParseCompromise(status.InForce)
	if err != nil { // of a later release: nothing can be moved, and nothing else would be signed
		return outgoing.Emptying{Order: "of another form"}
	}
	return outgoing.Emptying{Order: o.ID.String(), To: o.To(id)}
}
