package withdrawal_test

import (
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/withdrawal"
)

// list puts an address on an account's list, usable after a while; an empty currency means each.
func (d *harness) list(account bursar.ID, name string, currency bursar.CurrencyCode, after time.Duration) bursar.ID {
	d.Helper()
	id := d.IDs.Next()
	d.Do(func(tx *store.Tx) error {
		_, _, err := tx.Destinations().Insert(ctx, bursar.Destination{ID: id, AccountID: account, Family: "bitcoin",
			Currency: currency,
			Address:  bursar.Address{Base: d.node.Named(name)}, Label: name, CreatedAt: tx.Now(),
			UsableFrom: tx.Now().Add(after)})
		return err
	})
	return id
}

func (d *harness) bind(account bursar.ID, until time.Time) {
	d.Helper()
	d.Do(func(tx *store.Tx) error { return tx.DestinationLists().Set(ctx, account, until) })
}

// While its list binds, an account withdraws to destinations listed for the currency whose waiting period is over; of
// several waiting periods the error names the first to end. Another account's list does not matter.
func TestAListBinds(t *testing.T) {
	d := newHarness(t)
	d.list(ann, "known", "COIN", 0)
	d.list(ann, "each currency", "", 0)
	d.list(ann, "for tokens", "TOKEN", 0)
	d.list(ann, "held", "", 2*time.Hour)
	d.list(ann, "held", "COIN", time.Hour)
	d.list(bob, "bob's", "COIN", 0)
	d.accept(1000, d.node.Named("unknown")) // it is not switched on yet
	d.bind(bob, time.Time{})
	d.accept(1000, d.node.Named("unknown"))
	d.bind(ann, d.DB.Now().Add(3*time.Hour))
	d.accept(1000, d.node.Named("known"))
	d.accept(1000, d.node.Named("each currency"))
	for name, words := range map[string]string{"unknown": "not listed for COIN", "for tokens": "not listed for COIN",
		"bob's": "not listed for COIN",
		"held":  "from 2026-11-01T13:00:00Z on"} {
		_, err := d.ask(1000, d.node.Named(name))
		d.refused(name, err, bursar.CodeDestinationRefused, words)
	}
	d.clock.Advance(time.Hour - time.Microsecond)
	_, err := d.ask(1000, d.node.Named("held"))
	d.refused("a moment too early", err, bursar.CodeDestinationRefused, "13:00:00Z")
	d.clock.Advance(time.Microsecond)
	d.accept(1000, d.node.Named("held"))
	d.clock.Advance(2 * time.Hour)
	d.accept(1000, d.node.Named("unknown")) // it has gone off
}

// A time that is no whole second is rounded up in the error: at the time shown, the destination can be paid.
func TestTheEndOfAWaitingPeriodIsRoundedUp(t *testing.T) {
	d := newHarness(t)
	d.list(ann, "held", "COIN", time.Hour+time.Millisecond)
	d.bind(ann, time.Time{})
	_, err := d.ask(1000, d.node.Named("held"))
	d.refused("held", err, bursar.CodeDestinationRefused, "from 2026-11-01T13:00:01Z on")
}

// An approval is evaluated by the list as it is at that time.
func TestAnApprovalIsHeldToTheList(t *testing.T) {
	d := newHarness(t)
	unlisted, listed := d.accept(60_000_000, d.node.Named("unknown")), d.accept(60_000_000, d.node.Named("known"))
	d.list(ann, "known", "COIN", 0)
	d.bind(ann, time.Time{})
	_, err := d.orders.Approve(ctx, unlisted.ID)
	d.refused("not listed", err, bursar.CodeDestinationRefused, "not listed")
	if d.current(unlisted).Status != bursar.WithdrawalPendingApproval {
		t.Errorf("the withdrawal is %s, want %s", d.current(unlisted).Status, bursar.WithdrawalPendingApproval)
	}
	_, err = d.orders.Approve(ctx, listed.ID)
	d.Must(err)
}

// A frozen account gets the error about the freeze before any about its list, which a thief may want to learn.
func TestAFrozenAccountGetsTheErrorAboutItsFreeze(t *testing.T) {
	d := newHarness(t)
	d.bind(ann, time.Time{})
	d.freeze(ann)
	_, err := d.ask(1000, d.node.Named("unknown"))
	d.refused("frozen", err, bursar.CodeWithdrawalsFrozen, "")
}

// A list that takes effect between the first check and the commit counts: the withdrawal is evaluated at the commit.
func TestTheListIsEvaluatedWhereTheMoneyIsHeld(t *testing.T) {
	d := newHarness(t)
	d.change(func(c *withdrawal.Config) {
		c.Chains = map[bursar.ChainID]withdrawal.Chain{bursar.Bitcoin: asked{d.node, func() { d.bind(ann, time.Time{}) }}}
	})
	_, err := d.ask(1000, d.node.Named("unknown"))
	d.refused("not listed by then", err, bursar.CodeDestinationRefused, "not listed")
	d.holds(ann, 1_000_000_000, 0)
}

// No node is asked about an address that cannot be paid anyway.
func TestNoNodeIsAskedAboutWhatIsNotListed(t *testing.T) {
	d := newHarness(t)
	d.change(func(c *withdrawal.Config) {
		c.Chains = map[bursar.ChainID]withdrawal.Chain{bursar.Bitcoin: asked{d.node, func() { t.Error("a node is asked") }}}
	})
	d.bind(ann, time.Time{})
	_, err := d.ask(1000, d.node.Named("unknown"))
	d.refused("not listed", err, bursar.CodeDestinationRefused, "not listed")
	d.freeze(ann)
	_, err = d.ask(1000, d.node.Named("unknown"))
	d.refused("frozen", err, bursar.CodeWithdrawalsFrozen, "")
}
