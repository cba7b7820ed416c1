package outgoing_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
)

// forgetful is a signer whose memory began again after it had signed one transaction, and the journal, which has it.
type forgetful struct {
	outgoing.Signer
	forgot bursar.ID
	signed map[bursar.ID]bool
	after  func(chain.SignedTx)
}

func (f *forgetful) Sign(
	ctx context.Context, id bursar.ChainID, request chain.TxRequest, unsigned chain.UnsignedTx,
) (chain.SignedTx, error) {
	if request.ID == f.forgot {
		return chain.SignedTx{}, &signer.RefusalError{Chain: id, OutgoingID: request.ID, Reason: signer.ReasonSweepOld}
	}
	signed, err := f.Signer.Sign(ctx, id, request, unsigned)
	if err == nil && f.after != nil {
		f.after(signed)
	}
	return signed, err
}

// noted is the journal of a forgetful signer.
type noted struct{ *forgetful }

func (n noted) Sign(_ context.Context, _ store.Lease, id bursar.ID) (unsigned func(), err error) {
	n.signed[id] = true
	return func() { delete(n.signed, id) }, nil
}

func (n noted) Signed(_ bursar.ChainID, id bursar.ID) bool { return n.signed[id] }

func (n noted) NeverSigned(_ bursar.ChainID, id bursar.ID) { delete(n.signed, id) }

func (noted) Busy() bool { return false }

func (noted) KeepUnsigned(context.Context, bursar.ChainID) error { return nil }

func (noted) Used(context.Context, *store.Tx, bursar.OutgoingTx, []string) ([]chain.UnsignedTx, error) {
	return nil, nil
}

func (n noted) PaidBy(context.Context, *store.Tx, bursar.OutgoingTx, []bursar.ID) (bursar.ID, error) {
	return bursar.ID{}, nil
}

// lost is a withdrawal whose transaction was signed before an epoch began, in a commit that was lost, by a signer that
// does not remember it.
type lost struct {
	*harness
	signer  *forgetful
	w       bursar.Withdrawal
	id      bursar.ID
	raw     chain.SignedTx
	outside string
	before  bursar.Amount
}

// losing runs a test on a chain of one kind with a lost withdrawal.
func losing(t *testing.T, model sim.Config, test func(t *testing.T, l *lost, c *bursartest.Clock)) {
	byClock(t, model, func(t *testing.T, r *harness, c *bursartest.Clock) {
		l := &lost{harness: r, outside: r.Chain.Named("outside")}
		l.before = r.Prepare()
		r.Settle()
		l.w = r.Order(300_000_000, l.outside)
		broke := errors.New("the connection broke")
		l.signer = &forgetful{Signer: r.Sender.Signer, signed: map[bursar.ID]bool{}, after: func(tx chain.SignedTx) {
			l.raw = tx
			r.Sender.DB = r.DB.As(r.DB.Now, store.Hooks{Before: func(_ context.Context, at store.Point, _ string) error {
				if at == store.Committing {
					return broke
				}
				return nil
			}})
		}}
		r.Sender.Signer, r.Sender.Marks = l.signer, noted{l.signer}
		if err := r.Sender.Step(ctx, r.Lease); !errors.Is(err, broke) {
			t.Fatalf("the step ends with %v, want %v", err, broke)
		}
		l.id = r.Now(l.w).OutgoingID
		r.Rotate()
		l.signer.Signer, l.signer.after, l.signer.forgot = r.Sender.Signer, nil, l.id
		r.Sender.Signer, r.Sender.Marks = l.signer, noted{l.signer}
		r.Trouble = true // it cannot be signed again
		test(t, l, c)
	})
}

// days lets blocks and hours pass.
func (l *lost) days(c *bursartest.Clock, n int) {
	for range n {
		c.Advance(12 * time.Hour)
		l.Blocks(6)
	}
}

func (l *lost) wantOnce(t *testing.T) {
	t.Helper()
	if got := l.Now(l.w); got.Status != bursar.WithdrawalConfirmed {
		t.Errorf("in the end the withdrawal is %s, want %s", got.Status, bursar.WithdrawalConfirmed)
		l.LogOpen(10)
	}
	if got := l.Chain.Balance(l.outside, ""); got != bursar.Units(300_000_000) {
		t.Errorf("its receiver holds %s, want 300000000", got)
	}
	if l.alarmed("may_be_out") || l.alarmed("signer_refused") {
		t.Errorf("open are the alarms %v, want none about it", l.Alarms())
	}
	l.Must(l.Chain.Check())
	l.Must(l.Audit())
}

