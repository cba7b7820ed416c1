package recovery_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/bursartest/clocktest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

var (
	ann = bursar.ID{0: 1}
	bob = bursar.ID{0: 2}
)

// The chains that a test may run on: one of UTXOs, and two with nonces, without and with expiry of transactions.
var (
	utxoCapabilities = chain.Capabilities{ID: bursar.Bitcoin, Family: "bitcoin", Model: chain.UTXOModel}
	numbered         = chain.Capabilities{ID: bursar.Ethereum, Family: "evm", Model: chain.AccountModel}
	expiring         = chain.Capabilities{ID: bursar.Ethereum, Family: "evm", Model: chain.AccountModel,
		Lifetime: chain.Lifetime{Blocks: 6}}
)

// harness is the assessor of one chain over a database with the accounts of Ann and Bob.
type harness struct {
	*testing.T
	bursartest.Database
	recovery.Assessor
	clock *clocktest.Clock
	url   string // of the database
	n     byte
}

func newHarness(t *testing.T, capabilities chain.Capabilities) *harness {
	t.Parallel()
	return newHarnessBeside(t, capabilities)
}

// newHarnessBeside creates a second harness.
func newHarnessBeside(t *testing.T, capabilities chain.Capabilities) *harness {
	r := &harness{T: t, clock: clocktest.New(), url: storetest.Reused(t)}
	r.Database = bursartest.Over(t, storetest.Open(t, r.url).As(r.clock.Now, store.Hooks{}))
	registry, err := bursar.NewRegistry([]bursar.Currency{{Code: "COIN", Chain: capabilities.ID, Decimals: 8, Places: 8},
		{Code: "TOKEN", Chain: capabilities.ID, Contract: "token", Decimals: 6, Places: 6}})
	r.Must(err)
	r.Assessor = outgoing.NewAssessor(capabilities, registry, r.Database.IDs,
		chain.Source{Base: "hot", Key: chain.Hot(capabilities.Family)}, slog.New(slog.DiscardHandler))
	for _, id := range []bursar.ID{ann, bob} {
		r.AddAccount(bursar.Account{ID: id, NotifyWithdrawals: true, Webhook: "https://a.example/"})
		r.Credit(id, "COIN", 1_000_000)
		r.Credit(id, "TOKEN", 1_000_000)
	}
	r.Do(func(tx *store.Tx) error { return tx.Chains().Ensure(ctx, capabilities.ID) })
	return r
}

// order records a waiting withdrawal, one second after the previous one.
func (r *harness) order(account bursar.ID, to string, currency bursar.CurrencyCode, units uint64) bursar.Withdrawal {
	r.Helper()
	return r.orderAs(bursar.WithdrawalQueued, account, to, currency, units)
}

func (r *harness) orderAs(status bursar.WithdrawalStatus, account bursar.ID, to string, currency bursar.CurrencyCode,
	units uint64) bursar.Withdrawal {
	r.Helper()
	r.clock.Advance(time.Second)
	w := bursar.Withdrawal{ID: r.Assessor.IDs.Next(), AccountID: account, Currency: currency, Amount: bursar.Units(units),
		Address: bursar.Address{Base: to},
		Status:  status, CreatedAt: r.DB.Now()}
	r.Do(func(tx *store.Tx) error {
		if err := tx.Ledger().Post(ctx, ledger.WithdrawalHeld(w, tx.Now())); err != nil {
			return err
		}
		return tx.Withdrawals().Insert(ctx, r.Capabilities.ID, w)
	})
	return w
}

// pays returns a payment of an asset; the native one for "".
func pays(to, contract string, units uint64) chain.Payment {
	return chain.Payment{Address: bursar.Address{Base: to}, Contract: contract, Amount: bursar.Units(units)}
}

// mineExternal returns an external spend of the hot wallet, with a reservation that nobody has.
func (r *harness) mineExternal(payments ...chain.Payment) chain.ExternalSpend {
	r.n++
	x := chain.ExternalSpend{TxID: "tx" + string('a'+rune(r.n)), Base: "hot", Payments: payments, Fee: bursar.Units(3)}
	x.Reservations = []string{"hot/" + string('0'+rune(r.n))}
	return x
}

// takenUp records an outgoing transaction for withdrawals, moved to a status, with its own reservations.
func (r *harness) takenUp(
	status bursar.OutgoingStatus, resources []string, together ...bursar.Withdrawal,
) bursar.OutgoingTx {
	r.Helper()
	request := chain.TxRequest{Kind: chain.KindWithdrawal}
	for _, w := range together {
		request.Payments = append(request.Payments,
			pays(w.Address.Base, map[bursar.CurrencyCode]string{"TOKEN": "token"}[w.Currency],
				units(w.Amount)))
	}
	return r.spend(status, request, resources, together...)
}

