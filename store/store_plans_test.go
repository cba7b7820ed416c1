package store_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// read is something that is read at each scrape of the metrics, for a page of the dashboard, or for a list of the API.
type read struct {
	name string
	of   func(ctx context.Context, tx *store.Tx) error
}

func reading[T any](name string, of func(ctx context.Context, tx *store.Tx) (T, error)) read {
	return read{name, func(ctx context.Context, tx *store.Tx) error {
		_, err := of(ctx, tx)
		return err
	}}
}

var (
	someone, something = bursar.ID{1}, bursar.ID{2}
	customers          = []ledger.Account{ledger.Available(someone), ledger.Held(someone)}
	aPage              = store.Page{Limit: 10}
	aWalk              = store.Walk{Limit: 10, Accounts: []bursar.ID{someone, something}}
	today              = time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
)

// scraped is what the metrics and the dashboard read.
var scraped = []read{
	reading("queue of deliveries", func(ctx context.Context, tx *store.Tx) (store.Queue, error) {
		return tx.Queues().DueDeliveries(ctx)
	}),
	reading("queue of pending deposits", func(ctx context.Context, tx *store.Tx) (store.Queue, error) {
		return tx.Queues().PendingDeposits(ctx, bursar.Bitcoin)
	}),
	reading("queue of withdrawals", func(ctx context.Context, tx *store.Tx) (store.Queue, error) {
		return tx.Queues().OpenWithdrawals(ctx, bursar.Bitcoin)
	}),
	reading("queue of approvals", func(ctx context.Context, tx *store.Tx) (store.Queue, error) {
		return tx.Queues().WaitingApprovals(ctx, bursar.Bitcoin)
	}),
	reading("queue of outgoing transactions", func(ctx context.Context, tx *store.Tx) (store.Queue, error) {
		return tx.Queues().OpenOutgoing(ctx, bursar.Bitcoin)
	}),
	reading("operator's balances", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Ledger().OperatorBalances(ctx)
	}),
	reading("open alarms", func(ctx context.Context, tx *store.Tx) (any, error) { return tx.Alarms().List(ctx, 10) }),
	reading("alarms of a kind",
		func(ctx context.Context, tx *store.Tx) (any, error) { return tx.Alarms().OfKind(ctx, "k") }),
	reading("next delivery", func(ctx context.Context, tx *store.Tx) (any, error) {
		at, _, err := tx.Deliveries().NextDue(ctx)
		return at, err
	}),
	reading("newest wallet", func(ctx context.Context, tx *store.Tx) (any, error) { return tx.Wallets().Newest(ctx) }),
	reading("unfinished withdrawals", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Withdrawals().Unfinished(ctx, 20)
	}),
	reading("newest withdrawals", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Withdrawals().List(ctx, bursar.ID{}, aPage)
	}),
	reading("unattributed deposits", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Deposits().Unattributed(ctx, false, aPage)
	}),
	reading("newest proposals", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Proposals().Page(ctx, nil, store.Proposal{}, 10)
	}),
	reading("older proposals", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Proposals().Page(ctx, nil, store.Proposal{ID: bursar.ID{1}, CreatedAt: today}, 10)
	}),
	reading("newest proposals of accounts", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Proposals().Page(ctx, []bursar.ID{someone, something}, store.Proposal{}, 10)
	}),
	reading("older proposals of accounts", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Proposals().Page(ctx, []bursar.ID{someone}, store.Proposal{ID: bursar.ID{1}, CreatedAt: today}, 10)
	}),
	reading("keys of orders of all", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.OrderKeys().Page(ctx, bursar.OrderKey{}, 10)
	}),
	reading("what an account requested", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Withdrawals().RequestedAfter(ctx, someone, "BTC", today)
	}),
	reading("limits of two accounts", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.LimitRules().Of(ctx, bursar.ID{1}, bursar.ID{2})
	}),
	reading("currencies with anything open", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Deposits().UnfinishedCurrencies(ctx)
	}),
	{"altered open orders", func(ctx context.Context, tx *store.Tx) error {
		_, _, err := tx.Withdrawals().ListAltered(ctx, 0, 100)
		return err
	}},
	reading("a receiver of notices", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Notices().Get(ctx, "ops")
	}),
	reading("alarms to announce", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Notices().Unnoticed(ctx, "ops", nil, today, 10)
	}),
	reading("alarms of some kinds to announce", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Notices().Unnoticed(ctx, "ops", []string{"uncovered", "funds_low"}, today, 10)
	}),
	reading("overdue approvals", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Queues().OverdueApprovals(ctx, today)
	}),
	reading("overdue withdrawals", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Queues().OverdueWithdrawals(ctx, today)
	}),
	reading("overdue proposals", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Queues().OverdueProposals(ctx, today)
	}),
	reading("what a webhook holds back", func(ctx context.Context, tx *store.Tx) (store.Queue, error) {
		return tx.WebhookURLs().Waiting(ctx, someone, "https://example.com")
	}),
}

