package recovery

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/marks"
	"github.com/bursar/bursar/store"
)

// raiseDatabase raises every number of the database to that of the marks.
func (g *Guard) raiseDatabase(
	ctx context.Context, tx *store.Tx, kept marks.State, gaps map[bursar.Family][]store.GapAddress,
) error {
	if err := tx.Settings().NameDatabase(ctx, g.Name()); err != nil {
		return err
	}
	if err := tx.Counters().Keep(ctx); err != nil {
		return err
	}
	if err := tx.Counters().RaiseBeat(ctx, kept.Beat); err != nil {
		return err
	}
	if err := tx.Settings().SetRestored(ctx, ""); err != nil { // the chains recover: that is stored with them
		return err
	}
	for _, id := range g.Chains {
		if err := tx.Counters().RaiseSigned(ctx, id, kept.Signed[string(id)]); err != nil {
			return err
		}
	}
	for name, end := range kept.Indexes {
		if !isEnd(name) {
			continue
		}
		if err := tx.Counters().RaiseReserved(ctx, bursar.Family(name), end); err != nil {
			return err
		}
	}
	for _, family := range g.Families {
		to := kept.Indexes[string(family)]
		if err := skipTo(ctx, tx, family, to, gaps[family]); err != nil {
			return err
		}
		if err := tx.Counters().RaiseReserved(ctx, family, to); err != nil {
			return err
		}
	}
	return nil
}
