package recovery

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/marks"
	"github.com/bursar/bursar/store"
)

var (
	// errPaysAgain says that another transaction, which was signed and has not ended, makes a payment of the one about to
	// be signed.
	errPaysAgain = errors.New("the withdrawal would be paid twice")
	// errSignedElse says that the transaction was signed before with another nonce or other UTXOs, and that both could be
	// included.
	errSignedElse = errors.New("the journal says that another nonce or other UTXOs were signed for it")
)

// PaidBy returns an outgoing transaction other than spend that was signed, by the journal, that makes one of some
// payments, and that can still be included or was, by the current state of the database; the zero ID if there is none.
// Whatever the database says of the payments, another transaction cannot make them in the meantime.
func (g *Guard) PaidBy(
	ctx context.Context, tx *store.Tx, outgoingTx bursar.OutgoingTx, orders []bursar.ID,
) (bursar.ID, error) {
	pays := make([]string, len(orders))
	for i, id := range orders {
		pays[i] = id.String()
	}
	return paidBy(ctx, tx, g.Kept(), marks.Entry{Chain: string(outgoingTx.Chain), OutgoingID: outgoingTx.ID.String(),
		Pays: pays}, outgoingTx)
}

// paidBy is PaidBy for an entry of the journal. What uses all that the one in the journal uses pays beside it never,
// and one that became this very transaction is no other.
func paidBy(
	ctx context.Context, tx *store.Tx, kept marks.State, e marks.Entry, p bursar.OutgoingTx,
) (bursar.ID, error) {
	var uses chain.UnsignedTx
	if err := unmarshal(p.Unsigned, &uses); err != nil {
		return p.ID, fmt.Errorf("read the unsigned transaction of %s: %w", p.ID, err)
	}
	for _, held := range kept.Journal {
		if held.Chain != e.Chain || held.OutgoingID == e.OutgoingID || !held.Shares(e) {
			continue
		}
		s, err := signedOf(ctx, tx, held)
		if err != nil {
			return s.id, err
		}
		if s.knownAs == p.ID || s.replacedBy(uses.Reservations) {
			continue
		}
		if dead, err := neverIncluded(ctx, tx, kept, s); err != nil || !dead {
			return s.id, err
		}
	}
	return bursar.ID{}, nil
}

// mayFollow refuses an entry that the journal is to take in place of others, if what they stand for may still be
// included beside it: another transaction that makes one of its payments, or an earlier form of it that uses something
// else. The journal would forget those.
func mayFollow(ctx context.Context, tx *store.Tx, kept marks.State, e marks.Entry, p bursar.OutgoingTx) error {
	if other, err := paidBy(ctx, tx, kept, e, p); err != nil || !other.IsZero() {
		return errors.Join(err, fmt.Errorf("%w: outgoing transaction %s pays it", errPaysAgain, other))
	}
	var uses chain.UnsignedTx
	if err := unmarshal(p.Unsigned, &uses); err != nil {
		return fmt.Errorf("read the unsigned transaction of %s: %w", p.ID, err)
	}
	own, err := standing(ctx, tx, kept, p, uses.Reservations)
	if err == nil && len(own) > 0 {
		err = fmt.Errorf("outgoing transaction %s: %w", p.ID, errSignedElse)
	}
	return err
}
