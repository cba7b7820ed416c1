package webhook

import (
	"net/http"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// What a receiver has not taken goes to the one that replaced it, and the receiver hears no more.
func TestAReplacedReceiverHearsNoMore(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *harness) {
		refuses := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) })
		takes := newReceiver(t, nil)
		id := s.payout(refuses.URL)
		s.run(s.deliverer(s.db))
		d, _ := s.tried(id, 1)
		s.do(func(tx *store.Tx) error {
			_, err := tx.Accounts().SetNotifications(bg, bursar.Account{ID: customer, Webhook: takes.URL})
			return err
		})
		s.clock.Advance(d.NextAt.Sub(s.clock.Now()))
		d, past := s.tried(id, 2)
		if d.Status != store.DeliveryDelivered || d.URL != takes.URL || len(past) != 2 {
			t.Errorf("it is %s at %s after %d attempts, want it delivered at %s with the second", d.Status, d.URL, len(past),
				takes.URL)
		}
		if refuses.count() != 1 || takes.count() != 1 {
			t.Errorf("the receiver heard %d times and its successor %d times, want once each", refuses.count(), takes.count())
		}
	})
}

// payout records the event of a withdrawal, to a URL that is the account's.
func (s *harness) payout(url string) bursar.ID {
	s.Helper()
	id, withdrawal := bursar.ID{0xe1}, bursar.ID{0xf1}
	s.do(func(tx *store.Tx) error {
		if _, err := tx.Accounts().SetNotifications(bg, bursar.Account{ID: customer, Webhook: url}); err != nil {
			return err
		}
		err := tx.Withdrawals().Insert(bg, "bitcoin", bursar.Withdrawal{ID: withdrawal, AccountID: customer, Currency: "BTC",
			Status: bursar.WithdrawalQueued, CreatedAt: tx.Now()})
		if err != nil {
			return err
		}
		e, err := TestEvent(id, customer, url, tx.Now())
		if err != nil {
			return err
		}
		e.Kind, e.Subject = bursar.EventWithdrawal, withdrawal
		return tx.Events().Insert(bg, e)
	})
	return id
}
