package recovery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// SignAgainInputs returns what is signed again for a forgotten outgoing transaction: the very same request and unsigned
// transaction, and so the very same bytes. The error is store.ErrAltered if the database differs from what was
// recorded.
func SignAgainInputs(f store.ForgottenPayment) (request chain.TxRequest, unsigned chain.UnsignedTx, err error) {
	if f.Altered {
		return request, unsigned, fmt.Errorf("forgotten transaction %s: %w", f.OutgoingID, store.ErrAltered)
	}
	c, err := contentOf(f)
	if err != nil {
		return request, unsigned, err
	}
	if err := json.Unmarshal(c.Request, &request); err != nil {
		return request, unsigned, fmt.Errorf("read the request of forgotten transaction %s: %w", f.OutgoingID, err)
	}
	if err := json.Unmarshal(c.Unsigned, &unsigned); err != nil {
		return request, unsigned, fmt.Errorf("read the unsigned transaction of forgotten transaction %s: %w",
			f.OutgoingID, err)
	}
	if c.Kind == string(chain.KindWithdrawal) && len(c.Withdrawals) == 0 && c.Refund == nil {
		return request, unsigned, fmt.Errorf("forgotten transaction %s pays others, but has no withdrawal or refund",
			f.OutgoingID)
	}
	return request, unsigned, nil
}

// Withdrawals returns the withdrawals that a forgotten outgoing transaction pays, in the sequence of its payments.
func Withdrawals(f store.ForgottenPayment) (ids []bursar.ID, err error) {
	c, err := contentOf(f)
	for _, w := range c.Withdrawals {
		ids = append(ids, w.ID)
	}
	return ids, err
}

func contentOf(f store.ForgottenPayment) (c content, err error) {
	if err := json.Unmarshal(f.Content, &c); err != nil {
		return c, fmt.Errorf("read forgotten transaction %s: %w", f.OutgoingID, err)
	}
	return c, nil
}

// errPaidElse says that another transaction makes the payments of a forgotten one: it is not put back, nor sent.
var errPaidElse = errors.New("what it pays is paid by another transaction")

// PutBack puts a forgotten outgoing transaction back into the database, signed, in a transaction that has locked the
// chain: its reservations and its nonce are used, and it pays what it was made for. The ordinary path carries it on
// from there. Payments of it that are missing from the database are left to an operator. A transaction that is in the
// database by now, or whose payments another transaction makes, is left unchanged. It returns the outcome, for
// operators.
func (a Assessor) PutBack(
	ctx context.Context, tx *store.Tx, f store.ForgottenPayment, signed chain.SignedTx,
) (string, error) {
	c, err := contentOf(f)
	if err != nil {
		return "", err
	}
	_, unsigned, err := SignAgainInputs(f)
	if err != nil {
		return "", err
	}
	p, err := tx.Outgoing().Lock(ctx, f.OutgoingID)
	switch {
	case errors.Is(err, store.ErrNotFound):
		p = bursar.OutgoingTx{
			ID:       f.OutgoingID,
			Chain:    f.Chain,
			Kind:     c.Kind,
			Currency: c.Currency,
			Base:     c.Base,
			Request:  c.Request,
			Share:    c.Share,
		}
	case err != nil:
		return "", err
	case p.Status != bursar.OutgoingNew && p.Status != bursar.OutgoingReserved:
		return "it is known already", putBackAsItself(ctx, tx, f)
	}
	ours, err := tx.Outgoing().SentAmong(ctx, f.Chain, []string{signed.TxID})
	if err != nil {
		return "", err
	}
	if id, recorded := ours[signed.TxID]; recorded {
		f.KnownAs = id
		return "its block has been recorded already", a.recognised(ctx, tx, f, c, unsigned, signed)
	}
	payees, err := a.takePayees(ctx, tx, f, c)
	if errors.Is(err, errPaidElse) {
		return err.Error(), errors.Join(a.alarmPaidElse(ctx, tx, f, c, signed.TxID, err),
			tx.ForgottenPayments().PutBack(ctx, f))
	}
	if err != nil {
		return "", err
	}
	if err := a.restore(ctx, tx, p, c, unsigned, signed); err != nil {
		return "", err
	}
	p.TxID, p.Unsigned = signed.TxID, c.Unsigned
	if err := a.assignPayees(ctx, tx, p, payees); err != nil {
		return "", err
	}
	if len(payees.missing) > 0 {
		if err := a.askWhatItPaid(ctx, tx, p, unsigned, payees.missing); err != nil {
			return "", err
		}
	}
	return "it is put back", errors.Join(tx.Alarms().Resolve(ctx, AlarmNotPutBack, f.OutgoingID.String()),
		putBackAsItself(ctx, tx, f))
}

