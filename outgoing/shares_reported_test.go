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

// refusals makes a database refuse some of the statements of a step.
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

// called records that the database, a node or the signer was asked.
func (f *refusals) called(what string) {
	if len(f.given) > 0 {
		f.after = append(f.after, what)
	}
}

// busySteps makes the sender take n steps that each have something of every kind to do – build, send again, bump and
// settle – while statements are refused. evaluate checks each step; in the end everything is paid once.
func (r *harness) busySteps(
	n int, refuse func(round int) func(query string) error, evaluate func(f *refusals, err error),
) {
	r.T.Helper()
	r.Fund()
	r.Settle()
	wallets := []bursar.Wallet{r.Wallet(1), r.Wallet(1), r.Wallet(1), r.Wallet(1)}
	r.Trouble = true // what fails in one step goes on in the next
	for round := range n {
		r.Order(1_000_000, r.Chain.Named(fmt.Sprint("receiver ", round)))
		r.Pay(wallets[round%len(wallets)].Address, 3_000_000)
		r.Chain.SetRate([]uint64{10, 10, 25, 60}[round%4])
		r.Chain.Mine(1)
		r.CatchUp()
		r.Check(r.Sweeper.Step(ctx, r.Lease))
		f := &refusals{refuse: refuse(round), given: map[error]string{}}
		r.Sender.DB = r.DB.As(r.DB.Now, store.Hooks{Before: f.before})
		r.Sender.Chain = resolvedBeside{r.Chain, func() { f.called("a node is asked") }}
		r.Sender.Signer = watched{r.Signer, func(chain.UnsignedTx) { f.called("the signer is asked") }}
		err := r.Sender.Step(ctx, r.Lease)
		evaluate(f, err)
	}
	r.Chain.SetRate(10)
	r.Restart()
	r.Settle()
	r.Must(r.Audit())
}

// Whichever statements of a step a database refuses, the operator sees each error: returned by the step, or stored with
// the outgoing transaction that it was about.
func TestEveryRefusedStatementIsReported(t *testing.T) {
	searches(t)
	const apart = 16 // a statement that records another error is not refused with it
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
					kept[query] = err // sending asks again whether a sweep is worth its fee
				}
				return kept[query]
			}
		}, func(f *refusals, err error) {
			reported := fmt.Sprint(err, r.errors())
			for refused, query := range f.given {
				if !strings.Contains(reported, refused.Error()) {
					t.Errorf("nobody hears that the database refused %s, want %v in it", query, refused.Error())
				}
			}
		})
	})
}

// Wherever in a step the lease is found to be lost, the step returns that error, and from then on asks neither the
// database, nor a node, nor the signer: another process does the work.
func TestALeaseThatIsLostAnywhereEndsTheStep(t *testing.T) {
	searches(t)
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
				t.Errorf("the step returned %v, after %q, want %v and none", err, f.after, store.ErrLeaseLost)
			}
			if noted := r.errors(); strings.Contains(noted, store.ErrLeaseLost.Error()) {
				t.Errorf("at an outgoing transaction its error is %q, want no %v", noted, store.ErrLeaseLost.Error())
			}
		})
		if lost < 12 {
			t.Errorf("the lead was lost in %d steps only", lost)
		}
	})
}
