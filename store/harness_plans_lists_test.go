package store_test

import (
	"context"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// listed is what requests read.
var listed = []read{
	reading("balances of accounts", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Ledger().OfAccounts(ctx, []bursar.ID{someone})
	}),
	reading("wallet", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Wallets().OfAccounts(ctx, []store.WalletName{{Account: someone, ID: something}})
	}),
	reading("wallets", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Wallets().List(ctx, someone, "", aPage)
	}),
	reading("wallets of a currency", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Wallets().List(ctx, someone, "BTC", aPage)
	}),
	reading("wallets at addresses", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Wallets().At(ctx, []store.WalletAddress{{Family: "bitcoin", Address: bursar.Address{Base: "a"}}})
	}),
	reading("charges", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Charges().List(ctx, someone, aPage)
	}),
	reading("charges of a currency", func(ctx context.Context, tx *store.Tx) (any, error) {
		list, _, err := tx.Charges().Select(ctx, someone, store.ChargeFilter{Currency: "BTC", From: today}, aPage)
		return list, err
	}),
	reading("charges that add up", func(ctx context.Context, tx *store.Tx) (any, error) {
		list, _, err := tx.Invoices().List(ctx, someone, store.ChargeFilter{}, aPage)
		return list, err
	}),
	reading("charges that add up of a filter", func(ctx context.Context, tx *store.Tx) (any, error) {
		waits := true
		list, _, err := tx.Invoices().List(ctx, someone, store.ChargeFilter{Status: bursar.ChargeExpired, Currency: "BTC",
			Label: bursar.LabelPartial, Attention: &waits, From: today, To: today}, aPage)
		return list, err
	}),
	reading("charges of a status", func(ctx context.Context, tx *store.Tx) (any, error) {
		list, _, err := tx.Invoices().List(ctx, someone, store.ChargeFilter{Status: bursar.ChargePaid}, aPage)
		return list, err
	}),
	reading("open charges", func(ctx context.Context, tx *store.Tx) (any, error) {
		list, _, err := tx.Invoices().List(ctx, someone, store.ChargeFilter{Status: bursar.ChargeOpen}, aPage)
		return list, err
	}),
	reading("charges with a label", func(ctx context.Context, tx *store.Tx) (any, error) {
		list, _, err := tx.Invoices().List(ctx, someone, store.ChargeFilter{Label: bursar.LabelOver}, aPage)
		return list, err
	}),
	reading("charges that wait", func(ctx context.Context, tx *store.Tx) (any, error) {
		waits := true
		list, _, err := tx.Invoices().List(ctx, someone, store.ChargeFilter{Attention: &waits}, aPage)
		return list, err
	}),
	reading("charges that do not wait", func(ctx context.Context, tx *store.Tx) (any, error) {
		waits := false
		list, _, err := tx.Invoices().List(ctx, someone, store.ChargeFilter{Attention: &waits, From: today, To: today}, aPage)
		return list, err
	}),
	reading("how long charges wait", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Queues().WaitingCharges(ctx)
	}),
	reading("payment links", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.PaymentLinks().List(ctx, someone, aPage)
	}),
	reading("a payment link by its token", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.PaymentLinks().ByToken(ctx, something)
	}),
	reading("charge of a token", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Invoices().ByToken(ctx, something)
	}),
	{"charges of a payment link", func(ctx context.Context, tx *store.Tx) error {
		_, _, err := tx.PaymentLinks().Used(ctx, something, today, 100)
		return err
	}},
	{"second refunds of a payment", func(ctx context.Context, tx *store.Tx) error {
		_, _, err := tx.Invoices().SecondRefunds(ctx, something)
		return err
	}},
	reading("a charge that adds up", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Invoices().Get(ctx, someone, something)
	}),
	reading("a charge by its reference", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Invoices().ByReference(ctx, someone, "order 1")
	}),
	reading("versions of charges that add up", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Invoices().Versions(ctx, []bursar.ID{someone, something})
	}),
	reading("charges of wallets", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Invoices().OfWallets(ctx, []bursar.ID{someone, something})
	}),
	reading("charges of refunds", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Invoices().Refunded(ctx, []bursar.ID{someone, something})
	}),
	reading("terms of payments", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Invoices().Asked(ctx, []bursar.ID{someone, something})
	}),
	reading("charge of a refund", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Invoices().OfRefund(ctx, something)
	}),
	reading("charges that turn", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Invoices().Turning(ctx, today, 100)
	}),
	reading("facts of charges", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Invoices().Detail(ctx, []bursar.Invoice{{Number: 1}, {Number: 2}})
	}),
	reading("withdrawals", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Withdrawals().List(ctx, someone, aPage)
	}),
	reading("deposit", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Deposits().Get(ctx, someone, something)
	}),
	reading("deposits of a wallet", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Deposits().List(ctx, someone, something, aPage)
	}),
	reading("deposits by transaction", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Deposits().ByTx(ctx, someone, []bursar.ChainID{bursar.Bitcoin}, []string{"a"})
	}),
	reading("deposits of transfers", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Deposits().OfTransfers(ctx, someone, map[bursar.ID]bursar.ChainID{something: bursar.Bitcoin})
	}),
	reading("deliveries", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Deliveries().List(ctx, someone, aPage)
	}),
	reading("failed deliveries", func(ctx context.Context, tx *store.Tx) (any, error) {
		list, _, err := tx.Deliveries().Select(ctx, someone, store.EventFilter{Status: store.DeliveryFailed}, aPage)
		return list, err
	}),
	reading("deliveries of a kind", func(ctx context.Context, tx *store.Tx) (any, error) {
		list, _, err := tx.Deliveries().Select(ctx, someone, store.EventFilter{Kind: bursar.EventDeposit, From: today,
			To: today}, aPage)
		return list, err
	}),
	reading("wallets of metadata", func(ctx context.Context, tx *store.Tx) (any, error) {
		list, _, err := tx.Wallets().Select(ctx, someone, store.WalletFilter{Metadata: "a", From: today, To: today}, aPage)
		return list, err
	}),
	reading("wallets by number", func(ctx context.Context, tx *store.Tx) (any, error) {
		list, _, err := tx.Wallets().Select(ctx, someone, store.WalletFilter{Numbers: []int64{1, 2}, Currency: "BTC"}, aPage)
		return list, err
	}),
	reading("charges of metadata", func(ctx context.Context, tx *store.Tx) (any, error) {
		list, _, err := tx.Charges().Select(ctx, someone, store.ChargeFilter{Metadata: "a"}, aPage)
		return list, err
	}),
	reading("sums of metadata", func(ctx context.Context, tx *store.Tx) (any, error) {
		list, _, err := tx.Invoices().List(ctx, someone, store.ChargeFilter{Metadata: "a"}, aPage)
		return list, err
	}),
	reading("deposits of an account", func(ctx context.Context, tx *store.Tx) (any, error) {
		list, _, err := tx.Deposits().Select(ctx, someone, store.DepositFilter{Status: bursar.DepositConfirmed,
			Currency: "BTC", From: today, To: today}, aPage)
		return list, err
	}),
	reading("deposits of an account by hash", func(ctx context.Context, tx *store.Tx) (any, error) {
		list, _, err := tx.Deposits().Select(ctx, someone, store.DepositFilter{TxIDs: []string{"a", "b"},
			Chains: []bursar.ChainID{bursar.Bitcoin}}, aPage)
		return list, err
	}),
	reading("deposits of an account by wallet", func(ctx context.Context, tx *store.Tx) (any, error) {
		list, _, err := tx.Deposits().Select(ctx, someone, store.DepositFilter{Wallets: []int64{1, 2}}, aPage)
		return list, err
	}),
	reading("withdrawals of metadata", func(ctx context.Context, tx *store.Tx) (any, error) {
		list, _, err := tx.Withdrawals().Select(ctx, someone, store.WithdrawalFilter{Metadata: "a"}, aPage)
		return list, err
	}),
	reading("charges of a customer", func(ctx context.Context, tx *store.Tx) (any, error) {
		list, _, err := tx.Invoices().List(ctx, someone, store.ChargeFilter{Customer: "a"}, aPage)
		return list, err
	}),
	reading("links of a filter", func(ctx context.Context, tx *store.Tx) (any, error) {
		closed := false
		return tx.PaymentLinks().Select(ctx, someone, store.LinkFilter{Open: &closed, From: today, To: today}, aPage)
	}),
	reading("destinations of a filter", func(ctx context.Context, tx *store.Tx) (any, error) {
		usable := true
		return tx.Destinations().Select(ctx, someone, store.DestinationFilter{Currency: "BTC", Family: "bitcoin",
			Usable: &usable, At: []store.WalletAddress{{Family: "bitcoin", Address: bursar.Address{Base: "a"}}}}, aPage)
	}),
	reading("deposits of a wallet's filter", func(ctx context.Context, tx *store.Tx) (any, error) {
		list, _, err := tx.Deposits().Select(ctx, someone, store.DepositFilter{Wallets: []int64{1},
			Status: bursar.DepositConfirmed}, aPage)
		return list, err
	}),
	reading("marks of charges", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Charges().Marks(ctx, []bursar.ID{someone, something})
	}),
	reading("withdrawals of a filter", func(ctx context.Context, tx *store.Tx) (any, error) {
		list, _, err := tx.Withdrawals().Select(ctx, someone, store.WithdrawalFilter{Status: bursar.WithdrawalQueued,
			Currency: "BTC", From: today, To: today}, aPage)
		return list, err
	}),
	reading("withdrawals by hash", func(ctx context.Context, tx *store.Tx) (any, error) {
		list, _, err := tx.Withdrawals().Select(ctx, someone, store.WithdrawalFilter{TxIDs: []string{"a", "b"}}, aPage)
		return list, err
	}),
	reading("withdrawals to an address", func(ctx context.Context, tx *store.Tx) (any, error) {
		list, _, err := tx.Withdrawals().Select(ctx, someone,
			store.WithdrawalFilter{Addresses: []bursar.Address{{Base: "a"}}}, aPage)
		return list, err
	}),
	reading("withdrawals by reference", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Withdrawals().ByReferences(ctx, []store.Referred{{Account: someone, Reference: "a"}})
	}),
	reading("withdrawals of a reference", func(ctx context.Context, tx *store.Tx) (any, error) {
		list, _, err := tx.Withdrawals().Select(ctx, someone, store.WithdrawalFilter{Reference: "a"}, aPage)
		return list, err
	}),
	reading("wallets of a memo", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Wallets().OfMemo(ctx, someone, 7, 10)
	}),
	reading("charges of wallets by number", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Invoices().IDsOfWallets(ctx, []int64{1, 2})
	}),
	reading("a feed", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Feed().Read(ctx, store.FeedQuery{Account: someone, After: 1, Settled: 9, Limit: 10})
	}),
	reading("an event's number", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Feed().NumberOf(ctx, someone, something)
	}),
	reading("newest events", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Feed().Newest(ctx, []bursar.ID{someone, something})
	}),
	reading("settled events", func(ctx context.Context, tx *store.Tx) (any, error) { return tx.Feed().Settled(ctx) }),
	reading("attempts", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Deliveries().AttemptsOf(ctx, []int64{1, 2})
	}),
	reading("keys", func(ctx context.Context, tx *store.Tx) (any, error) { return tx.APIKeys().List(ctx, someone) }),
	reading("answers kept", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.IdempotencyKeys().Find(ctx, []store.KeyName{{Account: someone, Name: "a"}})
	}),
	reading("ledger", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Statements().List(ctx, store.LineQuery{Accounts: customers}, aPage)
	}),
	reading("archived sums", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Checkpoints().SumsOfAccounts(ctx, customers...)
	}),
	reading("newest checkpoint",
		func(ctx context.Context, tx *store.Tx) (any, error) { return tx.Checkpoints().Newest(ctx) }),
	reading("statement of a day", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Statements().After(ctx, store.LineQuery{Accounts: customers, Asset: "BTC",
			Kind: ledger.KindDeposit, Since: today, Until: today.Add(24 * time.Hour)}, 0, 100)
	}),
}
