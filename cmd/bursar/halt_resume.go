package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/store"
)

// resume ends the halts of a scope that are of some kinds, and reports what else halts it.
func (c *call) resume(ctx context.Context, scope store.HaltScope, e end, kinds ...store.HaltKind) error {
	db, cfg, err := c.database(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	var before, left []store.Halt
	err = db.Do(ctx, func(tx *store.Tx) error {
		if before, err = tx.Halts().Of(ctx, scope); err != nil {
			return err
		}
		if err := endKinds(ctx, tx, scope, e, kinds); err != nil {
			return err
		}
		left, err = tx.Halts().Of(ctx, scope)
		return err
	})
	if err != nil {
		return err
	}
	c.haltSigner(ctx, cfg, db)
	return c.sayResumed(scope, before, left)
}

func endKinds(ctx context.Context, tx *store.Tx, scope store.HaltScope, e end, kinds []store.HaltKind) error {
	if len(e.Halt) > 0 { // what has no ref is not meant
		if !slices.Contains(kinds, store.HaltByOperator) {
			return wrong("--halt names an operator's halt, and none is lifted")
		}
		kinds = []store.HaltKind{store.HaltByOperator}
	}
	for _, kind := range kinds {
		if err := nothingUnsettled(ctx, tx, scope, kind); err != nil {
			return err
		}
		if err := closeShort(ctx, tx, scope, kind); err != nil {
			return err
		}
		if err := endKind(ctx, tx, scope, e, kind); err != nil {
			return err
		}
	}
	return nil
}

// endKind ends the halts of a kind; of an operator's those that are chosen.
func endKind(ctx context.Context, tx *store.Tx, scope store.HaltScope, e end, kind store.HaltKind) error {
	ended := []store.Halt{{}} // all of the kind
	if kind == store.HaltByOperator {
		halts, err := tx.Halts().Of(ctx, scope)
		if err != nil {
			return err
		}
		if ended, err = e.chosen(halts); err != nil {
			return err
		}
	}
	for _, h := range ended {
		if _, err := tx.Halts().End(ctx, store.Halt{
			Number: h.Number,
			Scope:  scope,
			Kind:   kind,
			Reason: e.Reason,
			Actor:  e.Name(),
		}); err != nil {
			return err
		}
	}
	return nil
}

// closeShort closes the alarms of the payments and sweeps whose halts end: an operator has investigated what was not
// delivered.
func closeShort(ctx context.Context, tx *store.Tx, scope store.HaltScope, kind store.HaltKind) error {
	if kind != store.HaltByShortPayout {
		return nil
	}
	halts, err := tx.Halts().Of(ctx, scope)
	for _, h := range halts {
		if h.Kind != kind {
			continue
		}
		if err := tx.Alarms().Resolve(ctx, outgoing.AlarmShort, h.Ref); err != nil {
			return err
		}
	}
	return err
}

// nothingUnsettled refuses to end a halt of an external spend while another is not settled: it may have been recorded
// after the others were shown and settled. The chain stays locked, so that no further one is recorded before the halt
// ends.
func nothingUnsettled(ctx context.Context, tx *store.Tx, scope store.HaltScope, kind store.HaltKind) error {
	name, is := strings.CutPrefix(string(scope), "chain:")
	if !is || kind != store.HaltByExternalSpend {
		return nil
	}
	if _, err := tx.Chains().Lock(ctx, bursar.ChainID(name)); err != nil {
		return err
	}
	left, err := tx.ExternalSpends().List(ctx, bursar.ChainID(name), store.ExternalHalted, maxAlarms)
	if i := slices.IndexFunc(left, func(x store.ExternalSpend) bool { return x.Height > 0 }); err == nil && i >= 0 {
		err = fmt.Errorf("external spend %s was found in the meantime and is not settled; see it with `bursar chain "+
			"resume %s`",
			left[i].TxID, name)
	}
	return err
}
