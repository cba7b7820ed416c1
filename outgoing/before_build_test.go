package outgoing_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/store"
)

// If the database cannot be read for what must be known before a transaction is built – whether a refund is called
// back, whether a sweep has something to collect or a hanging sweep's nonce to take, whether a halt or a freeze holds
// it –, nothing is built or signed, and the error says why.
func TestNothingIsBuiltWhileItsConditionsCannotBeRead(t *testing.T) {
	refused := errors.New("the database refuses")
	for name, of := range map[string]struct {
		kind  chain.Kind
		query string
	}{
		"a refund":          {chain.KindWithdrawal, "FROM resolutions WHERE outgoing_id = $1"},
		"a freeze":          {chain.KindWithdrawal, "FROM accounts a WHERE a.frozen <> ''"},
		"what is there":     {chain.KindSweep, "WHERE chain = $1 AND contract = $2 AND base = $3"},
		"a nonce to take":   {chain.KindSweep, "s.waits_for = 'deposit'"},
		"a halt of a sweep": {chain.KindSweep, "FROM halts WHERE scope IN ($1,$2,$3"},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, numbered, func(t *testing.T, r *harness) {
				r.fund()
				r.settle()
				if of.kind == chain.KindSweep {
					r.pay(r.wallet(0).Address, 400_000_000)
					r.chain.Mine(3)
					r.step() // requested
				} else {
					r.chain.Fail("draft", 1, nil)
					r.order(100_000_000, r.chain.Named("outside"))
					r.step() // assigned
				}
				node, signed, left := r.record(), r.signs(), 1
				r.sender.DB = r.db.As(r.db.Now, store.Conduct{Before: func(_ context.Context, at store.Point, query string) error {
					if left > 0 && at == store.Running && strings.Contains(query, of.query) {
						left--
						return refused
					}
					return nil
				}})
				r.must(r.sender.Step(ctx, r.lease))
				if got := r.only(); got.Status != bursar.OutgoingNew || !strings.Contains(got.Error, refused.Error()) {
					t.Errorf("it is %s, and its error is %q", got.Status, got.Error)
				}
				if left > 0 || len(node.built)+len(*signed) > 0 {
					t.Errorf("%d are built and %d signed", len(node.built), len(*signed))
				}
				r.sender.DB = r.db
				r.step()
				if got := r.only(); got.Status != bursar.OutgoingSent || got.Error != "" {
					t.Errorf("then it is %s: %q", got.Status, got.Error)
				}
			})
		})
	}
}

// If a batch can never be included, all its withdrawals are requeued and paid once.
func TestEveryWithdrawalOfALostBatchIsPaidAgain(t *testing.T) {
	each(t, utxoModel, func(t *testing.T, r *harness) {
		r.step()
		r.pay(r.wallet(0).Address, 300_000_000)
		r.pay(bursar.Address{Base: r.hot.Base}, 700_000_000)
		r.chain.Mine(3)
		r.step()
		deposit := r.pay(r.wallet(1).Address, 900_000_000)
		r.chain.Mine(3)
		r.step()
		var list []bursar.Withdrawal
		for i := range 4 {
			list = append(list, r.order(50_000_000, r.chain.Named(fmt.Sprint(i))))
		}
		r.step()
		first := r.only().ID
		r.chain.Forget()
		r.trouble = true
		r.chain.Reorg(3, deposit)
		r.step()
		r.chain.DoubleSpend(deposit)
		r.blocks(15)
		if got := r.spendNow(first).Status; got != bursar.OutgoingAbandoned {
			t.Errorf("the batch is %s", got)
		}
		if got := r.statuses(list...); got[bursar.WithdrawalConfirmed] != len(list) {
			t.Errorf("the withdrawals are %v", got)
		}
		r.holdsOnce(list...)
	})
}

// resolving is a chain that accepts a transaction while an operator gives it up.
type resolving struct {
	*recorded
	resolve func()
}

func (c resolving) Broadcast(ctx context.Context, tx chain.SignedTx) error {
	err := c.recorded.Broadcast(ctx, tx)
	c.resolve()
	return err
}

// If an operator resolves a transaction while it is being sent, the resolution counts and is not overwritten.
func TestAResolutionDuringSendingIsNotOverwritten(t *testing.T) {
	each(t, expiring, func(t *testing.T, r *harness) {
		r.prepare()
		r.settle()
		r.trouble = true
		r.chain.Fail(sim.Broadcast, 1, errors.New("no peers"))
		w := r.order(300_000_000, r.chain.Named("outside"))
		r.step()
		id := r.now(w).OutgoingID
		r.sender.Chain = resolving{r.record(), func() {
			proof := &oracle{recorded: &recorded{Chain: r.chain}, gone: true}
			_, err := r.sender.Resolve(ctx, id, proof, outgoing.Resolution{NeverPaid: true, Reason: "it is dead", Actor: "ann"})
			r.must(err)
		}}
		r.must(r.sender.Step(ctx, r.lease))
		if got := r.spendNow(id); got.Status != bursar.OutgoingAbandoned || strings.Contains(got.Error, "may not go") {
			t.Errorf("it is %s: %q", got.Status, got.Error)
		}
		if got := r.now(w); got.Status != bursar.WithdrawalQueued {
			t.Errorf("the withdrawal is %s", got.Status)
		}
	})
}

// The books are audited in every step that pays, not once per process: a balance that is raised in the database after
// the first payment is not paid either.
func TestTheBooksAreAuditedInEveryStepThatPays(t *testing.T) {
	intruded(t, func(t *testing.T, r *harness, attack func(string, ...any)) {
		r.fund()
		r.settle()
		honest := r.order(100_000_000, r.chain.Named("honest"))
		r.settle()
		if got := r.now(honest).Status; got != bursar.WithdrawalConfirmed {
			t.Fatalf("the first is %s", got)
		}
		raise(attack, ledger.Available(r.accounts[2]))
		_, err := r.withdraw(2, 300_000_000, r.chain.Named("thief"))
		r.must(err)
		r.nothingLeaves("thief")
		if !r.halted() {
			t.Error("the attack was not noticed")
		}
	})
}
