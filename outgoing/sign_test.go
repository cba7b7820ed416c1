package outgoing_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// What surrounds a signature: the journal outside the database, halts that begin at any moment, and what is stored.

// recordingMarks is a journal that records its calls, and those of the signer.
type recordingMarks struct {
	outgoing.Signer
	lines  []string
	sign   error // of the journal
	signer error
	halt   func() // after the signature
}

func (d *recordingMarks) Sign(ctx context.Context, id bursar.ChainID, request chain.TxRequest,
	unsigned chain.UnsignedTx) (chain.SignedTx, error) {
	d.lines = append(d.lines, "signed")
	if d.signer != nil {
		return chain.SignedTx{}, d.signer
	}
	signed, err := d.Signer.Sign(ctx, id, request, unsigned)
	if d.halt != nil {
		d.halt()
	}
	return signed, err
}

// journalOf makes a recordingMarks the journal of a sender.
type journalOf struct{ *recordingMarks }

func (j journalOf) Sign(context.Context, store.Lease, bursar.ID) (unsigned func(), err error) {
	j.lines = append(j.lines, "noted")
	return j.drop, j.sign
}

func (j journalOf) drop() { j.lines = append(j.lines, "dropped") }

func (j journalOf) Busy() bool { return false }

func (j journalOf) NeverSigned(bursar.ChainID, bursar.ID) { j.drop() }

func (j journalOf) Signed(bursar.ChainID, bursar.ID) bool {
	return len(j.lines) > 0 && j.lines[len(j.lines)-1] == "signed"
}

func (journalOf) KeepUnsigned(context.Context, bursar.ChainID) error { return nil }

func (journalOf) Used(context.Context, *store.Tx, bursar.OutgoingTx, []string) ([]chain.UnsignedTx, error) {
	return nil, nil
}

func (j journalOf) PaidBy(context.Context, *store.Tx, bursar.OutgoingTx, []bursar.ID) (bursar.ID, error) {
	return bursar.ID{}, nil
}

// The journal records a transaction before the signer sees it, and forgets it only if it is certain that nobody has its
// bytes.
func TestTheJournalKeepsTransactionsThatMayBeSigned(t *testing.T) {
	for name, c := range map[string]struct {
		set    func(r *harness, d *recordingMarks)
		lines  string
		status bursar.OutgoingStatus
		reads  string
	}{
		"it is signed": {func(*harness, *recordingMarks) {}, "noted signed", bursar.OutgoingSent, ""},
		"the journal cannot note it": {func(_ *harness, d *recordingMarks) { d.sign = errors.New("the disk is full") },
			"noted", bursar.OutgoingReserved, "count the signature: the disk is full"},
		"the signer is unavailable": {func(_ *harness, d *recordingMarks) { d.signer = errAway },
			"noted signed dropped", bursar.OutgoingReserved, "sign: the signer does not answer"},
		"the signer refuses": {func(_ *harness, d *recordingMarks) {
			d.signer = &signer.RefusalError{Reason: signer.ReasonFee, Detail: "too much"}
		}, "noted signed dropped", bursar.OutgoingNew, "fee: too much"},
		"a halt begins meanwhile": {func(r *harness, d *recordingMarks) { d.halt = func() { r.Halt(byAnn(store.HaltAll)) } },
			"noted signed dropped", bursar.OutgoingReserved, "halted by ann"},
		"the commit fails": {func(r *harness, d *recordingMarks) {
			d.halt = func() {
				r.Sender.DB = r.DB.As(r.DB.Now, store.Hooks{Before: func(_ context.Context, at store.Point, _ string) error {
					if at == store.Committing {
						return errors.New("the connection broke")
					}
					return nil
				}})
			}
		}, "noted signed", bursar.OutgoingReserved, ""},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, r *harness) {
				r.Prepare()
				r.Settle()
				w := r.Order(300_000_000, r.Chain.Named("outside"))
				d := &recordingMarks{Signer: r.Sender.Signer}
				r.Sender.Signer, r.Sender.Marks = d, journalOf{d}
				c.set(r, d)
				_ = r.Sender.Step(ctx, r.Lease)
				r.Sender.DB = r.DB
				p := r.spendNow(r.Now(w).OutgoingID)
				if got := strings.Join(d.lines, " "); got != c.lines {
					t.Errorf("the journal and the signer read %q, want %q", got, c.lines)
				}
				if p.Status != c.status || !strings.Contains(p.Error, c.reads) ||
					p.Status == bursar.OutgoingSent && p.TxID != r.Now(w).TxID {
					t.Errorf("it is %s by %q: %s", p.Status, p.TxID, p.Error)
				}
			})
		})
	}
}

