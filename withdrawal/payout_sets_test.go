package withdrawal_test

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
	"github.com/bursar/bursar/withdrawal"
)

// queue has n withdrawals of Ann's wait, half of them with an error of an earlier attempt, and returns them.
func (d *harness) queue(n int) (queued []bursar.Withdrawal) {
	d.Helper()
	var requests []withdrawal.Request
	for range n {
		requests = append(requests, d.order(1000, d.node.Named("outside")))
	}
	results, err := d.orders.Together(ctx, requests)
	d.Must(err)
	d.Do(func(tx *store.Tx) error {
		for i, r := range results {
			d.Must(r.Err)
			w := r.Value
			if i%2 == 1 {
				w.Error = "sent again"
				d.Must(tx.Withdrawals().SetStatus(ctx, w, w.Status))
			}
			queued = append(queued, w)
		}
		return nil
	})
	return queued
}

// pay has a transaction pay withdrawals: assigned, signed and broadcast.
func (d *harness) pay(list []bursar.Withdrawal, by bursar.ID, txID string) error {
	payouts := withdrawal.Payouts{Chain: bursar.Bitcoin, Registry: d.config.Registry, IDs: d.IDs,
		Log: slog.New(slog.DiscardHandler)}
	return d.DB.Do(ctx, func(tx *store.Tx) error {
		if err := tx.Withdrawals().AssignAll(ctx, list, by); err != nil {
			return err
		}
		paid, err := tx.Withdrawals().PaidBy(ctx, by)
		if err == nil {
			err = payouts.Signed(ctx, tx, paid, txID)
		}
		if err == nil {
			paid, err = tx.Withdrawals().PaidBy(ctx, by)
		}
		if err == nil {
			err = payouts.Broadcast(ctx, tx, paid)
		}
		return err
	})
}

// settle has the transaction that pays withdrawals be final, and returns what settled them.
func (d *harness) settle(by bursar.ID) error {
	payouts := withdrawal.Payouts{Chain: bursar.Bitcoin, Registry: d.config.Registry, IDs: d.IDs,
		Log: slog.New(slog.DiscardHandler)}
	return d.DB.Do(ctx, func(tx *store.Tx) error {
		paid, err := tx.Withdrawals().PaidBy(ctx, by)
		if err == nil {
			err = payouts.Confirm(ctx, tx, paid, by)
		}
		return err
	})
}

// broadcastEvents returns how many events there are of withdrawals that were broadcast.
func (d *harness) broadcastEvents() (n int) {
	d.Helper()
	d.Do(func(tx *store.Tx) error {
		list, err := tx.Deliveries().Due(ctx, nil, 10_000)
		for _, e := range list {
			if strings.Contains(string(e.Body), `"broadcast"`) {
				n++
			}
		}
		return err
	})
	return n
}

// What a transaction pays changes together, each withdrawal as if it were alone, whatever their number.
func TestWhatIsPaidTogetherChangesTogether(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newHarnessOver(t, db)
		for i, n := range []int{1, 5} {
			list, by, txID := d.queue(n), bursar.ID{0xaa, byte(n)}, fmt.Sprintf("tx of %d", n)
			before := d.broadcastEvents()
			d.Must(d.pay(list, by, txID))
			for k, w := range list {
				got := d.read(w.ID)
				if got.Status != bursar.WithdrawalBroadcast || got.TxID != txID || got.OutgoingID != by ||
					got.Error != []string{"", "sent again"}[k%2] || !got.CompletedAt.IsZero() {
					t.Errorf("of %d, number %d is %+v, want broadcast in %q", n, k, got, txID)
				}
			}
			if now := d.broadcastEvents(); now != before+n {
				t.Errorf("round %d: %d events, want %d", i, now-before, n)
			}
			unsettle := list[n-1] // what was unsettled before is settled again, under another name
			d.Do(func(tx *store.Tx) error {
				entry := ledger.WithdrawalSettled(unsettle, 0, tx.Now())
				if err := tx.Ledger().Post(ctx, entry); err != nil {
					return err
				}
				return tx.Ledger().Post(ctx, ledger.WithdrawalUnsettled(unsettle, 1, tx.Now()))
			})
			d.Must(d.settle(by))
			for k, w := range list {
				if got := d.read(w.ID); got.Status != bursar.WithdrawalConfirmed || got.CompletedAt.IsZero() {
					t.Errorf("of %d, number %d is %s, completed at %s, want confirmed now", n, k, got.Status, got.CompletedAt)
				}
				round := 0
				if w.ID == unsettle.ID {
					round = 1
				}
				d.Do(func(tx *store.Tx) error {
					there, err := tx.Ledger().IsPosted(ctx, ledger.WithdrawalSettled(w, round, tx.Now()))
					if !there {
						t.Errorf("of %d, number %d is not settled in round %d", n, k, round)
					}
					return err
				})
			}
		}
	})
}

