package operator

import (
	"context"
	"fmt"

	"github.com/bursar/bursar/store"
)

// Verify reads the log of acts from its first row to its last and compares each with its hash and the one before it. It
// returns the last row. The error names the first row that is wrong.
func Verify(ctx context.Context, db *store.DB) (last store.Act, err error) {
	const step = 500
	for {
		var list []store.Act
		err := db.View(ctx, func(tx *store.Tx) (err error) {
			list, err = tx.Acts().After(ctx, last.Number, step)
			return err
		})
		if err != nil {
			return last, err
		}
		for _, a := range list {
			switch {
			case a.Number != last.Number+1:
				return last, fmt.Errorf("row %d of the log of acts is missing: the next one is %d", last.Number+1, a.Number)
			case a.Previous != last.Hash:
				return last, fmt.Errorf("row %d of the log of acts does not follow row %d: one of them was changed", a.Number,
					last.Number)
			case a.Sum() != a.Hash:
				return last, fmt.Errorf("row %d of the log of acts was changed: its hash is another", a.Number)
			}
			last = a
		}
		if len(list) < step {
			return last, nil
		}
	}
}
