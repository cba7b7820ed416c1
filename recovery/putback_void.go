package recovery

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// voidedTx is a signed outgoing transaction that another one is to replace, and what both use; zero: there is none.
type voidedTx struct {
	id     bursar.ID
	shared []string
}

// voids returns the signed outgoing transaction that a forgotten one was to replace, and what both use; nothing if
// there is none. A transaction that pays ourselves with the inputs of another one has no other purpose.
func (a Assessor) voids(
	ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, unsigned chain.UnsignedTx,
) (v voidedTx, err error) {
	if p.Kind != string(chain.KindGasTopUp) && p.Kind != string(chain.KindConsolidation) {
		return voidedTx{}, nil
	}
	owners, err := tx.Reservations().Owners(ctx, p.Chain, unsigned.Reservations)
	if err != nil {
		return voidedTx{}, err
	}
	for _, resource := range unsigned.Reservations {
		id, owned := owners[resource]
		if !owned || !v.id.IsZero() && id != v.id {
			continue
		}
		v.id, v.shared = id, append(v.shared, resource)
	}
	if len(v.shared) == 0 {
		return voidedTx{}, nil
	}
	other, err := tx.Outgoing().Get(ctx, v.id)
	if err != nil || other.Status != bursar.OutgoingSigned && other.Status != bursar.OutgoingSent {
		return voidedTx{}, err
	}
	moved, err := tx.Reservations().MovedFrom(ctx, v.id)
	if err != nil || len(moved) > 0 {
		return voidedTx{}, err
	}
	return v, nil
}

// moveBack gives the reservations of the voided transaction to its replacement, as they were when that was signed.
func moveBack(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, v voidedTx) error {
	if len(v.shared) == 0 {
		return nil
	}
	if err := tx.Reservations().Move(ctx, p.Chain, v.id, p.ID, v.shared); err != nil {
		return err
	}
	// Nothing is built on its change any more; if its block is recorded, it is included again.
	return tx.UTXOs().ForgetChange(ctx, v.id)
}

// askWhatItPaid asks an operator to explain the payments of a transaction whose withdrawals are missing from the
// database. It is settled once that is done.
func (a Assessor) askWhatItPaid(
	ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, unsigned chain.UnsignedTx, missing []journaled,
) error {
	var request chain.TxRequest
	if err := json.Unmarshal(p.Request, &request); err != nil {
		return fmt.Errorf("read the request of outgoing transaction %s: %w", p.ID, err)
	}
	resources, err := json.Marshal(unsigned.Reservations)
	if err != nil {
		return err
	}
	payments, err := json.Marshal(request.Payments)
	if err != nil {
		return err
	}
	list := make([]string, len(missing))
	for i, j := range missing {
		list[i] = a.nameUnknown(j)
	}
	why := "its payments are missing from the database: " + strings.Join(list, "; ")
	err = tx.ExternalSpends().Put(ctx, store.ExternalSpend{
		Chain:        p.Chain,
		TxID:         p.TxID,
		Base:         p.Base,
		MadeAt:       tx.Now(),
		Fee:          unsigned.Fee,
		Reservations: resources,
		Payments:     payments,
		OutgoingID:   p.ID,
		Status:       store.ExternalUnclear,
		Reason:       why,
	})
	if err != nil {
		return err
	}
	return tx.Alarms().Raise(ctx, store.Alarm{Chain: p.Chain, Kind: AlarmUnclear, Ref: p.TxID, Message: fmt.Sprintf(
		"transaction %s was signed before the database was restored, and is sent again: %s; explain it with `bursar "+
			"recovery status` and `bursar recovery adopt`",
		p.TxID, why)})
}

// name describes a forgotten withdrawal or refund: "withdrawal … of account …, 0.6 BTC to bc1…".
func (a Assessor) name(j journaled) string {
	paid := fmt.Sprintf("%s to %s", a.Registry.Text(j.Currency, j.Amount), j.Address)
	switch {
	case j.Deposit.IsZero():
		return fmt.Sprintf("withdrawal %s of account %s, %s", j.ID, j.Account, paid)
	case j.Came == "":
		return fmt.Sprintf("refund %s of deposit %s, %s", j.ID, j.Deposit, paid)
	}
	return fmt.Sprintf("refund %s of deposit %s, which came by %s, %s", j.ID, j.Deposit, j.Came, paid)
}

// nameUnknown is name for what the database may lack. The deposit of a refund is then to be kept.
func (a Assessor) nameUnknown(j journaled) string {
	if j.Came == "" {
		return a.name(j)
	}
	return a.name(j) + "; keep that deposit, also under another ID"
}

// ResolveUnpaid closes the question what a transaction paid that can never be included: it has paid nobody.
func ResolveUnpaid(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx) error {
	x, err := tx.ExternalSpends().Behind(ctx, p.ID)
	if err != nil || x.Status != store.ExternalUnclear || x.Height > 0 {
		return store.IgnoreNotFound(err)
	}
	x.Status, x.Reason = store.ExternalSettled, "it can never be included and has paid nobody"
	if err := tx.ExternalSpends().Set(ctx, x); err != nil {
		return err
	}
	return tx.Alarms().Resolve(ctx, AlarmUnclear, x.TxID)
}
