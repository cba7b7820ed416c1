// Package recovery recognises what is missing from a database: transactions of ours that are on the chain and that this
// copy of the database, restored from a backup or promoted after an asynchronous failover, does not know.
//
// It owns external spends: what each of them was, whether by the books or by an operator's explanation. It never signs,
// sends or credits anything. Its invariants: an external spend is adopted only if every payment of it to others was due
// in this database, to the unit; each payment is matched to one withdrawal, and each withdrawal to one payment; an
// adopted transaction is settled by the ordinary path once it is final, and unsettled by it after a reorg.
package recovery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// Assessor assesses the external spends of one chain.
type Assessor struct {
	Capabilities chain.Capabilities
	Registry     *bursar.Registry
	IDs          *bursar.IDs
	Hot          chain.Source   // the hot wallet: withdrawals are paid from it, and it receives sweeps and change
	Old          []chain.Source // the hot wallets of earlier epochs
	Payouts      Payouts
}

// Payouts changes the status of withdrawals, in the transaction of the caller. withdrawal.Payouts implements it.
type Payouts interface {
	// Adopted records that a transaction which was found on the chain pays a withdrawal.
	Adopted(ctx context.Context, tx *store.Tx, withdrawal bursar.ID, by bursar.OutgoingTx) error
	// SignedAgain records that a transaction whose signature was forgotten pays a withdrawal.
	SignedAgain(ctx context.Context, tx *store.Tx, withdrawal bursar.ID, by bursar.OutgoingTx) error
	// Confirm books withdrawals that a final transaction paid.
	Confirm(ctx context.Context, tx *store.Tx, paid []bursar.Withdrawal, by bursar.ID) error
}

// Verdict is the assessment of an external spend.
type Verdict string

// The verdicts.
const (
	Adopted    Verdict = "adopted"  // it is one of ours, and now an outgoing transaction of the database
	Unclear    Verdict = "unclear"  // it is an outgoing transaction of the database whose payments are unknown
	ExternalTx Verdict = "external" // it is not ours: a key may be compromised
)

// Finding is a verdict with its reason, and the outgoing transaction that the external spend has become; zero if it is
// not ours.
type Finding struct {
	Verdict    Verdict
	OutgoingID bursar.ID
	Reason     string // for operators
	ByNonce    bool   // adopted because a transaction of ours was to use up its nonce: it need not be ours
}

// Assess assesses an external spend, and adopts it if possible, in the transaction that records its block. A
// transaction that makes exactly the payments due in this database is always adopted. forgot says that the database is,
// or may be, older than the chain: then sweeps, gas top-ups and failed transactions are adopted by their shape, and
// anything else is unclear, also what succeeded and moved nothing. One with a nonce that was lost, and that a
// transaction of ours was to use up, is adopted by its shape even so, and by nothing else. One that gives code control
// of an address of ours is none of ours, whatever else it does. An external spend that has halted the chain before, and
// is included again after a reorg, keeps its verdict: an operator settles it.
func (a Assessor) Assess(
	ctx context.Context, tx *store.Tx, b chain.Block, x chain.ExternalSpend, forgot bool,
) (Finding, error) {
	known, err := tx.ExternalSpends().ByTx(ctx, a.Capabilities.ID, x.TxID)
	if store.IgnoreNotFound(err) != nil {
		return Finding{}, err
	}
	found := Finding{Verdict: ExternalTx, Reason: known.Reason}
	switch err = nil; {
	case x.Delegates: // before anything that it pays, or the nonce that it uses, makes it look like one of ours
		found.Reason = "it has an authorization by which code controls an address of ours, and no transaction of ours has one"
	case known.Status != store.ExternalHalted:
		found, err = a.assess(ctx, tx, b, x, forgot)
	}
	if err != nil {
		return found, fmt.Errorf("assess external spend %s: %w", x.TxID, err)
	}
	return found, a.remember(ctx, tx, b, x, found)
}

