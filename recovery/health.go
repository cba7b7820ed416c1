package recovery

import (
	"context"
	"errors"

	"github.com/bursar/bursar/marks"
	"github.com/bursar/bursar/store"
)

// MarksHealth is how the marks are, for an operator.
type MarksHealth struct {
	Unused bool   // there are none, and the database was never used with any: the first start makes them
	Open   int    // payments in the journal
	Others bool   // other marks are used with the database too
	Behind string // why the database is, or may be, older than it was; empty where nothing says so
}

// CheckHealth compares the database with the marks and changes neither. It may run beside a service. The error is
// marks.ErrMissing or marks.ErrUnusable where the service would not start.
func (g *Guard) CheckHealth(ctx context.Context) (e MarksHealth, err error) {
	kept, missing := g.Keeper.Load(ctx) // before the database, which is raised before them
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

// Behind says why the database is, or may be, older than it was; "" where nothing says so. It changes nothing, and may
// run beside a service, which looks every few seconds. The error is marks.ErrMissing or marks.ErrUnusable where the
// marks cannot be read.
func (g *Guard) Behind(ctx context.Context) (string, error) {
	kept, missing := g.Keeper.Load(ctx) // before the database, which is raised before them
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
		why = "another PostgreSQL server answers than the one that the marks name"
	}
	return why
}
