package destination_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/destination"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// TestAWithdrawalThatWaitedIsEvaluatedAgain removes the destination of a withdrawal that waits for an operator.
func TestAWithdrawalThatWaitedIsEvaluatedAgain(t *testing.T) {
	each(t, func(s *harness) {
		mine := s.account()
		w := bursar.Withdrawal{ID: s.ids.Next(), AccountID: mine, Currency: "ETH", Amount: bursar.Units(1e18),
			Address: bursar.Address{Base: ethA}, Status: bursar.WithdrawalPendingApproval}
		s.must(s.db.Do(s.Context(), func(tx *store.Tx) error {
			if err := tx.Withdrawals().Insert(s.Context(), bursar.Ethereum, w); err != nil {
				return err
			}
			return tx.Ledger().Post(s.Context(), ledger.WithdrawalHeld(w, tx.Now()))
		}))
		s.must(s.lists.Enable(s.Context(), mine))
		var refusal *bursar.Error
		if _, err := s.pays.Approve(s.Context(), w.ID); !errors.As(err, &refusal) ||
			refusal.Code != bursar.CodeDestinationRefused {
			s.Errorf("approved: %v", err)
		}
		if got, err := s.pays.Get(s.Context(), mine, w.ID); err != nil || got.Status != bursar.WithdrawalPendingApproval {
			s.Errorf("it is %s, %v", got.Status, err)
		}
		s.add(destination.New{Account: mine, Currency: "ETH", Address: ethA})
		s.clock.Advance(hold)
		if got, err := s.pays.Approve(s.Context(), w.ID); err != nil || got.Status != bursar.WithdrawalQueued {
			s.Errorf("approved once it is listed: %s, %v", got.Status, err)
		}
	})
}

// TestNoWithdrawalSlipsThroughARemoval requests withdrawals on both replicas while a third removes their destination:
// none that starts after the removal is accepted.
func TestNoWithdrawalSlipsThroughARemoval(t *testing.T) {
	each(t, func(s *harness) {
		mine := s.account()
		d := s.add(destination.New{Account: mine, Currency: "MATIC", Address: ethA})
		s.clock.Advance(hold)
		s.must(s.lists.Enable(s.Context(), mine))
		var removed, taken atomic.Bool
		var group sync.WaitGroup
		for i := range 8 {
			r := []replica{s.replica, s.other}[i%2]
			group.Go(func() {
				for {
					late := removed.Load()
					err := s.order(r, mine, "MATIC", ethA)
					if err == nil {
						taken.Store(true)
					}
					if late && err == nil {
						s.Error("a withdrawal was accepted after its destination was removed")
					}
					if err != nil || late {
						return
					}
				}
			})
		}
		for !taken.Load() {
			s.must(s.db.Ping(s.Context()))
		}
		s.must(s.lists.Remove(s.Context(), mine, d.ID))
		removed.Store(true)
		group.Wait()
		s.paid(mine, "MATIC", ethA, unlisted)
	})
}
