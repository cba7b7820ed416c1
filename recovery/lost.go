package recovery

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// Lost returns a UTXO or a nonce whose loss proves, by the blocks up to a final height, that no version of an outgoing
// transaction can be included, or "" if one of them still may be. It must not be in a block.
func Lost(
	ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, versions []store.Version, final uint64,
) (string, error) {
	if len(versions) == 0 {
		return "", nil
	}
	lost, err := tx.Reservations().Lost(ctx, p.ID, final)
	if err == nil && len(lost) == 0 && p.Error != "" {
		lost, err = lostToOthers(ctx, tx, p, versions[0], final)
	}
	if err != nil || len(lost) == 0 {
		return "", err
	}
	for _, v := range versions {
		used, err := usedBy(v)
		if err != nil {
			return "", err
		}
		if !intersect(used, lost) {
			return "", nil
		}
	}
	return lost[0], nil
}

// lostToOthers returns what a version of an outgoing transaction needs, and what others have used by a final height, or
// what never exists because the transaction that would make it is over, although it was never the outgoing
// transaction's own: one that was signed again after its database was restored may need what another version of it, or
// an external spend, has used in a block before. A node refuses such a transaction, so only those are looked up that
// could not go on.
func lostToOthers(
	ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, v store.Version, final uint64,
) ([]string, error) {
	used, err := usedBy(v)
	if err != nil || len(used) == 0 {
		return nil, err
	}
	lost, err := tx.Reservations().UsedByOthers(ctx, p, used, final)
	if err != nil || len(lost) > 0 {
		return lost, err
	}
	never, ended, err := tx.Reservations().Unmade(ctx, p.Chain, used, final)
	return append(never, slices.Sorted(maps.Keys(ended))...), err
}

// usedBy returns what a version of an outgoing transaction uses.
func usedBy(v store.Version) ([]string, error) {
	var unsigned chain.UnsignedTx
	if err := unmarshal(v.Unsigned, &unsigned); err != nil {
		return nil, fmt.Errorf("read the unsigned transaction of %s: %w", v.TxID, err)
	}
	return unsigned.Reservations, nil
}

func intersect(a, b []string) bool {
	return slices.ContainsFunc(a, func(one string) bool { return slices.Contains(b, one) })
}