// everybody is what operators read of every account.
var everybody = []read{
	walking("deposits of everybody", func(ctx context.Context, tx *store.Tx) (int64, error) {
		_, next, err := tx.Deposits().Walk(ctx, store.DepositFilter{Status: bursar.DepositPending, Currency: "BTC",
			Amount: bursar.Units(1), From: today, To: today}, aWalk)
		return next, err
	}),
	walking("withdrawals of everybody", func(ctx context.Context, tx *store.Tx) (int64, error) {
		_, next, err := tx.Withdrawals().Walk(ctx, store.WithdrawalFilter{Status: bursar.WithdrawalQueued, Currency: "BTC",
			Amount: bursar.Units(1), From: today, To: today}, aWalk)
		return next, err
	}),
	walking("wallets of everybody", func(ctx context.Context, tx *store.Tx) (int64, error) {
		_, next, err := tx.Wallets().Walk(ctx, "BTC", aWalk)
		return next, err
	}),
	walking("events of everybody", func(ctx context.Context, tx *store.Tx) (int64, error) {
		_, next, err := tx.Deliveries().Walk(ctx, store.DeliveryFilter{Status: store.DeliveryFailed, Since: today}, aWalk)
		return next, err
	}),
	walking("charges of everybody", func(ctx context.Context, tx *store.Tx) (int64, error) {
		waits := true
		_, next, err := tx.Charges().Walk(ctx, store.ChargeFilter{Status: bursar.ChargePaid, Label: bursar.LabelOver,
			Currency: "BTC", Attention: &waits, From: today}, aWalk)
		return next, err
	}),
	walking("charges of both rules", func(ctx context.Context, tx *store.Tx) (int64, error) {
		_, next, err := tx.Charges().Walk(ctx, store.ChargeFilter{Currency: "BTC"}, aWalk)
		return next, err
	}),
	reading("outgoing transactions in their order", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Outgoing().After(ctx, 1, 10)
	}),
	reading("versions of outgoing transactions", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Outgoing().VersionsOf(ctx, []bursar.ID{someone, something})
	}),
	reading("external spends in their order", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.ExternalSpends().After(ctx, 1, 10)
	}),
	reading("deposits in transactions", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Deposits().InTxs(ctx, nil, []bursar.ChainID{bursar.Bitcoin}, []string{"a", "b"}, 10)
	}),
	reading("deposits to wallets", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Deposits().ToWallets(ctx, []int64{1, 2}, 10)
	}),
	reading("withdrawals by transaction", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Withdrawals().Found(ctx, nil, store.WithdrawalFilter{TxIDs: []string{"a"}}, 10)
	}),
	reading("withdrawals by address", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Withdrawals().Found(ctx, nil, store.WithdrawalFilter{Addresses: []bursar.Address{{Base: "a"}}}, 10)
	}),
	reading("withdrawals named by anybody", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Withdrawals().Found(ctx, []bursar.ID{someone, something}, store.WithdrawalFilter{Reference: "a"}, 10)
	}),
	reading("a withdrawal", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Withdrawals().ByID(ctx, something)
	}),
	reading("wallets with a memo", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Wallets().WithMemo(ctx, nil, 7, 10)
	}),
	reading("a charge", func(ctx context.Context, tx *store.Tx) (any, error) { return tx.Charges().ByID(ctx, something) }),
	reading("an invoice", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Invoices().ByID(ctx, something)
	}),
	reading("charges named by anybody", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Invoices().Named(ctx, nil, store.ChargeFilter{Reference: "a"}, 10)
	}),
	reading("charges of a customer", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Invoices().OfCustomer(ctx, nil, "a", 10)
	}),
	reading("the sweep of an address", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Outgoing().SweepAfter(ctx, bursar.Ethereum, "a", "ETH", today)
	}),
	reading("accounts", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Accounts().Page(ctx, nil, someone, 10)
	}),
	walking("figures of days", func(ctx context.Context, tx *store.Tx) (int64, error) {
		_, _, err := tx.DayFigures().Of(ctx, []time.Time{today})
		return 0, err
	}),
	reading("how far months are summed", func(ctx context.Context, tx *store.Tx) (any, error) {
		_, _, err := tx.MonthSums().Read(ctx)
		return nil, err
	}),
	reading("balances at a time", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.MonthSums().At(ctx, customers, today)
	}),
}

func walking(name string, of func(ctx context.Context, tx *store.Tx) (int64, error)) read {
	return reading(name, of)
}

// However much there is, no scrape, page or list reads all of it.
func TestEveryScrapePageAndListHasItsIndex(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		plans := storetest.NewPlans(t, db)
		for _, r := range slices.Concat(scraped, listed, everybody) {
			err := plans.DB.View(t.Context(), func(tx *store.Tx) error { return r.of(t.Context(), tx) })
			if err != nil && !errors.Is(err, store.ErrNotFound) {
				t.Fatalf("%s: %v", r.name, err)
			}
			if plans.Name(r.name) == 0 {
				t.Errorf("%s: no statement was made, want one", r.name)
			}
		}
		plans.Check()
	})
}
