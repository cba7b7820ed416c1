package outgoing_test

import (
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/withdrawal"
)

// calm ends all faults and lets everything finish.
func (s *chaos) calm() {
	s.busy = true
	s.signer.mood = willing
	s.Chain.SetRate(5) // the lowest fee ever offered: here a child never pays for its parent
	for s.expected > 0 {
		s.newWallet()
		s.expected--
	}
	s.start(0)
	*s.harness = *s.procs[0]
	list, err := s.Withdrawals.List(ctx, bursar.ID{}, store.Page{Limit: 1000})
	s.Must(err)
	for _, w := range list {
		if w.Status == bursar.WithdrawalPendingApproval {
			_, err := s.Withdrawals.Approve(ctx, w.ID)
			if bursartest.IsCode(err, bursar.CodeWithdrawalsFrozen) { // its deposit has not come back
				_, err = s.Withdrawals.Reject(ctx, w.ID, "frozen")
			}
			s.Must(err)
		}
	}
	for range 4 {
		s.Pay(bursar.Address{Base: s.Hot.Base}, 5_000_000_000)
	}
	for range 4 { // more may be reversed while it finishes
		s.calmDown(50)
		s.refuseFrozen()
	}
	s.finish()
	s.Must(s.noneOverrated())
	_, err = s.Follower.Rescan(ctx, 1, s.height()) // what was paid before its wallet was made
	s.Must(err)
	s.Settle()
}

// calmDown lets some blocks pass without faults.
func (s *chaos) calmDown(blocks int) {
	s.endTrouble()
	for range blocks {
		s.Chain.Mine(1)
		s.Step()
		if s.Idle() {
			return
		}
	}
}

// refuseFrozen is the operator, who rejects the withdrawals of accounts that stay frozen: a deposit that a payment of
// ours made, and that was reversed with it, does not come back.
func (s *chaos) refuseFrozen() {
	list, err := s.Withdrawals.List(ctx, bursar.ID{}, store.Page{Limit: 1000})
	s.Must(err)
	for _, w := range list {
		halts := 0
		s.View(func(tx *store.Tx) error {
			found, err := tx.Halts().Of(ctx, store.HaltAccount(w.AccountID))
			halts = len(found)
			return err
		})
		if halts == 0 {
			continue
		}
		switch w.Status {
		case bursar.WithdrawalPendingApproval:
			_, err = s.Withdrawals.Reject(ctx, w.ID, "frozen")
		case bursar.WithdrawalQueued:
			if _, err = s.Withdrawals.Cancel(ctx, w.ID); errors.Is(err, withdrawal.ErrTooLate) {
				err = nil // it is being paid
			}
		}
		s.Must(err)
	}
}

// evaluate checks what holds after any chaos run: nothing is held, and nothing is halted.
func (s *chaos) evaluate() error {
	if err := s.simulatedRun.evaluate(); err != nil {
		return err
	}
	return s.DB.View(ctx, func(tx *store.Tx) error {
		state, err := tx.Chains().State(ctx, s.Chain.Capabilities().ID)
		if err != nil {
			return err
		}
		if state.Halted != "" {
			return fmt.Errorf("payments were halted: %s", state.Halted)
		}
		for _, id := range s.Accounts {
			b, err := tx.Ledger().Balance(ctx, ledger.Held(id), "COIN")
			if held, _ := b.Net(ledger.Liability); err != nil || !held.IsZero() {
				return fmt.Errorf("%s is still held for %s, %v", held, id, err)
			}
		}
		return nil
	})
}

// noneOverrated checks that the books of no address show more than it holds.
func (s *chaos) noneOverrated() error {
	return s.DB.View(ctx, func(tx *store.Tx) error {
		return tx.Holdings().Each(ctx, s.Chain.Capabilities().ID, func(h store.Holding) error {
			if really := s.Chain.Balance(h.Base, h.Contract); really.Less(h.Amount) {
				return fmt.Errorf("%s holds %s, the books say %s", h.Base, really, h.Amount)
			}
			return nil
		})
	})
}
