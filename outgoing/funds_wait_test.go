package outgoing_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/store"
)

// unwilling is a chain that builds no transaction with more than a number of payments, for a given reason; without a
// reason it builds all.
type unwilling struct {
	*sim.Chain
	because   error
	above     int
	meanwhile func()
}

func (c *unwilling) Build(ctx context.Context, request chain.TxRequest) (chain.UnsignedTx, error) {
	if c.meanwhile != nil {
		c.meanwhile()
	}
	if c.because != nil && len(request.Payments) > c.above {
		return chain.UnsignedTx{}, c.because
	}
	return c.Chain.Build(ctx, request)
}

// written counts the database transactions of one step of the sender that take the chain lock or write.
func (r *harness) written() (n int) {
	r.T.Helper()
	db := r.Sender.DB
	writes := false
	r.Sender.DB = db.As(db.Now, store.Hooks{Before: func(_ context.Context, at store.Point, what string) error {
		if at == store.Beginning {
			writes = false
		}
		reads := strings.HasPrefix(strings.TrimSpace(what), "SELECT") && !strings.Contains(what, "holder = $2")
		if at == store.Running && !reads && !writes {
			writes = true
			n++
		}
		return nil
	}})
	_ = r.Sender.Step(ctx, r.Lease)
	r.Sender.DB = db
	return n
}

// What a payment waits for is recorded whenever any of it changes, with the cause, and not again while nothing changes.
// An alarm is raised only about what an operator can do something about, once, and is closed when that is over.
func TestTheReasonWhyAPaymentWaitsIsRecorded(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.WithTokens().Prepare()
		r.Settle()
		node := &unwilling{Chain: r.Chain}
		r.Sender.Chain = node
		token, err := r.Registry.Get("TOKEN")
		r.Must(err)
		r.Order(1_000_000, r.Chain.Named("outside"))
		lacks := func(contract string, missing uint64) error {
			return &chain.NeedsFundsError{Contract: contract, Missing: bursar.Units(missing)}
		}
		lacked := bursar.CurrencyCode("")
		for _, one := range []struct {
			because         error
			wait            bursar.OutgoingWait
			lacks           bursar.CurrencyCode
			missing, needed uint64
			alarm, says     string
			noted           string // in whole units
		}{
			{lacks("", 30), bursar.WaitsForFunds, "COIN", 30, 1_000_000, "funds_low", "lacks 0.00000030 COIN for 1 payment on",
				"0.00000030 COIN more are needed"},
			{lacks("", 40), bursar.WaitsForFunds, "COIN", 40, 1_000_000, "funds_low", "lacks 0.00000040 COIN for 1 payment on",
				"0.00000040 COIN more are needed"},
			{lacks("", 2_000_000), bursar.WaitsForFunds, "COIN", 2_000_000, 2_000_000, "funds_low",
				"lacks 0.02000000 COIN for 1 payment on",
				"0.02000000 COIN more are needed"},
			{lacks(token.Contract, 2_000_000), bursar.WaitsForFunds, "TOKEN", 2_000_000, 2_000_000, "funds_low",
				"lacks 20000.00 TOKEN for 1 payment on",
				"20000.00 TOKEN more are needed"},
			{lacks(token.Contract, 50), bursar.WaitsForFunds, "TOKEN", 50, 50, "funds_low", "lacks 0.50 TOKEN for 1 payment on",
				"0.50 TOKEN more are needed"},
			{lacks("", 50), bursar.WaitsForFunds, "COIN", 50, 1_000_000, "funds_low", "lacks 0.00000050 COIN for 1 payment on",
				"0.00000050 COIN more are needed"},
			{lacks("unknown", 50), bursar.WaitsForFunds, "COIN", 50, 50, "funds_low", "lacks 0.00000050 COIN for 1 payment on",
				"50 units of the contract unknown more are needed"},
			{&chain.FeeLimitError{Fee: bursar.Units(9), Limit: bursar.Units(8)}, bursar.WaitsForFee, "", 0, 0,
				"fee_above_limit", "1 payment of COIN on",
				"a fee of 0.00000009 COIN is needed, at most 0.00000008 COIN are allowed"},
			{&chain.TooManyInputsError{Limit: 3}, bursar.WaitsForInputs, "", 0, 0, "too_many_inputs", "1 payment of COIN on",
				(&chain.TooManyInputsError{Limit: 3}).Error()},
			{errors.New("no answer"), "", "", 0, 0, "", "", "no answer"},
		} {
			node.because = one.because
			before, _ := r.alarmOf(one.alarm)
			r.Step()
			p := r.Open()[0]
			if p.WaitsFor != one.wait || p.Lacks != one.lacks || p.Missing != bursar.Units(one.missing) ||
				p.Needed != bursar.Units(one.needed) {
				t.Errorf("%v: it waits for %q, lacks %q, %s of %s, want %v and %v and %v and %v", one.because, p.WaitsFor, p.Lacks,
					p.Missing, p.Needed, one.wait, one.lacks, bursar.Units(one.missing), bursar.Units(one.needed))
			}
			if !strings.Contains(p.Error, one.noted) {
				t.Errorf("%v: the error is %q, want one with %q", one.because, p.Error, one.noted)
			}
			after, message := r.alarmOf(one.alarm)
			if one.alarm == "" {
				r.WantAlarms()
			} else if r.WantAlarms(one.alarm); !strings.Contains(message, one.says) {
				t.Errorf("%v: the alarm is %q, want one with %q", one.because, message, one.says)
			}
			if stays := !before.IsZero() && one.lacks == lacked; stays && before != after {
				t.Errorf("%v: the alarm of %s is said to be of %s", one.because, before, after)
			}
			lacked = one.lacks
			if n := r.written(); n != 0 {
				t.Errorf("%v: %d transactions were written while nothing changed, want 0", one.because, n)
			}
		}
	})
}