// A halt may begin at any moment of a step. From then on the signer is not asked, except for a request that is already
// in progress, whose signature is discarded.
func TestAHaltMayBeginAtAnyMoment(t *testing.T) {
	for name, config := range map[string]sim.Config{"coins": bursartest.UTXOModel, "nonce": bursartest.Numbered} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var was bursar.OutgoingStatus
			var w bursar.Withdrawal
			halted, signed, seen := false, false, map[string]int{}
			atEachMoment(t, config, func(r *harness) func() {
				r.Prepare()
				r.Settle()
				w, was, halted, signed = r.Order(300_000_000, r.Chain.Named("outside")), "", false, false
				r.Sender.Signer = watched{r.Sender.Signer, func(chain.UnsignedTx) { signed = signed || halted }}
				return func() {
					if open := r.Open(); len(open) > 0 {
						was = open[0].Status
					}
					halted = true
					r.Halt(byAnn(store.HaltAll))
				}
			}, func(r *harness) {
				unsigned := was == bursar.OutgoingNew || was == bursar.OutgoingReserved
				if open := r.Open(); halted && unsigned && open[0].Status != was {
					t.Errorf("a halt began when it was %s, and then it is %s", was, open[0].Status)
				}
				if seen[fmt.Sprint(was, " signed ", signed)]++; halted {
					r.Resume(byAnn(store.HaltAll))
				}
				r.Settle()
				if got := r.Now(w).Status; got != bursar.WithdrawalConfirmed {
					t.Errorf("after the halt the withdrawal is %s, want %s", got, bursar.WithdrawalConfirmed)
				}
			})
			if seen["new signed false"] == 0 || seen["new signed true"] > 0 || seen["claimed signed false"] == 0 ||
				seen["claimed signed true"] > 1 {
				t.Errorf("halts began when it was %v, want not 0 and at most 0 and at most 1", seen)
			}
		})
	}
}

// unconfirmed returns our change that is in no block and that another transaction may be built on.
func (r *harness) unconfirmed() (resources []string) {
	r.T.Helper()
	r.View(func(tx *store.Tx) error {
		_, latest := r.Chain.Heights()
		utxos, err := tx.UTXOs().Spendable(ctx, r.Chain.Capabilities().ID, 0, uint64(latest), bursar.ID{9}, 100)
		for _, c := range utxos {
			if c.Height == 0 {
				resources = append(resources, c.Outpoint)
			}
		}
		return err
	})
	return resources
}

// The change of a version that was replaced is gone: nothing is built on it.
func TestTheChangeOfAReplacedVersionIsGone(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		r.Prepare()
		r.Settle()
		w := r.Order(300_000_000, r.Chain.Named("outside"))
		r.Must(r.Sender.Step(ctx, r.Lease))
		first, change := r.spendNow(r.Now(w).OutgoingID), r.unconfirmed()
		if len(change) != 1 || !strings.HasPrefix(change[0], first.TxID) {
			t.Fatalf("the change of %s is %q", first.TxID, change)
		}
		r.Chain.SetRate(100)
		p := first
		for i := 0; i < 10 && p.TxID == first.TxID; i++ {
			r.Blocks(1)
			p = r.spendNow(first.ID)
		}
		if p.Versions != 2 || p.SentAt <= first.SentAt || bytes.Equal(p.Unsigned, first.Unsigned) {
			t.Errorf("it is of %d versions, sent at %d, first at %d, its draft %s", p.Versions, p.SentAt, first.SentAt,
				p.Unsigned)
		}
		r.View(func(tx *store.Tx) error {
			there, err := tx.UTXOs().StillSpendable(ctx, p.Chain, change)
			if there {
				t.Error("the change of the first version can still be used")
			}
			return err
		})
		r.Settle()
		r.Must(r.Audit())
	})
}

// A signer whose hourly limit is reached is asked again with half as many payments; a single payment above the limit
// waits and raises an alarm, and so does any other refusal.
func TestARefusalOfTheSigner(t *testing.T) {
	for name, c := range map[string]struct {
		reason signer.Reason
		orders int
		alarms []string
		next   int // payments of the next transaction
	}{
		"too much for the hour, together": {signer.ReasonQuota, 4, nil, 2},
		"too much for the hour, two":      {signer.ReasonQuota, 2, nil, 1},
		"too much for the hour, alone":    {signer.ReasonQuota, 1, []string{"signer_refused"}, 1},
		"too high a fee, together":        {signer.ReasonFee, 4, []string{"signer_refused"}, 4},
		"halted, together":                {signer.ReasonHalted, 4, nil, 4},
	} {
		t.Run(name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, db *store.DB) {
				r := newHarness(t, db, bursartest.UTXOModel)
				r.Prepare()
				r.Settle()
				for i := range c.orders {
					r.Order(1_000_000, r.Chain.Named(fmt.Sprint("receiver ", i)))
				}
				real := r.Sender.Signer
				r.Sender.Signer = &recordingMarks{signer: &signer.RefusalError{Reason: c.reason, Detail: "of a test"}}
				r.Must(r.Sender.Step(ctx, r.Lease))
				r.WantAlarms(c.alarms...)
				if c.next == c.orders {
					r.wantUnreserved(string(c.reason) + ": of a test")
				}
				var signed []int
				r.Sender.Signer = watched{real, func(unsigned chain.UnsignedTx) {
					contents, err := r.Chain.Inspect(unsigned.Bytes)
					r.Must(err)
					signed = append(signed, len(contents.Payments)-1) // in addition to the change
				}}
				r.Must(r.Sender.Step(ctx, r.Lease))
				if !slices.Equal(signed, []int{c.next}) {
					t.Errorf("then transactions of %v payments are signed, want %d", signed, c.next)
				}
				r.Settle()
				r.WantAlarms()
				r.Must(r.Audit())
			})
		})
	}
}