// putBackAsItself notes that a forgotten transaction is known under its own ID: it was not given up, and whether it is
// over is seen by what becomes of it.
func putBackAsItself(ctx context.Context, tx *store.Tx, f store.ForgottenPayment) error {
	f.KnownAs = f.OutgoingID
	return tx.ForgottenPayments().PutBack(ctx, f)
}

// alarmPaidElse raises the alarm about a transaction that was signed and may have been sent, but is given up.
func (a Assessor) alarmPaidElse(
	ctx context.Context, tx *store.Tx, f store.ForgottenPayment, c content, txID string, why error,
) error {
	return tx.Alarms().Raise(ctx, store.Alarm{
		Chain: f.Chain,
		Kind:  AlarmNotPutBack,
		Ref:   f.OutgoingID.String(),
		Message: fmt.Sprintf(
			"transaction %s was signed before the database was restored, may have been sent, and is not sent again: %v; "+
				"if it is included after all, it pays a second time: %s",
			txID, why, a.paysWhom(c)),
	})
}

// restore records the outgoing transaction with its reservations and its signed bytes.
func (a Assessor) restore(
	ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, c content, unsigned chain.UnsignedTx, signed chain.SignedTx,
) error {
	var voided voidedTx
	switch p.Status {
	case "":
		var err error
		if voided, err = a.voids(ctx, tx, p, unsigned); err != nil {
			return err
		}
		if len(voided.shared) > 0 {
			p.Once = OnceVoid + voided.id.String()
		}
		if _, err := tx.Outgoing().Insert(ctx, p); err != nil {
			return err
		}
	case bursar.OutgoingReserved: // held by an unsigned transaction that may be another one
		if err := a.freeReservations(ctx, tx, p, chain.ExternalSpend{Reservations: unsigned.Reservations}); err != nil {
			return err
		}
	}
	if err := a.takeResources(ctx, tx, p, c, unsigned, voided); err != nil {
		return err
	}
	now, err := tx.Outgoing().Lock(ctx, p.ID)
	if err != nil {
		return err
	}
	if err := storeVersion(ctx, tx, now, c, signed); err != nil {
		return err
	}
	now.Unsigned, now.Error, now.TxID = c.Unsigned, "", signed.TxID
	if now.Status == bursar.OutgoingNew {
		if err := tx.Outgoing().SetStatus(ctx, now, bursar.OutgoingReserved); err != nil {
			return err
		}
		now.Status = bursar.OutgoingReserved
	}
	return tx.Outgoing().SetStatus(ctx, now, bursar.OutgoingSigned)
}

// takeResources gives what a restored outgoing transaction uses back to it, and stores its request.
func (a Assessor) takeResources(
	ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, c content, unsigned chain.UnsignedTx, v voidedTx,
) error {
	used := chain.ExternalSpend{Base: c.Base, Reservations: unsigned.Reservations}
	if err := a.clearConflicts(ctx, tx, used, nil); err != nil {
		return err
	}
	if err := moveBack(ctx, tx, p, v); err != nil {
		return err
	}
	if err := tx.Reservations().Take(ctx, p, unsigned.Reservations); err != nil {
		return err
	}
	if err := a.useNonces(ctx, tx, used); err != nil {
		return err
	}
	if err := tx.Outgoing().SetRequest(ctx, p.ID, c.Request); err != nil {
		return err
	}
	return nil
}

// storeVersion stores the signed bytes of a restored outgoing transaction, and its change.
func storeVersion(
	ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, c content, signed chain.SignedTx,
) error {
	if err := tx.Outgoing().AddVersion(ctx, p,
		store.Version{TxID: signed.TxID, Unsigned: c.Unsigned, Raw: signed.Raw}); err != nil {
		return err
	}
	for _, utxo := range signed.Change {
		change := store.UTXO{Outpoint: utxo.Outpoint, Base: utxo.Source.Base, Branch: utxo.Source.Key.Branch,
			Index:  utxo.Source.Key.Index,
			Amount: utxo.Amount, MadeBy: p.ID}
		if err := tx.UTXOs().Put(ctx, p.Chain, change); err != nil {
			return err
		}
	}
	return nil
}

// OnceVoid is the prefix of the Once of an outgoing transaction that is to replace another one, whose ID follows.
const OnceVoid = "abandon/"
