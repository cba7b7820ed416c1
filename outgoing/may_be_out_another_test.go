package outgoing_test

import (
	"fmt"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/recovery"
)

// What may be out has expired, and an external spend, which the operator took for a loss, made the same payment: it is
// not made again before the operator has said that it was another one.
func TestWhatMayBeOutIsHeldForWhatMayHavePaidIt(t *testing.T) {
	losing(t, bursartest.Models["expiring"], func(t *testing.T, l *lost, c *bursartest.Clock) {
		l.Pay(bursar.Address{Base: l.Hot.Base}, 900_000_000)
		l.Blocks(6)
		hash := l.paysToo()
		l.Blocks(6)
		taken, err := l.SettleExternal()
		if l.Must(err); len(taken) != 1 {
			t.Fatalf("%d external spends were settled, want 1", len(taken))
		}
		l.days(c, 6)
		if p := l.spendNow(l.id); p.Status != bursar.OutgoingReserved || !l.alarmed(recovery.AlarmUnclear) {
			t.Fatalf("it is %s, want %s; the alarms are %v", p.Status, bursar.OutgoingReserved, l.Alarms())
		}
		l.noted(l.id, hash, fmt.Sprintf("`bursar recovery deny %s %s ", l.w.ID, hash))
		l.Must(l.deny(l.w.ID, hash))
		l.days(c, 6)
		if got := l.Now(l.w); got.Status != bursar.WithdrawalConfirmed || got.TxID == hash {
			t.Errorf("the withdrawal is %s by %s, want %s by another one", got.Status, got.TxID, bursar.WithdrawalConfirmed)
		}
		if got := l.Chain.Balance(l.outside, ""); got != bursar.Units(600_000_000) {
			t.Errorf("its receiver holds %s, want 600000000", got)
		}
		l.Must(l.Audit())
	})
}

// An external spend that halted the chain, and whose block was replaced, cannot be settled: an alarm says how the
// operator answers.
func TestWhatMayBeOutIsHeldForWhatIsInNoBlock(t *testing.T) {
	losing(t, bursartest.Models["expiring"], func(t *testing.T, l *lost, c *bursartest.Clock) {
		l.Pay(bursar.Address{Base: l.Hot.Base}, 900_000_000)
		l.Blocks(6)
		hash := l.paysToo()
		l.Blocks(1)
		l.Undo(hash, hash)
		l.Blocks(6)
		if taken, err := l.SettleExternal(); err != nil || len(taken) > 0 {
			t.Fatalf("%d external spends were settled: %v, want none", len(taken), err)
		}
		l.days(c, 6)
		l.noted(l.id, hash, fmt.Sprintf("`bursar recovery deny %s %s ", l.w.ID, hash))
		if !l.alarmed(recovery.AlarmUnclear) {
			t.Errorf("the alarms are %v, want %s too", l.Alarms(), recovery.AlarmUnclear)
		}
		l.Must(l.deny(l.w.ID, hash))
		l.days(c, 6)
		l.wantOnce(t)
	})
}

// paysToo has somebody pay what is lost, and a thief.
func (l *lost) paysToo() (hash string) {
	return l.Chain.ExternalSpend(l.Hot.Base,
		chain.Payment{Address: bursar.Address{Base: l.outside}, Amount: bursar.Units(300_000_000)},
		chain.Payment{Address: bursar.Address{Base: l.Chain.Named("thief")}, Amount: bursar.Units(1)})
}
