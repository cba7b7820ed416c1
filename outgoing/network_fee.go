package outgoing

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// bookFee books the network fee, once for each time that the transaction became final.
func bookFee(ctx context.Context, tx *store.Tx, registry *bursar.Registry, p bursar.OutgoingTx) error {
	fee, is, err := feeOf(ctx, tx, registry, p)
	if err != nil || !is {
		return err
	}
	return tx.Ledger().Post(ctx, ledger.NetworkFee(fee.ref, fee.reversals, fee.currency, p.Fee, tx.Now()))
}

// reverseFee undoes bookFee for a transaction whose final block is reorged out.
func reverseFee(ctx context.Context, tx *store.Tx, registry *bursar.Registry, p bursar.OutgoingTx) error {
	fee, is, err := feeOf(ctx, tx, registry, p)
	if err != nil || !is {
		return err
	}
	return tx.Ledger().Post(ctx, ledger.NetworkFeeReversed(fee.ref, fee.reversals+1, fee.currency, p.Fee, tx.Now()))
}

// networkFee says how the network fee of a transaction is named in the books.
type networkFee struct {
	ref       string
	reversals int // how often it was reversed
	currency  bursar.CurrencyCode
}

// feeOf returns how a transaction's network fee is named in the books, and whether it has one.
func feeOf(
	ctx context.Context, tx *store.Tx, registry *bursar.Registry, p bursar.OutgoingTx,
) (fee networkFee, is bool, err error) {
	if p.Fee.IsZero() {
		return fee, false, nil
	}
	native, err := registry.Native(p.Chain)
	if err != nil {
		return fee, false, err
	}
	fee = networkFee{ref: ledger.FeeRef(p.Chain, p.TxID), currency: native.Code}
	fee.reversals, err = tx.Ledger().ReversalNumber(ctx, ledger.KindFeeReversed, fee.ref)
	return fee, true, err
}
