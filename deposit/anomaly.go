package deposit

import (
	"context"
	"fmt"
	"strings"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// recordNotes raises one alarm for what an adapter says of blocks as a whole: that one was passed by a second method, or
// that something in it has no explanation. It is one alarm for each chain, with the newest block's text.
func (f *Follower) recordNotes(ctx context.Context, tx *store.Tx, b chain.Block) error {
	var notes []string
	for _, o := range b.Anomalies {
		if o.Contract == "" {
			notes = append(notes, o.What)
		}
	}
	if len(notes) == 0 {
		return nil
	}
	id := f.Chain.Capabilities().ID
	f.Log.Warn("a block was recorded with an anomaly", "chain", id, "height", b.Ref.Height, "hash", b.Ref.Hash, "what", notes)
	return tx.Alarms().Raise(ctx, store.Alarm{Chain: id, Kind: "block_anomaly", Ref: string(id),
		Message: fmt.Sprintf("block %d: %s", b.Ref.Height, strings.Join(notes, "; "))})
}
