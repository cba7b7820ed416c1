package consoletest

import (
	"context"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// The objects that have pages of their own.
var (
	Wallet = bursar.ID{0x01, 0x93, 0xa6, 0xa0, 4}
	Charge = bursar.ID{0x01, 0x93, 0xa6, 0xa0, 8}
)

// addCharge adds a charge that adds up, of which a part is in a block.
func addCharge(ctx context.Context, tx *store.Tx) error {
	to := bursar.Wallet{Number: 3, ID: bursar.ID{0x01, 0x93, 0xa6, 0xa0, 9}, AccountID: Shop, Currency: "BTC",
		Family: "bitcoin", Address: bursar.Address{Base: "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"},
		Webhook: "https://shop.example/bursar", CreatedAt: Now.Add(-30 * time.Minute)}
	made := Now.Add(-30 * time.Minute)
	rate, err := bursar.ParseRate("1")
	if err != nil {
		return err
	}
	d := bursar.InvoiceDetail{Invoice: bursar.Invoice{
		Number:      2,
		ID:          Charge,
		AccountID:   Shop,
		Token:       bursar.ID{0x0f, 1},
		Reference:   "order-4711",
		Request:     []byte{1},
		Unit:        bursar.Unit{Code: "BTC", Decimals: 8, Places: 8},
		Required:    bursar.Units(25_000_000),
		Late:        bursar.HandlingReview,
		Other:       bursar.HandlingReview,
		Description: "A bicycle, blue",
		Customer:    "customer-88",
		Webhook:     to.Webhook,
		Metadata:    Written,
		Contact:     "help@shop.example",
		CreatedAt:   made,
		Expires:     made.Add(time.Hour),
		Recorded: bursar.InvoiceRecord{Version: 3, Status: bursar.ChargeOpen,
			TurnsAt: made.Add(time.Hour)},
	}, Options: []bursar.InvoiceOption{
		{Currency: "BTC", Wallet: to.Number, Quotes: []bursar.Quote{{Rate: rate, At: made}}},
	}}
	if err := tx.Wallets().Insert(ctx, []bursar.Wallet{to}); err != nil {
		return err
	}
	if err := tx.Invoices().Insert(ctx, d); err != nil {
		return err
	}
	paid := bursar.Deposit{
		ID:        bursar.ID{0x01, 0x93, 0xa6, 0xa0, 10},
		Purpose:   bursar.ForInvoice,
		AccountID: Shop,
		WalletID:  to.ID,
		Currency:  "BTC",
		Chain:     bursar.Bitcoin,
		TxID:      strings.Repeat("6b", 32),
		Address:   to.Address,
		Amount:    bursar.Units(10_000_000),
		Height:    905,
		BlockHash: strings.Repeat("00", 32),
		Required:  3,
		SeenAt:    Now.Add(-12 * time.Minute),
	}
	if _, _, err := tx.Deposits().Record(ctx, store.NewDeposit{Wallet: to.Number, Deposit: paid}); err != nil {
		return err
	}
	return tx.Invoices().Pay(ctx, []bursar.Payment{{Deposit: paid, Origin: bursar.PaidAsAsked, Decimals: 8, Places: 8,
		Rate: rate}},
		[]int64{d.Number})
}

// addUnattributed adds value at the hot wallet that nobody announced.
func addUnattributed(ctx context.Context, tx *store.Tx) error {
	d := bursar.Deposit{
		ID:        bursar.ID{0x01, 0x93, 0xa6, 0xa0, 11},
		Purpose:   bursar.ForUnattributed,
		Currency:  "BTC",
		Chain:     bursar.Bitcoin,
		TxID:      strings.Repeat("7c", 32),
		Address:   bursar.Address{Base: "bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3"},
		Amount:    bursar.Units(3_700_000),
		Height:    899,
		BlockHash: strings.Repeat("00", 32),
		SeenAt:    Now.Add(-2 * time.Hour),
	}
	return addCredited(ctx, tx, d)
}
