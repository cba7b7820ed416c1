package recovery

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/unattributed"
)

// recognised gives a transaction that was recognised in a block, before it could be put back, what the journal knows of
// it: its bytes, and what it pays.
func (a Assessor) recognised(ctx context.Context, tx *store.Tx, f store.ForgottenPayment, c content,
	unsigned chain.UnsignedTx, signed chain.SignedTx) error {
	if err := a.giveBytes(ctx, tx, f.KnownAs, c, unsigned, signed); err != nil {
		return err
	}
	if err := a.explainByJournal(ctx, tx, f.KnownAs, c); err != nil {
		return err
	}
	if err := errors.Join(a.payByJournal(ctx, tx, f, c), a.explainNothing(ctx, tx, f.KnownAs)); err != nil {
		return err
	}
	if err := a.endUnsigned(ctx, tx, f, unsigned); err != nil {
		return err
	}
	return tx.ForgottenPayments().PutBack(ctx, f)
}

// endUnsigned ends the outgoing transaction that an older database still has as unsigned, where it is the one that was
// recognised in a block: on a chain without nonces the block shows nothing that the two share, and the recognised one
// has taken over what it pays. One that still has payments to make stays until it is known what the other one paid.
func (a Assessor) endUnsigned(
	ctx context.Context, tx *store.Tx, f store.ForgottenPayment, unsigned chain.UnsignedTx,
) error {
	p, err := tx.Outgoing().Lock(ctx, f.OutgoingID)
	if err != nil {
		return store.IgnoreNotFound(err)
	}
	var reserved chain.UnsignedTx
	if err := unmarshal(p.Unsigned, &reserved); err != nil {
		return fmt.Errorf("read the unsigned transaction of %s: %w", p.ID, err)
	}
	switch {
	case p.Status == bursar.OutgoingNew && p.Kind == string(chain.KindWithdrawal): // others end if nothing needs them
	case p.Status == bursar.OutgoingReserved && bytes.Equal(reserved.Bytes, unsigned.Bytes):
	default:
		return nil
	}
	paid, err := tx.Outgoing().OrdersPaid(ctx, p.ID)
	if err != nil || len(paid) > 0 {
		return err
	}
	return a.giveUp(ctx, tx, p.ID, chain.ExternalSpend{Reservations: unsigned.Reservations})
}

// giveBytes stores the bytes of a transaction that was recognised in a block and whose bytes were unknown: if its block
// is reorged out, it can be sent again. A transaction without reservations of everything that it uses exists beside
// another one of ours that may have them, and is left unchanged.
func (a Assessor) giveBytes(
	ctx context.Context, tx *store.Tx, id bursar.ID, c content, unsigned chain.UnsignedTx, signed chain.SignedTx,
) error {
	p, err := tx.Outgoing().Lock(ctx, id)
	if err != nil {
		return err
	}
	versions, err := tx.Outgoing().Versions(ctx, id)
	if err != nil || !slices.ContainsFunc(versions, func(v store.Version) bool {
		return v.TxID == signed.TxID && len(v.Raw) == 0
	}) {
		return err
	}
	owners, err := tx.Reservations().Owners(ctx, p.Chain, unsigned.Reservations)
	if err != nil || slices.ContainsFunc(unsigned.Reservations, func(resource string) bool {
		return owners[resource] != id
	}) {
		return err
	}
	if err := tx.Outgoing().GiveBytes(ctx, p.Chain,
		store.Version{TxID: signed.TxID, Unsigned: c.Unsigned, Raw: signed.Raw}); err != nil {
		return err
	}
	if p.Status != bursar.OutgoingSent || p.TxID != signed.TxID {
		return nil // its unsigned transaction is the one that it was settled by
	}
	p.Unsigned = c.Unsigned
	return tx.Outgoing().SetStatus(ctx, p, p.Status)
}

// payByJournal makes a transaction that was recognised in a block in which it paid nobody, because it failed or a token
// moved nothing, one that pays what its entry in the journal says: its block may be reorged out, and it may pay in
// another one. Where another transaction makes the payments, it is left unchanged.
func (a Assessor) payByJournal(ctx context.Context, tx *store.Tx, f store.ForgottenPayment, c content) error {
	p, err := tx.Outgoing().Lock(ctx, f.KnownAs)
	if err != nil || p.Status != bursar.OutgoingSent || p.Kind != c.Kind || c.Kind != string(chain.KindWithdrawal) {
		return err
	}
	var is, journaled chain.TxRequest
	if err := errors.Join(unmarshal(p.Request, &is), unmarshal(c.Request, &journaled)); err != nil {
		return fmt.Errorf("read the request of forgotten transaction %s: %w", f.OutgoingID, err)
	}
	if len(is.Payments) > 0 {
		return nil
	}
	payees, err := a.payees(ctx, tx, f, c)
	if errors.Is(err, errPaidElse) || err == nil && len(payees.missing) > 0 {
		return nil
	}
	if err != nil {
		return err
	}
	journaled.ID = p.ID
	text, err := json.Marshal(journaled)
	if err != nil {
		return fmt.Errorf("encode transaction request: %w", err)
	}
	if err := tx.Outgoing().SetRequest(ctx, p.ID, text); err != nil {
		return err
	}
	if p.Height > 0 && !p.Failed { // this block proves that nothing moved; another one is read again
		if err := tx.Outgoing().SetDelivered(ctx, p.ID, []byte("[]")); err != nil {
			return err
		}
	}
	for _, w := range payees.withdrawals {
		if err := a.Payouts.Adopted(ctx, tx, w.ID, p); err != nil {
			return err
		}
	}
	if payees.refund.ID.IsZero() {
		return nil
	}
	return unattributed.Adopted(ctx, tx, payees.refund.DepositID, p)
}

