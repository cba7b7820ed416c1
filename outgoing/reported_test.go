package outgoing_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// refusals have a database refuse some of the statements of a step.
type refusals struct {
	refuse func(query string) error
	given  map[error]string // the queries that were refused
	after  []string         // what was asked of the database, a node or the signer after the first of them
}

func (f *refusals) before(_ context.Context, at store.Point, query string) error {
	if at != store.Running {
		return nil
	}
	err := f.refuse(query)
	if err == nil {
		f.called(query)
	} else {
		f.given[err] = query
	}
	return err
}

// called notes what is asked of anybody.
func (f *refusals) called(what string) {
	if len(f.given) > 0 {
		f.after = append(f.after, what)
	}
}

// busySteps has the spender take n steps in which there is something of every kind to do – to draft, to send again, to
// bump and to settle – and statements are refused. judge looks at each; in the end everything is paid once.
func (r *harness) busySteps(
	n int, refuse func(round int) func(query string) error, judge func(f *refusals, err error),
) {
	r.t.Helper()
	r.fund()
	r.settle()
	wallets := []bursar.Wallet{r.wallet(1), r.wallet(1), r.wallet(1), r.wallet(1)}
	r.trouble = true // what fails in one step goes on in the next
	for round := range n {
		r.order(1_000_000, r.chain.Named(fmt.Sprint("receiver ", round)))
		r.pay(wallets[round%len(wallets)].Address, 3_000_000)
		r.chain.SetRate([]uint64{10, 10, 25, 60}[round%4])
		r.chain.Mine(1)
		r.catchUp()
		r.check(r.sweeper.Step(ctx, r.lease))
		f := &refusals{refuse: refuse(round), given: map[error]string{}}
		r.sender.DB = r.db.As(r.db.Now, store.Conduct{Before: f.before})
		r.sender.Chain = resolvedBeside{r.chain, func() { f.called("a node is asked") }}
		r.sender.Signer = watched{r.signer, func(chain.UnsignedTx) { f.called("the signer is asked") }}
		err := r.sender.Step(ctx, r.lease)
		judge(f, err)
	}
	r.chain.SetRate(10)
	r.restart()
	r.settle()
	r.must(r.audit())
}

// Whichever statements of a step a database refuses, the operator hears of each: by the step's error, or beside the
// outgoing transaction that it was about.
func TestWhateverADatabaseRefusesIsReported(t *testing.T) {
	const apart = 16 // a statement that notes the trouble of another is not refused with it
	number := 0
	both(t, func(t *testing.T, r *harness) {
		r.busySteps(2*apart, func(round int) func(string) error {
			at, kept := round%apart, map[string]error{}
			return func(query string) error {
				at++
				if kept[query] == nil && at%apart == 0 {
					number++
					err := fmt.Errorf("statement %d is refused", number)
					if !strings.Contains(query, "s.id <> $3") {
						return err
					}
					kept[query] = err // whether a sweep is worth its fee is asked once more by what sends it
				}
				return kept[query]
			}
		}, func(f *refusals, err error) {
			reported := fmt.Sprint(err, r.errors())
			for refused, query := range f.given {
				if !strings.Contains(reported, refused.Error()) {
					t.Errorf("nobody hears that the database refused %s", query)
				}
			}
		})
	})
}

// Wherever in a step the lead turns out to be lost, that is the step's error, and from then on nothing is asked of the
// database, a node or the signer: all of it is another process's by now.
func TestALeaseThatIsLostAnywhereEndsTheStep(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		lost := 0
		r.busySteps(30, func(round int) func(string) error {
			at := 0
			return func(query string) error {
				if !strings.Contains(query, "holder = $2 AND token = $3") {
					return nil
				}
				if at++; at != round%10+1 {
					return nil
				}
				return fmt.Errorf("%w in round %d", store.ErrLeaseLost, round)
			}
		}, func(f *refusals, err error) {
			if len(f.given) == 0 {
				return
			}
			lost++
			if !errors.Is(err, store.ErrLeaseLost) || len(f.after) > 0 {
				t.Errorf("the step ends with %v, after %q", err, f.after)
			}
			if noted := r.errors(); strings.Contains(noted, store.ErrLeaseLost.Error()) {
				t.Errorf("at an outgoing transaction it says %q", noted)
			}
		})
		if lost < 12 {
			t.Errorf("the lead was lost in %d steps only", lost)
		}
	})
}