func units(a bursar.Amount) uint64 {
	n, _ := a.Uint64()
	return n
}

// spend records an outgoing transaction.
func (r *harness) spend(status bursar.OutgoingStatus, request chain.TxRequest, resources []string,
	together ...bursar.Withdrawal) bursar.OutgoingTx {
	r.Helper()
	p := bursar.OutgoingTx{ID: r.Assessor.IDs.Next(), Chain: r.Capabilities.ID, Kind: string(request.Kind),
		Request:  marshal(r.T, request),
		Currency: "COIN", Base: "hot"}
	r.Do(func(tx *store.Tx) error {
		if _, err := tx.Outgoing().Insert(ctx, p); err != nil {
			return err
		}
		for _, w := range together {
			if err := tx.Withdrawals().AssignOutgoing(ctx, w, p.ID); err != nil {
				return err
			}
		}
		for _, next := range []bursar.OutgoingStatus{bursar.OutgoingReserved, bursar.OutgoingSigned, bursar.OutgoingSent} {
			locked, err := tx.Outgoing().Lock(ctx, p.ID)
			if err != nil || locked.Status == status {
				return err
			}
			locked.Unsigned = marshal(r.T, chain.UnsignedTx{Reservations: resources})
			if next == bursar.OutgoingReserved {
				if err := tx.Reservations().Reserve(ctx, locked, resources); err != nil {
					return err
				}
			}
			if err := tx.Outgoing().SetStatus(ctx, locked, next); err != nil {
				return err
			}
		}
		return nil
	})
	return p
}

// evaluate assesses an external spend in block 7.
func (r *harness) evaluate(x chain.ExternalSpend, forgot bool) recovery.Finding {
	r.Helper()
	var found recovery.Finding
	r.Do(func(tx *store.Tx) (err error) {
		found, err = r.Assess(ctx, tx, chain.Block{Ref: chain.BlockRef{Height: 7}, Time: r.clock.Now()}, x, forgot)
		return err
	})
	return found
}

func (r *harness) now(w bursar.Withdrawal) bursar.Withdrawal {
	r.Helper()
	r.Do(func(tx *store.Tx) (err error) {
		w, err = tx.Withdrawals().Lock(ctx, w.ID)
		return err
	})
	return w
}

// external returns the record of a transaction.
func (r *harness) external(txID string) (x store.ExternalSpend) {
	r.Helper()
	r.Do(func(tx *store.Tx) (err error) {
		x, err = tx.ExternalSpends().ByTx(ctx, r.Capabilities.ID, txID)
		return err
	})
	return x
}

// paid checks that an external spend is adopted as the payment of these withdrawals only.
func (r *harness) paid(found recovery.Finding, x chain.ExternalSpend, withdrawals ...bursar.Withdrawal) {
	r.Helper()
	if found.Verdict != recovery.Adopted || found.OutgoingID.IsZero() {
		r.Fatalf("it is %+v", found)
	}
	p := r.Outgoing(found.OutgoingID)
	if p.TxID != x.TxID || p.Height != 7 || p.Status != bursar.OutgoingSent || p.Fee != x.Fee || p.Failed != x.Failed {
		r.Errorf("the outgoing transaction is %+v", p)
	}
	for _, w := range withdrawals {
		if got := r.now(w); got.OutgoingID != found.OutgoingID || got.TxID != x.TxID ||
			got.Status != bursar.WithdrawalBroadcast {
			r.Errorf("the withdrawal is %+v", got)
		}
	}
	var n int
	r.Do(func(tx *store.Tx) error {
		list, err := tx.Withdrawals().PaidBy(ctx, found.OutgoingID)
		n = len(list)
		return err
	})
	if n != len(withdrawals) {
		r.Errorf("it pays %d withdrawals, want %d", n, len(withdrawals))
	}
	if got := r.external(x.TxID); got.Status != store.ExternalAdopted || got.OutgoingID != found.OutgoingID ||
		got.Height != 7 {
		r.Errorf("recorded is %+v", got)
	}
}

// untouched checks that withdrawals still wait.
func (r *harness) untouched(withdrawals ...bursar.Withdrawal) {
	r.Helper()
	for _, w := range withdrawals {
		if got := r.now(w); got.Status != w.Status || !got.OutgoingID.IsZero() || got.TxID != "" {
			r.Errorf("the withdrawal is %+v", got)
		}
	}
}
