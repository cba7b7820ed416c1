package follow

import (
	"context"
	"fmt"
	"strings"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// recordNotes raises one alarm for what an adapter reports about blocks as a whole: that one was accepted only by a
// second method, or that something in it has no explanation. There is one alarm for each chain, with the newest block's
// text.
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
	f.Log.Warn("block recorded with an anomaly", "chain", id, "height", b.Ref.Height, "hash", b.Ref.Hash,
		"what", notes)
	return tx.Alarms().Raise(ctx, store.Alarm{Chain: id, Kind: "block_anomaly", Ref: string(id),
		Message: fmt.Sprintf("block %d: %s", b.Ref.Height, strings.Join(notes, "; "))})
}

// recordAnomalies raises one alarm for each contract that emitted an event which its standard does not define.
func (f *Follower) recordAnomalies(ctx context.Context, tx *store.Tx, b chain.Block) error {
	if err := f.recordNotes(ctx, tx, b); err != nil {
		return err
	}
	raised := map[string]bool{"": true}
	for _, o := range b.Anomalies {
		if raised[o.Contract] {
			continue
		}
		raised[o.Contract] = true
		id := f.Chain.Capabilities().ID
		f.Log.Warn("unrecognized token event ignored", "chain", id, "contract", o.Contract, "hash", o.TxID, "what",
			o.What)
		err := tx.Alarms().Raise(ctx, store.Alarm{Chain: id, Kind: "unrecognized_event", Ref: string(id) + ":" + o.Contract,
			Message: fmt.Sprintf("contract %s made %s in transaction %s, block %d; nothing was credited for it", o.Contract,
				o.What, o.TxID, b.Ref.Height)})
		if err != nil {
			return err
		}
	}
	return nil
}