// Where one of several withdrawals changed since it was read, none is assigned or moved.
func TestNoneChangesWhereOneHasChanged(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newHarnessOver(t, db)
		list := d.queue(4)
		d.Do(func(tx *store.Tx) error {
			return tx.Withdrawals().SetStatus(ctx, list[2], bursar.WithdrawalCancelled)
		})
		for name, change := range map[string]func(tx *store.Tx) error{
			"assigned": func(tx *store.Tx) error { return tx.Withdrawals().AssignAll(ctx, list, bursar.ID{0xaa}) },
			"moved": func(tx *store.Tx) error {
				return tx.Withdrawals().SetStatusAll(ctx, list, func(bursar.Withdrawal) bursar.WithdrawalStatus {
					return bursar.WithdrawalSigned
				})
			},
			"moved, and the error passed over": func(tx *store.Tx) error {
				if tx.Withdrawals().SetStatusAll(ctx, list, func(bursar.Withdrawal) bursar.WithdrawalStatus {
					return bursar.WithdrawalSigned
				}) == nil {
					return nil
				}
				return errors.New("refused")
			},
			"moved as no table allows": func(tx *store.Tx) error {
				return tx.Withdrawals().SetStatusAll(ctx, list[:2], func(bursar.Withdrawal) bursar.WithdrawalStatus {
					return bursar.WithdrawalBroadcast
				})
			},
		} {
			if err := d.DB.Do(ctx, change); err == nil {
				t.Errorf("%s: no error", name)
			}
		}
		for i, w := range list {
			want := bursar.WithdrawalQueued
			if i == 2 {
				want = bursar.WithdrawalCancelled
			}
			if got := d.read(w.ID); got.Status != want || !got.OutgoingID.IsZero() {
				t.Errorf("number %d is %s by %s, want %s by none", i, got.Status, got.OutgoingID, want)
			}
		}
	})
}

// read reads a withdrawal of Ann's.
func (d *harness) read(id bursar.ID) (w bursar.Withdrawal) {
	d.Helper()
	d.Do(func(tx *store.Tx) (err error) {
		w, err = tx.Withdrawals().Get(ctx, ann, id)
		return err
	})
	return w
}

// A transaction that pays many withdrawals takes the same number of statements as one that pays few.
func TestATransactionTakesAConstantNumberOfStatements(t *testing.T) {
	if testing.Short() {
		t.Skip("PostgreSQL is left out by -short")
	}
	d := newHarnessOn(t, storetest.Postgres(t))
	statements := func(n int) (made int) {
		list := d.queue(n)
		d.points = func(at store.Point, _ string) error {
			if at == store.Running {
				made++
			}
			return nil
		}
		defer func() { d.points = nil }()
		d.Must(d.pay(list, bursar.ID{0xaa, byte(n)}, "tx"))
		d.Must(d.settle(bursar.ID{0xaa, byte(n)}))
		return made
	}
	statements(2) // creates the balances
	if few, many := statements(4), statements(60); few != many || many > 26 {
		t.Errorf("4 withdrawals take %d statements, 60 take %d, want as many", few, many)
	}
}
