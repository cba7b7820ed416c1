package outgoing_test

import (
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/withdrawal"
)

// calm ends everything that goes wrong and lets the rest come to rest.
func (s *chaos) calm() {
	s.busy = true
	s.signer.mood = willing
	s.chain.SetRate(5) // the least that was ever offered: here a child never pays for its parent
	for s.expected > 0 {
		s.newWallet()
		s.expected--
	}
	s.start(0)
	*s.harness = *s.procs[0]
	list, err := s.withdrawals.List(ctx, bursar.ID{}, store.Page{Limit: 1000})
	s.must(err)
	for _, w := range list {
		if w.Status == bursar.WithdrawalPendingApproval {
			_, err := s.withdrawals.Approve(ctx, w.ID)
			if isCode(err, bursar.CodeWithdrawalsFrozen) { // its deposit has not come back
				_, err = s.withdrawals.Reject(ctx, w.ID, "frozen")
			}
			s.must(err)
		}
	}
	for range 4 {
		s.pay(bursar.Address{Base: s.hot.Base}, 5_000_000_000)
	}
	for range 4 { // more may be reversed while it comes to rest
		s.calmDown(50)
		s.refuseFrozen()
	}
	s.finish()
	s.must(s.noneOverrated())
	_, err = s.follower.Rescan(ctx, 1, s.height()) // what was paid before its wallet was made
	s.must(err)
	s.settle()
}

// calmDown lets some blocks pass in which nothing goes wrong.
func (s *chaos) calmDown(blocks int) {
	s.endTrouble()
	for range blocks {
		s.chain.Mine(1)
		s.step()
		if s.idle() {
			return
		}
	}
}

// refuseFrozen is the operator, who refuses what accounts have ordered that stay frozen: a deposit that a payment of
// ours made, and that was reversed with it, does not come back.
func (s *chaos) refuseFrozen() {
	list, err := s.withdrawals.List(ctx, bursar.ID{}, store.Page{Limit: 1000})
	s.must(err)
	for _, w := range list {
		halts := 0
		s.view(func(tx *store.Tx) error {
			found, err := tx.Halts().Of(ctx, store.HaltAccount(w.AccountID))
			halts = len(found)
			return err
		})
		if halts == 0 {
			continue
		}
		switch w.Status {
		case bursar.WithdrawalPendingApproval:
			_, err = s.withdrawals.Reject(ctx, w.ID, "frozen")
		case bursar.WithdrawalQueued:
			if _, err = s.withdrawals.Cancel(ctx, w.ID); errors.Is(err, withdrawal.ErrTooLate) {
				err = nil // it is being paid
			}
		}
		s.must(err)
	}
}

// judge adds to what holds after any play: nothing is held, and nothing is halted.
func (s *chaos) judge() error {
	if err := s.simulatedRun.judge(); err != nil {
		return err
	}
	return s.db.View(ctx, func(tx *store.Tx) error {
		state, err := tx.Chains().State(ctx, s.chain.Capabilities().ID)
		if err != nil {
			return err
		}
		if state.Halted != "" {
			return fmt.Errorf("spending was stopped: %s", state.Halted)
		}
		for _, id := range s.accounts {
			b, err := tx.Ledger().Balance(ctx, ledger.Held(id), "COIN")
			if held, _ := b.Net(ledger.Liability); err != nil || !held.IsZero() {
				return fmt.Errorf("%s is still held for %s, %v", held, id, err)
			}
		}
		return nil
	})
}

// noneOverrated insists that no address is believed to hold more than it does.
func (s *chaos) noneOverrated() error {
	return s.db.View(ctx, func(tx *store.Tx) error {
		return tx.Holdings().Each(ctx, s.chain.Capabilities().ID, func(h store.Holding) error {
			if really := s.chain.Balance(h.Base, h.Contract); really.Less(h.Amount) {
				return fmt.Errorf("%s holds %s, the books say %s", h.Base, really, h.Amount)
			}
			return nil
		})
	})
}
