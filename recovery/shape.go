package recovery

import (
	"context"
	"errors"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// shape recognises an external spend as one of our own transactions by its shape: a sweep from a deposit address, or
// from the hot wallet of an earlier epoch, to the hot wallet; gas from the hot wallet to a deposit address; change
// alone; or a failed transaction. For anything else it reports false and returns an outgoing transaction without known
// payments. On the UTXO model there are no sweeps: what collects everything is change alone.
func (a Assessor) shape(ctx context.Context, tx *store.Tx, x chain.ExternalSpend) (m made, shaped bool, err error) {
	others := a.toOthers(x)
	m = a.payment(x, nil)
	_, old := a.oldAt(x.Base)
	emptied := old && a.Capabilities.Model == chain.AccountModel && len(others) == 0 && len(x.Payments) > 0
	if !a.paysFromHot(x) || emptied {
		return a.sweep(ctx, tx, x, others)
	}
	if len(others) == 0 {
		return m, true, nil // it moved nothing to others except its fee
	}
	if a.Capabilities.Model == chain.UTXOModel || a.Capabilities.SharedAddress || len(others) != 1 ||
		others[0].Contract != "" {
		return m, false, nil
	}
	to, err := a.depositSource(ctx, tx, others[0].Address.Base)
	if err != nil || to.Base == "" {
		return m, false, err
	}
	m.request.Kind, m.request.Change = chain.KindGasTopUp, to
	return m, true, nil
}

// sweep recognises an external spend as a sweep of the deposit address that paid.
func (a Assessor) sweep(
	ctx context.Context, tx *store.Tx, x chain.ExternalSpend, others []chain.Payment,
) (m made, shaped bool, err error) {
	from, err := a.depositSource(ctx, tx, x.Base)
	if err != nil {
		return m, false, err
	}
	if old, is := a.oldAt(x.Base); is {
		from = old
	}
	m = made{request: chain.TxRequest{Kind: chain.KindSweep, From: from}, currency: a.currency(x)}
	if from.Base == "" { // an address that is not in the database at all
		m.request.From.Base = x.Base
	}
	if len(others) == 0 && len(x.Payments) == 1 {
		m.request.Payments = x.Payments
		return m, from.Base != "", nil
	}
	m.request.Payments = []chain.Payment{{Address: bursar.Address{Base: a.Hot.Base}}}
	if x.Failed {
		return m, from.Base != "", nil
	}
	m.request.Kind, m.request.Payments = chain.KindWithdrawal, others
	return m, false, nil
}

// depositSource returns the key of an issued address; a Source without a base if the address was not issued.
func (a Assessor) depositSource(ctx context.Context, tx *store.Tx, base string) (chain.Source, error) {
	w, err := tx.Wallets().ByAddress(ctx, a.Capabilities.Family, bursar.Address{Base: base})
	if errors.Is(err, store.ErrNotFound) {
		gap, err := tx.GapAddresses().Get(ctx, a.Capabilities.Family, base)
		if err != nil {
			return chain.Source{}, store.IgnoreNotFound(err)
		}
		w.Index = gap.Index
	} else if err != nil {
		return chain.Source{}, err
	}
	return chain.Source{Base: base, Key: chain.KeyRef{Family: a.Capabilities.Family, Branch: chain.DepositBranch,
		Index: w.Index}}, nil
}
