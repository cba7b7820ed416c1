// Package consoletest provides a console for tests of its pages: a person has signed in, and every page has content.
//
// It owns that content, which is the same in each run, and never reads a clock: its own stands still.
package consoletest

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/console"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/operator"
	"github.com/bursar/bursar/operator/proposal"
	"github.com/bursar/bursar/oversight"
	"github.com/bursar/bursar/relay"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// Now is the time at which the clock stands.
var Now = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

// The objects that tests look at.
var (
	Shop    = bursar.ID{0x01, 0x93, 0xa6, 0xa0, 1}
	Waiting = bursar.ID{0x01, 0x93, 0xa6, 0xa0, 2} // a deposit that is not final
	Payout  = bursar.ID{0x01, 0x93, 0xa6, 0xa0, 3} // a withdrawal that waits for approval
)

// Written is what a customer wrote: text that would be more than text if it were not escaped, in another direction.
const Written = `<b onclick="alert(1)">‮txet</b>`

// New returns a console in which a person with roles has signed in.
func New(t testing.TB, roles ...operator.Role) *console.Console {
	t.Helper()
	db := storetest.OpenAt(t, storetest.SQLite(t), func() time.Time { return Now })
	registry, err := bursar.NewRegistry(bursar.Standard())
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Do(t.Context(), func(tx *store.Tx) error { return fill(t.Context(), tx) }); err != nil {
		t.Fatal(err)
	}
	ids := bursar.NewIDs(db.Now, nil)
	people, err := operator.NewService(operator.Config{DB: db, IDs: ids, URL: "http://localhost:8081"})
	if err != nil {
		t.Fatal(err)
	}
	c, err := console.New(console.Config{DB: db, Registry: registry, IDs: ids, People: people,
		Sheets: reader(db, registry),
		Acts: console.Acts{Proposals: &proposal.Service{DB: db, IDs: ids, Log: slog.New(slog.DiscardHandler)},
			Approvals: &relay.Relay{DB: db, Registry: registry}},
		Who: func(*http.Request) (operator.Person, operator.Session, error) {
			return operator.Person{ID: bursar.ID{9}, Name: "Ada", Roles: roles}, operator.Session{ID: bursar.ID{8}}, nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func reader(db *store.DB, registry *bursar.Registry) *oversight.Reader {
	euro, _ := bursar.FiatUnit("EUR")
	return &oversight.Reader{Config: oversight.Config{
		DB:       db,
		Registry: registry,
		Chains:   map[bursar.ChainID]oversight.Chain{bursar.Bitcoin: bitcoin{}},
		Hot:      func(id bursar.ChainID) string { return "hot-wallet-of-" + string(id) },
		Nodes: func(id bursar.ChainID) []oversight.Node {
			return []oversight.Node{{Name: "http://node.example", InUse: true, Height: 907}}
		},
		Worth: func(code bursar.CurrencyCode) oversight.Worth {
			rate, _ := bursar.ParseRate(map[bursar.CurrencyCode]string{"BTC": "78000", "ETH": "2900"}[code])
			return oversight.Worth{Rate: rate, Unit: euro, Source: "two feeds", At: Now.Add(-time.Minute)}
		},
		Epochs: func(context.Context, *store.Tx) ([]oversight.Epoch, error) {
			return []oversight.Epoch{{Chain: bursar.Bitcoin, Keys: 1, Leads: 1, Since: Now.Add(-time.Hour),
				Hot: "hot-wallet-of-bitcoin", Held: []oversight.EpochHeld{{Currency: "BTC", Hot: bursar.Units(120_000),
					Addresses: bursar.Units(7_000), More: true}}}}, nil
		},
		Settings: []oversight.Setting{{Path: "network", Value: "mainnet", Source: "bursar.yaml:1"}},
	}}
}

// bitcoin is a chain whose addresses begin with bc1.
type bitcoin struct{}

func (bitcoin) Capabilities() chain.Capabilities {
	return chain.Capabilities{ID: bursar.Bitcoin, Family: "bitcoin", Model: chain.UTXOModel, Confirmations: 3}
}

func (bitcoin) ParseAddress(s string) (bursar.Address, error) {
	if !strings.HasPrefix(s, "bc1") {
		return bursar.Address{}, bursar.ErrNotFound
	}
	return bursar.Address{Base: s}, nil
}

func fill(ctx context.Context, tx *store.Tx) error {
	wallet := bursar.Wallet{Number: 1, ID: Wallet, AccountID: Shop, Currency: "BTC",
		Family: "bitcoin", Address: bursar.Address{Base: "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"},
		Webhook: "https://shop.example/bursar", Metadata: Written, CreatedAt: Now.Add(-time.Hour)}
	for _, step := range []func() error{
		func() error { return tx.Accounts().Insert(ctx, bursar.Account{ID: Shop, Name: "Shop", CreatedAt: Now}) },
		func() error { return tx.Wallets().Insert(ctx, []bursar.Wallet{wallet}) },
		func() error { return tx.Chains().Ensure(ctx, bursar.Bitcoin) },
		func() error { return tx.Chains().SetHead(ctx, bursar.Bitcoin, 907, 901) },
		func() error {
			return tx.Alarms().Raise(ctx, store.Alarm{Chain: bursar.Bitcoin, Kind: "external_spend",
				Message: "A transaction from the hot wallet was not made by this service."})
		},
		func() error { return addDeposit(ctx, tx, wallet) },
		func() error { return addMonth(ctx, tx) },
		func() error { return addPayout(ctx, tx) },
		func() error { return addCharge(ctx, tx) },
		func() error { return addUnattributed(ctx, tx) },
		func() error { return addPeople(ctx, tx) },
		func() error { return addRules(ctx, tx) },
		func() error {
			return tx.Events().Insert(ctx, bursar.Event{ID: bursar.ID{0x01, 0x93, 0xa6, 0xa0, 6}, AccountID: Shop,
				Kind: bursar.EventDeposit, Subject: Waiting, URL: wallet.Webhook, Body: []byte(`{"success":true}`),
				CreatedAt: Now.Add(-10 * time.Minute)})
		},
		func() error {
			_, err := tx.DayFigures().Fold(ctx)
			return err
		},
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// addDeposit adds one that is not final yet.
func addDeposit(ctx context.Context, tx *store.Tx, w bursar.Wallet) error {
	_, _, err := tx.Deposits().Record(ctx, store.NewDeposit{Wallet: w.Number, Deposit: bursar.Deposit{
		ID:        Waiting,
		Purpose:   bursar.ForWallet,
		AccountID: Shop,
		WalletID:  w.ID,
		Currency:  "BTC",
		Chain:     bursar.Bitcoin,
		TxID:      strings.Repeat("5a", 32),
		Address:   w.Address,
		Amount:    bursar.Units(15_000_000),
		Height:    906,
		BlockHash: strings.Repeat("00", 32),
		Required:  3,
		SeenAt:    Now.Add(-9 * time.Minute),
	}})
	return err
}

// addMonth books deposits of a month, and payouts of some of them.
func addMonth(ctx context.Context, tx *store.Tx) error {
	for day := 29; day >= 0; day-- {
		at := Now.AddDate(0, 0, -day).Add(-time.Hour)
		amount := bursar.Units(uint64(20_000_000 + (day*37%11)*9_000_000))
		in := bursar.Deposit{ID: bursar.ID{7, byte(day)}, Purpose: bursar.ForAccount, AccountID: Shop, Currency: "BTC",
			Chain: bursar.Bitcoin, TxID: fmt.Sprintf("%064x", day+1), Amount: amount, Fee: bursar.Units(100_000),
			Address: bursar.Address{Base: "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"}, Height: uint64(900 - day),
			SeenAt: at.Add(-time.Duration(20+day*13%17) * time.Minute)}
		if err := addCredited(ctx, tx, in); err != nil {
			return err
		}
		entries := []ledger.Entry{ledger.DepositCredited(in, at)}
		if day%3 == 0 {
			out := bursar.Withdrawal{ID: bursar.ID{8, byte(day)}, AccountID: Shop, Currency: "BTC",
				Amount: bursar.Units(9_000_000), Fee: bursar.Units(50_000), Status: bursar.WithdrawalConfirmed,
				Address:   bursar.Address{Base: "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu"},
				CreatedAt: at.Add(-time.Duration(15+day*29%23) * time.Minute), CompletedAt: at}
			if err := tx.Withdrawals().Insert(ctx, bursar.Bitcoin, out); err != nil {
				return err
			}
			entries = append(entries, ledger.WithdrawalHeld(out, at), ledger.WithdrawalSettled(out, 0, at))
		}
		if err := tx.Ledger().Post(ctx, entries...); err != nil {
			return err
		}
	}
	return nil
}

// addCredited adds a deposit that is credited.
func addCredited(ctx context.Context, tx *store.Tx, d bursar.Deposit) error {
	if _, err := tx.Deposits().RecordAll(ctx, []store.NewDeposit{{Deposit: d}}); err != nil {
		return err
	}
	recorded, err := tx.Deposits().ByID(ctx, d.ID)
	if err != nil {
		return err
	}
	return tx.Deposits().SetStatuses(ctx, []store.DepositChange{{Deposit: recorded, Next: bursar.DepositConfirmed}})
}

// addPayout adds a withdrawal that waits for approval.
func addPayout(ctx context.Context, tx *store.Tx) error {
	return tx.Withdrawals().Insert(ctx, bursar.Bitcoin, bursar.Withdrawal{
		ID:          Payout,
		AccountID:   Shop,
		Currency:    "BTC",
		Amount:      bursar.Units(150_000_000),
		Address:     bursar.Address{Base: "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu"},
		Status:      bursar.WithdrawalPendingApproval,
		RequestedBy: "key-0193a6a0",
		Reference:   "payout-81",
		Metadata:    Written,
		CreatedAt:   Now.Add(-20 * time.Minute),
	})
}