var neverExpiring = map[string]sim.Config{"UTXO": bursartest.Models["UTXO"], "nonce": bursartest.Models["nonce"]}

// What may be out is not signed again and in no block: an alarm says so after an hour, and an operator has it made
// void. Then it is paid from the present hot wallet, once.
func TestWhatMayBeOutIsMadeVoid(t *testing.T) {
	for name, model := range neverExpiring {
		t.Run(name, func(t *testing.T) {
			losing(t, model, func(t *testing.T, l *lost, c *bursartest.Clock) {
				l.Blocks(6)
				if _, err := l.Sender.Abandon(ctx, l.id, outgoing.Abandonment{}); !errors.Is(err, outgoing.ErrNotOpen) {
					t.Errorf("before the alarm it is made void with %v, want %v", err, outgoing.ErrNotOpen)
				}
				if l.alarmed("may_be_out") {
					t.Error("the alarm is open at once, want it after an hour")
				}
				l.days(c, 4)
				if p := l.spendNow(l.id); p.Status != bursar.OutgoingReserved || !l.alarmed("may_be_out") {
					t.Fatalf("it is %s and open are the alarms %v, want %s and may_be_out", p.Status, l.Alarms(),
						bursar.OutgoingReserved)
				}
				_, err := l.Sender.Abandon(ctx, l.id, outgoing.Abandonment{Reason: "in no block", Actor: "ann"})
				l.Must(err)
				l.days(c, 6)
				if p := l.spendNow(l.id); p.Status != bursar.OutgoingAbandoned {
					t.Errorf("it is %s, want %s", p.Status, bursar.OutgoingAbandoned)
				}
				l.wantOnce(t)
			})
		})
	}
}

// It was out after all: it counts, and what was to make it void ends.
func TestWhatMayBeOutCountsWhileItIsMadeVoid(t *testing.T) {
	for name, model := range neverExpiring {
		t.Run(name, func(t *testing.T) {
			for moment, steps := range map[string]int{"before the other is built": 0, "after the other is signed": 2} {
				t.Run(moment, func(t *testing.T) {
					losing(t, model, func(t *testing.T, l *lost, c *bursartest.Clock) {
						l.days(c, 2)
						_, err := l.Sender.Abandon(ctx, l.id, outgoing.Abandonment{Reason: "in no block", Actor: "ann"})
						l.Must(err)
						l.Chain.FailBroadcasts(sim.LostUnknown, 1000)
						for range steps {
							l.Step()
						}
						l.Chain.ClearFaults()
						l.Chain.Forget()
						l.Must(l.Chain.Broadcast(ctx, l.raw))
						l.Chain.Mine(1)
						l.days(c, 6)
						l.wantOnce(t)
					})
				})
			}
		})
	}
}

// A transaction that expires needs no operator: once the final chain is past its lifetime it is paid again.
func TestWhatMayBeOutExpires(t *testing.T) {
	losing(t, bursartest.Models["expiring"], func(t *testing.T, l *lost, c *bursartest.Clock) {
		l.Step()
		if p := l.spendNow(l.id); p.Status != bursar.OutgoingReserved {
			t.Errorf("within its lifetime it is %s, want %s", p.Status, bursar.OutgoingReserved)
		}
		l.days(c, 6)
		l.wantOnce(t)
	})
}

// Somebody who has the old seed uses what it would use: it is over, and paid once an operator has settled that.
func TestWhatMayBeOutIsBeatenByAnExternalSpend(t *testing.T) {
	losing(t, bursartest.Models["nonce"], func(t *testing.T, l *lost, c *bursartest.Clock) {
		l.days(c, 2)
		l.Chain.ExternalSpend(l.Old[0].Base, chain.Payment{Address: bursar.Address{Base: l.Chain.Named("thief")},
			Amount: bursar.Units(5_000_000)})
		l.days(c, 2)
		_, err := l.SettleExternal()
		l.Must(err)
		l.days(c, 6)
		l.wantOnce(t)
	})
}