// alarmOf returns the text of the one open alarm of a kind, and since when it is open.
func (r *harness) alarmOf(kind string) (since time.Time, message string) {
	r.T.Helper()
	r.View(func(tx *store.Tx) error {
		open, err := tx.Alarms().OfKind(ctx, kind)
		for _, a := range open {
			since, message = a.At, message+a.Message
		}
		return err
	})
	return since, message
}

// A process that loses the lease while it asks a node raises and closes no alarm.
func TestALostLeaseRaisesNoAlarm(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.Prepare()
		r.Settle()
		node := &unwilling{Chain: r.Chain, because: &chain.NeedsFundsError{Missing: bursar.Units(30)}}
		r.Sender.Chain = node
		r.Order(1_000_000, r.Chain.Named("outside"))
		r.Step()
		r.Step()
		r.Do(func(tx *store.Tx) error {
			return tx.Alarms().Resolve(ctx, "funds_low", string(r.Chain.Capabilities().ID)+":COIN")
		})
		node.meanwhile = r.overthrow
		if err := r.Sender.Step(ctx, r.Lease); !errors.Is(err, store.ErrLeaseLost) {
			t.Errorf("the step returned %v, want %v", err, store.ErrLeaseLost)
		}
		r.WantAlarms()
	})
}

// If payments lack two currencies, each has its alarm at the same time. A reason that no operator can do anything about
// has no alarm, nor has a currency that is not configured any more.
func TestOnlyShortagesThatAnOperatorCanEndRaiseAnAlarm(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.WithTokens().Prepare()
		r.Give("TOKEN", r.WalletOf(0, "TOKEN").Address, 5_000)
		r.Settle()
		r.Sender.Chain = &unwilling{Chain: r.Chain, because: &chain.NeedsFundsError{Missing: bursar.Units(30)}}
		r.Order(1_000_000, r.Chain.Named("outside"))
		r.Step()
		r.WantAlarms("funds_low")
		for _, other := range []bursar.OutgoingTx{
			{WaitsFor: bursar.WaitsForGas, Lacks: "COIN"}, {WaitsFor: bursar.WaitsForFunds, Lacks: "GONE",
				Missing: bursar.Units(30), Needed: bursar.Units(30)},
		} {
			r.Halt(byAnn(store.HaltAll)) // so that no step records again what it waits for
			r.Do(func(tx *store.Tx) error {
				p := r.Open()[0]
				p.WaitsFor, p.Lacks, p.Missing, p.Needed = other.WaitsFor, other.Lacks, other.Missing, other.Needed
				return tx.Outgoing().SetWait(ctx, p)
			})
			r.Step()
			r.WantAlarms()
			r.Resume(byAnn(store.HaltAll))
		}
		r.Sender.Chain = &unwilling{Chain: r.Chain, because: &chain.FeeLimitError{Fee: bursar.Units(9),
			Limit: bursar.Units(8)}}
		r.OrderOf(0, "TOKEN", 1_000, r.Chain.Named("outside"))
		r.Step()
		r.WantAlarms("fee_above_limit", "fee_above_limit")
	})
}

// A batch that is too big for the funds, for the fee limit or for the available UTXOs is paid in parts. Nothing waits.
func TestABatchThatIsTooBigIsPaidInParts(t *testing.T) {
	for _, because := range []error{
		&chain.NeedsFundsError{Missing: bursar.Units(1_000)},
		&chain.FeeLimitError{Fee: bursar.Units(9), Limit: bursar.Units(8)},
		&chain.TooManyInputsError{Limit: 3},
	} {
		each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
			r.Prepare()
			r.Settle()
			r.Sender.Chain = &unwilling{Chain: r.Chain, because: because, above: 2}
			var list []bursar.Withdrawal
			for range 4 {
				list = append(list, r.Order(1_000_000, r.Chain.Named("outside")))
			}
			for range 4 {
				r.Step()
				r.WantAlarms()
			}
			paid := map[string]bool{}
			for _, w := range list {
				paid[r.Now(w).TxID] = true
			}
			if len(paid) != 2 || paid[""] {
				t.Errorf("%v: they are paid by %d transactions: %v", because, len(paid), r.statuses(list...))
			}
		})
	}
}