// explainByJournal says of a transaction that was recognised in a block, and of which it was unclear what it paid, that
// it paid the withdrawals or the refund of its entry in the journal, also where somebody changed a destination in the
// database since. Where an amount is another, the currency is not configured any more, or anything else does not fit,
// it stays unclear, and an operator has to say what it paid.
func (a Assessor) explainByJournal(ctx context.Context, tx *store.Tx, id bursar.ID, c content) error {
	x, err := tx.ExternalSpends().Behind(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	switch {
	case err != nil || len(c.pays()) == 0 || x.Status == store.ExternalHalted:
		return err
	case x.Status != store.ExternalUnclear:
		return a.amendByJournal(ctx, tx, x, c)
	}
	p, err := tx.Outgoing().Lock(ctx, id)
	if err != nil {
		return err
	}
	left, err := Unexplained(ctx, tx, a.Registry, p)
	if err != nil {
		return err
	}
	answer := Answer{Item: x.Number, Actor: "journal", Note: "the journal says that it was signed for this"}
	for _, j := range c.pays() {
		at := slices.IndexFunc(left, func(paid chain.Payment) bool { return a.isFor(paid, j) })
		if due, err := a.due(ctx, tx, j); err != nil || !due || at < 0 {
			return err
		}
		left = slices.Delete(left, at, at+1)
		if j.Deposit.IsZero() {
			answer.Withdrawals = append(answer.Withdrawals, j.ID)
		}
	}
	switch {
	case slices.ContainsFunc(left, a.toOther) || len(left) > 0 && !IsTaken(x):
		return nil
	case len(left) > 0:
		answer.Rest = store.UsedForOperator // it came back, and is a deposit of the operator's, or it was the fee
	}
	if err := a.answersJournal(ctx, tx, x, answer); errors.Is(err, ErrUnfit) {
		return nil // another entry names other withdrawals
	}
	if c.Refund != nil {
		if err := a.adoptRefund(ctx, tx, c.Refund.Deposit, p); err != nil {
			return err
		}
	}
	return a.Resolve(ctx, tx, answer)
}

// explainNothing says of a transaction that was unclear because it succeeded and moved nothing that it is ours: the
// journal has these very bytes.
func (a Assessor) explainNothing(ctx context.Context, tx *store.Tx, id bursar.ID) error {
	x, err := tx.ExternalSpends().Behind(ctx, id)
	if err != nil || x.Status != store.ExternalUnclear || IsTaken(x) {
		return store.IgnoreNotFound(err)
	}
	spent := chain.ExternalSpend{Base: x.Base, Failed: x.Failed}
	if err := unmarshal(x.Payments, &spent.Payments); err != nil {
		return fmt.Errorf("read what external spend %s paid: %w", x.TxID, err)
	}
	if len(a.toOthers(spent)) > 0 || a.movesToOurs(spent) {
		return nil
	}
	x.Status, x.Reason = store.ExternalAdopted, "the journal has it"
	if err := tx.ExternalSpends().Set(ctx, x); err != nil {
		return err
	}
	return tx.Alarms().Resolve(ctx, AlarmUnclear, x.TxID)
}

// due reports whether a withdrawal or refund of the journal waits in the database with the amount that it was signed
// for, in a currency that is configured, and nothing is reserved or signed for it.
func (a Assessor) due(ctx context.Context, tx *store.Tx, j journaled) (bool, error) {
	if _, err := a.Registry.Get(j.Currency); err != nil {
		return false, nil
	}
	var by bursar.ID
	if j.Deposit.IsZero() {
		w, err := tx.Withdrawals().Lock(ctx, j.ID)
		if err != nil || !w.CompletedAt.IsZero() || w.Currency != j.Currency || w.Amount != j.Amount {
			return false, store.IgnoreNotFound(err)
		}
		by = w.OutgoingID
	} else {
		n, err := tx.Resolutions().Standing(ctx, j.Deposit)
		if err != nil || !isRefund(n, j) || n.Status != bursar.ResolutionQueued || n.Currency != j.Currency ||
			n.Amount != j.Amount {
			return false, store.IgnoreNotFound(err)
		}
		by = n.OutgoingID
	}
	if by.IsZero() {
		return true, nil
	}
	p, err := tx.Outgoing().Get(ctx, by)
	return p.Status == bursar.OutgoingNew, err
}

// adoptRefund lets a transaction pay the refund of a deposit that is due, in place of another one that is not built
// yet.
func (a Assessor) adoptRefund(ctx context.Context, tx *store.Tx, deposit bursar.ID, p bursar.OutgoingTx) error {
	n, err := tx.Resolutions().Standing(ctx, deposit)
	if err != nil {
		return err
	}
	if !n.OutgoingID.IsZero() {
		if err := a.giveUp(ctx, tx, n.OutgoingID, chain.ExternalSpend{}); err != nil {
			return err
		}
	}
	return unattributed.Adopted(ctx, tx, deposit, p)
}