// Somebody who has the old seed uses it while it is made void: both are over once an operator has settled that.
func TestWhatIsMadeVoidIsBeatenByAnExternalSpend(t *testing.T) {
	for moment, steps := range map[string]int{"before the other is built": 0, "after the other is signed": 2} {
		t.Run(moment, func(t *testing.T) {
			losing(t, bursartest.Models["nonce"], func(t *testing.T, l *lost, c *bursartest.Clock) {
				l.days(c, 2)
				by, err := l.Sender.Abandon(ctx, l.id, outgoing.Abandonment{Reason: "in no block", Actor: "ann"})
				l.Must(err)
				l.Chain.FailBroadcasts(sim.LostUnknown, 1000)
				for range steps {
					l.Step()
				}
				l.Chain.ClearFaults()
				l.Chain.Forget()
				l.Chain.ExternalSpend(l.Old[0].Base, chain.Payment{Address: bursar.Address{Base: l.Chain.Named("thief")},
					Amount: bursar.Units(5_000_000)})
				l.days(c, 2)
				_, err = l.SettleExternal()
				l.Must(err)
				l.days(c, 8)
				for _, id := range []bursar.ID{l.id, by} {
					if p := l.spendNow(id); p.Status != bursar.OutgoingAbandoned {
						t.Errorf("outgoing transaction %s is %s, want %s", id, p.Status, bursar.OutgoingAbandoned)
					}
				}
				l.wantOnce(t)
			})
		})
	}
}

// Another account is owed the same to the same address: what was out is known by its nonce, and each is paid once.
func TestWhatMayBeOutPaysItsOwnWithdrawal(t *testing.T) {
	losing(t, bursartest.Models["nonce"], func(t *testing.T, l *lost, c *bursartest.Clock) {
		l.Pay(l.Wallet(1).Address, 900_000_000)
		l.days(c, 2)
		other, err := l.Withdraw(1, 300_000_000, l.outside)
		l.Must(err)
		l.Halt(byAnn(store.HaltAll))
		l.Must(l.Chain.Broadcast(ctx, l.raw))
		l.days(c, 2)
		if got := l.Now(l.w).Status; got != bursar.WithdrawalConfirmed || l.Now(other).Status == got {
			t.Errorf("it is %s and the other %s, want it alone %s", got, l.Now(other).Status, bursar.WithdrawalConfirmed)
		}
		l.Resume(byAnn(store.HaltAll))
		l.days(c, 4)
		if got := l.Chain.Balance(l.outside, ""); got != bursar.Units(600_000_000) {
			t.Errorf("the receiver of both holds %s, want 600000000", got)
		}
		l.Must(l.Audit())
	})
}

// The same while it is being made void: what was out is still known by what it used, which was moved to another one.
// Otherwise an operator is asked about a payment of somebody else, and the withdrawal is paid twice.
func TestWhatIsMadeVoidPaysItsOwnWithdrawal(t *testing.T) {
	for name, model := range neverExpiring {
		t.Run(name, func(t *testing.T) {
			losing(t, model, func(t *testing.T, l *lost, c *bursartest.Clock) {
				l.Pay(l.Wallet(1).Address, 900_000_000)
				l.days(c, 2)
				_, err := l.Sender.Abandon(ctx, l.id, outgoing.Abandonment{Reason: "in no block", Actor: "ann"})
				l.Must(err)
				other, err := l.Withdraw(1, 300_000_000, l.outside)
				l.Must(err)
				l.Halt(byAnn(store.HaltAll))
				l.Must(l.Chain.Broadcast(ctx, l.raw))
				l.days(c, 2)
				if got := l.Now(l.w).Status; got != bursar.WithdrawalConfirmed || l.Now(other).Status == got {
					t.Errorf("it is %s and the other %s, want it alone %s", got, l.Now(other).Status, bursar.WithdrawalConfirmed)
				}
				l.Resume(byAnn(store.HaltAll))
				l.days(c, 4)
				if got := l.Chain.Balance(l.outside, ""); got != bursar.Units(600_000_000) {
					t.Errorf("the receiver of both holds %s, want 600000000", got)
				}
				l.Must(l.Audit())
			})
		})
	}
}