func (a Assessor) assess(
	ctx context.Context, tx *store.Tx, b chain.Block, x chain.ExternalSpend, forgot bool,
) (Finding, error) {
	version, err := a.versionOf(ctx, tx, x)
	if err != nil || !version.ID.IsZero() {
		return Finding{Verdict: Adopted, OutgoingID: version.ID, Reason: "it is another version of an outgoing transaction"},
			errors.Join(err, a.adoptVersion(ctx, tx, b, x, version))
	}
	f, err := a.fit(ctx, tx, b, x)
	switch {
	case err != nil:
		return Finding{}, err
	case len(f.wants) > 0:
		id, err := a.adopt(ctx, tx, b, x, a.payment(x, f.wants))
		return Finding{Verdict: Adopted, OutgoingID: id, Reason: "it pays " + names(f.wants)}, err
	case f.later:
		id, err := a.adopt(ctx, tx, b, x, a.payment(x, nil))
		return Finding{Verdict: Unclear, OutgoingID: id, Reason: f.why}, err
	}
	lost := forgot
	if !lost {
		lost, err = usesLost(ctx, tx, a.Capabilities.ID, x)
	}
	if err == nil && !lost {
		lost, err = a.usesForgotten(ctx, tx, x)
	}
	if err != nil || !lost {
		return Finding{Verdict: ExternalTx, Reason: f.why}, err
	}
	made, shaped, err := a.shape(ctx, tx, x)
	if err != nil {
		return Finding{}, err
	}
	if shaped && !a.movesToOurs(x) {
		shaped, f.why = false, movedNothing
	}
	if !forgot && !shaped { // a thief who has the key uses exactly that nonce
		return Finding{Verdict: ExternalTx, Reason: f.why}, nil
	}
	id, err := a.adopt(ctx, tx, b, x, made)
	if shaped {
		return Finding{Verdict: Adopted, OutgoingID: id, ByNonce: !forgot, Reason: "it has the shape of a " +
			strings.ReplaceAll(string(made.request.Kind), "_", " ") + " of ours"}, err
	}
	return Finding{Verdict: Unclear, OutgoingID: id, Reason: f.why}, err
}

const movedNothing = "it succeeded and moved nothing: it may let somebody else take what the address holds, or " +
	"control it"

// remember stores the external spend with its contents.
func (a Assessor) remember(
	ctx context.Context, tx *store.Tx, b chain.Block, x chain.ExternalSpend, found Finding,
) error {
	resources, err := json.Marshal(x.Reservations)
	if err != nil {
		return err
	}
	payments, err := json.Marshal(x.Payments)
	if err != nil {
		return err
	}
	status := map[Verdict]store.ExternalStatus{Adopted: store.ExternalAdopted, Unclear: store.ExternalUnclear,
		ExternalTx: store.ExternalHalted}[found.Verdict]
	return tx.ExternalSpends().Put(ctx, store.ExternalSpend{
		Chain:        a.Capabilities.ID,
		TxID:         x.TxID,
		Base:         x.Base,
		Height:       b.Ref.Height,
		MadeAt:       b.Time,
		Failed:       x.Failed,
		Fee:          x.Fee,
		Reservations: resources,
		Payments:     payments,
		LastHeight:   x.LastHeight,
		OutgoingID:   found.OutgoingID,
		Status:       status,
		Reason:       found.Reason,
	})
}

// toOthers returns the payments of an external spend except the change to the paying side.
func (a Assessor) toOthers(x chain.ExternalSpend) []chain.Payment {
	return slices.DeleteFunc(slices.Clone(x.Payments), func(p chain.Payment) bool { return !a.toOther(p) })
}

// toOther reports whether a payment is to somebody else: not to a hot wallet, and not the rest of what a transaction
// took, which has no address.
func (a Assessor) toOther(p chain.Payment) bool {
	_, ours := a.hotAt(p.Address.Base)
	return !ours && p.Address.Base != ""
}

// paysFromHot reports whether an external spend may pay withdrawals: on the account model only a hot wallet does, of
// whatever epoch it was when it was signed.
func (a Assessor) paysFromHot(x chain.ExternalSpend) bool {
	_, hot := a.hotAt(x.Base)
	return a.Capabilities.Model == chain.UTXOModel || hot
}

// hotAt returns the hot wallet at an address, of whatever epoch, and whether it is one; otherwise the present one.
func (a Assessor) hotAt(base string) (hot chain.Source, is bool) {
	if old, is := a.oldAt(base); is {
		return old, true
	}
	return a.Hot, base == a.Hot.Base
}

// oldAt returns the hot wallet of an earlier epoch at an address.
func (a Assessor) oldAt(base string) (old chain.Source, is bool) {
	i := slices.IndexFunc(a.Old, func(one chain.Source) bool { return one.Base == base })
	if i < 0 {
		return old, false
	}
	return a.Old[i], true
}

// home returns the hot wallet to which a transaction of the UTXO model returned what it did not pay.
func (a Assessor) home(x chain.ExternalSpend) chain.Source {
	for _, p := range x.Payments {
		if hot, is := a.hotAt(p.Address.Base); is {
			return hot
		}
	}
	return a.Hot
}

func names(wants []want) string {
	list := make([]string, len(wants))
	for i, w := range wants {
		list[i] = w.name()
	}
	return strings.Join(list, ", ")
}
