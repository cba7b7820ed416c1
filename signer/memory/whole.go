package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// WholeFrom implements Tx. A memory of a release that did not note whether its seed was new counts as one of a seed
// that was not.
func (tx *sqlTx) WholeFrom(ctx context.Context) (time.Time, error) {
	first, found, err := tx.Entry(ctx, 1)
	if err != nil || !found {
		return time.Time{}, fmt.Errorf("read how the signer's log begins: found %t: %w", found, err)
	}
	var created struct {
		Instance string `json:"instance"`
		New      bool   `json:"new"`
	}
	if err := json.Unmarshal([]byte(first.Detail), &created); err != nil {
		return time.Time{}, fmt.Errorf("read how the signer's log begins: %w", err)
	}
	state, err := tx.State(ctx)
	if err != nil {
		return time.Time{}, err
	}
	if state.Instance != created.Instance {
		again, found, err := tx.entry(ctx, `WHERE kind = ? ORDER BY number DESC LIMIT 1`, KindBegin)
		if err != nil || !found {
			return time.Time{}, fmt.Errorf("read when the signer's state began again: found %t: %w", found, err)
		}
		return again.At, nil
	}
	if created.New {
		return time.Time{}, nil
	}
	return first.At, nil
}

// WholeFrom implements Tx. What ends with its process is for where nothing was signed before it.
func (m ramTx) WholeFrom(context.Context) (time.Time, error) { return time.Time{}, nil }
