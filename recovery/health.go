package recovery

import (
	"context"
	"errors"

	"github.com/bursar/bursar/marks"
	"github.com/bursar/bursar/store"
)

// MarksHealth is the state of the marks, for an operator.
type MarksHealth struct {
	Unused bool   // there are no marks, and the database was never used with any: the first start creates them
	Open   int    // payments in the journal
	Others bool   // other marks are used with the database too
	Behind string // why the database is, or may be, older than it was; empty if it is not
}

// CheckHealth compares the database with the marks and changes neither. It may run beside a service. The error is
// marks.ErrMissing or marks.ErrUnusable if the service would not start.
func (g *Guard) CheckHealth(ctx context.Context) (e MarksHealth, err error) {
	kept, missing := g.Keeper.Load(ctx) // read before the database, which is raised before them
	now, err := g.read(ctx)
	if err != nil {
		return e, err
	}
	if errors.Is(missing, marks.ErrMissing) && !now.Kept {
		return MarksHealth{Unused: true}, nil
	}
	if missing != nil {
		return e, missing
	}
	if file, is := g.Keeper.(interface{ Writable() error }); is {
		if err := file.Writable(); err != nil {
			return e, err
		}
	}
	return MarksHealth{Open: len(kept.Journal), Others: !alone(now, kept), Behind: whyBehind(now, kept)}, nil
}

// Behind returns why the database is, or may be, older than it was; "" if it is not. It changes nothing, and may run
// beside a service, which looks every few seconds. The error is marks.ErrMissing or marks.ErrUnusable if the marks
// cannot be read.
func (g *Guard) Behind(ctx context.Context) (string, error) {
	kept, missing := g.Keeper.Load(ctx) // read before the database, which is raised before them
	now, err := g.read(ctx)
	switch {
	case err != nil:
		return "", err
	case errors.Is(missing, marks.ErrMissing) && !now.Kept:
		return "", nil
	case missing != nil:
		return "", missing
	}
	return whyBehind(now, kept), nil
}

func whyBehind(now store.Marks, kept marks.State) string {
	why := stepBack(now, kept, nil)
	if why == "" && moved(now.Identity, kept.Database) {
		why = "a PostgreSQL server other than the one in the marks answers"
	}
	return why
}
