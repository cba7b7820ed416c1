package reconcile

import (
	"context"
	"errors"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// ColdOpen is the kind of alarm about a cold wallet from which somebody can pay past the keys that the configuration
// names: a key, a permission or a contract that was forgotten, or put there by a thief.
const ColdOpen = "cold_wallet_open"

// OtherWays asks a chain's node who else may pay from a cold wallet; nil where a chain has only the keys of the
// wallet's kind.
func OtherWays(ctx context.Context, c chain.Chain, w bursar.ColdWallet) ([]string, error) {
	keys, asks := c.(chain.ColdKeys)
	if !asks {
		return nil, nil
	}
	return keys.OtherWays(ctx, w)
}

// checkColdKeys raises an alarm for each cold wallet that has another way out, and closes it once there is none. If a
// node does not answer for one wallet, the alarm of that wallet stays as it is, and the others are still checked.
func (k *Keep) checkColdKeys(ctx context.Context) error {
	var failed []error
	id := k.Reconciler.Chain.Capabilities().ID
	for _, w := range k.Cold {
		ways, err := OtherWays(ctx, k.Reconciler.Chain, w)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		ref := string(id) + "/" + w.Name
		failed = append(failed, k.Reconciler.DB.Do(ctx, func(tx *store.Tx) error {
			if len(ways) == 0 {
				return tx.Alarms().Resolve(ctx, ColdOpen, ref)
			}
			return tx.Alarms().Raise(ctx, store.Alarm{Chain: id, Kind: ColdOpen, Ref: ref,
				Message: "cold wallet " + w.Name + " of " + string(id) + ": " + strings.Join(ways, "; ")})
		}))
	}
	return errors.Join(failed...)
}
