package operator

import (
	"context"
	"fmt"

	"github.com/bursar/bursar/store"
)

// verifyStep is how many rows one transaction reads.
const verifyStep = 500

// Verify reads the log of acts from its first row to its last and compares each with its hash and the one before it. It
// returns the last row. The error names the first row that is wrong.
func Verify(ctx context.Context, db *store.DB) (last store.Act, err error) {
	for {
		before := last.Number
		list, err := actsAfter(ctx, db, before, verifyStep)
		if err != nil {
			return last, err
		}
		if last, err = follows(last, list); err != nil || len(list) < verifyStep {
			return last, err
		}
	}
}

// VerifyFrom is Verify for up to so many rows behind one that counts as right; 0 begins with the first. wrong names the
// first row that is.
func VerifyFrom(ctx context.Context, db *store.DB, after int64, most int) (last store.Act, wrong, err error) {
	if after > 0 {
		list, err := actsAfter(ctx, db, after-1, 1)
		if err != nil {
			return last, nil, err
		}
		if len(list) == 0 || list[0].Number != after {
			return last, fmt.Errorf("row %d of the log of acts is missing", after), nil
		}
		last = list[0]
	}
	for looked := 0; looked < most; looked += verifyStep {
		list, err := actsAfter(ctx, db, last.Number, min(verifyStep, most-looked))
		if err != nil {
			return last, nil, err
		}
		if last, wrong = follows(last, list); wrong != nil || len(list) < verifyStep {
			return last, wrong, nil
		}
	}
	return last, nil, nil
}

func actsAfter(ctx context.Context, db *store.DB, number int64, limit int) (list []store.Act, err error) {
	err = db.View(ctx, func(tx *store.Tx) error {
		list, err = tx.Acts().After(ctx, number, limit)
		return err
	})
	return list, err
}

// follows compares rows with the one before them, and returns the last that is right.
func follows(last store.Act, list []store.Act) (store.Act, error) {
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
	return last, nil
}
