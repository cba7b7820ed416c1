package recovery

import (
	"context"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// OnceFill is the prefix of the Once of an outgoing transaction that uses up a nonce which is lost: it makes void
// whatever was signed with that nonce, and is not known. The nonce's reservation follows, and the transaction's own ID.
const OnceFill = OnceVoid + store.PurposeFill

// AlarmNonceLost is about a nonce that a transaction of ours had which is in no block and not known any more, although
// one with a higher nonce is. Its ref is the nonce's reservation. It ends when the nonce is used.
const AlarmNonceLost = "nonce_lost"

// Fills returns the reservation of the lost nonce that an outgoing transaction uses up, and whether it does that.
func Fills(p bursar.OutgoingTx) (resource string, does bool) {
	rest, does := strings.CutPrefix(p.Once, OnceFill)
	return strings.TrimSuffix(rest, "/"+p.ID.String()), does
}

// endFilling frees the nonce that an unsigned transaction was to use up, because a transaction that was lost has it.
func endFilling(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx) error {
	resource, fills := Fills(p)
	if !fills {
		return nil
	}
	if err := tx.Reservations().Free(ctx, p.ID); err != nil {
		return err
	}
	return tx.Alarms().Resolve(ctx, AlarmNonceLost, resource)
}

// usesLost reports whether an external spend has a nonce that was lost, and that a transaction of ours was to use up:
// it may be the one that was lost.
func usesLost(ctx context.Context, tx *store.Tx, id bursar.ChainID, x chain.ExternalSpend) (bool, error) {
	owners, err := tx.Reservations().Owners(ctx, id, x.Reservations)
	for _, owner := range owners {
		p, err := tx.Outgoing().Get(ctx, owner)
		if err != nil {
			return false, err
		}
		if _, fills := Fills(p); fills {
			return true, nil
		}
	}
	return false, err
}

// movesToOurs reports whether an external spend of the shape of ours moves anything, or failed. One of ours does: what
// moves nothing may approve somebody who takes everything later. UTXOs are always moved.
func (a Assessor) movesToOurs(x chain.ExternalSpend) bool {
	if a.Capabilities.Model == chain.UTXOModel {
		return true
	}
	for _, p := range x.Payments {
		if p.Address.Base != x.Base && !p.Amount.IsZero() {
			return true
		}
	}
	return x.Failed
}
