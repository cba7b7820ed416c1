package recovery

import (
	"context"
	"maps"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/marks"
)

// noteReplaced remembers the entries in whose place the journal is about to take another one: if that is not signed
// after all, they still stand for what was.
func (g *Guard) noteReplaced(e marks.Entry) {
	g.state.Lock()
	defer g.state.Unlock()
	if g.replaced == nil {
		g.replaced = map[marks.Ended][]marks.Entry{}
	}
	var replaced []marks.Entry
	for _, held := range g.kept.Journal {
		if e.Supersedes(held) {
			replaced = append(replaced, held)
		}
	}
	maps.DeleteFunc(g.replaced, func(of marks.Ended, _ []marks.Entry) bool {
		return !slices.ContainsFunc(g.kept.Journal, func(e marks.Entry) bool { return e.Name() == of })
	})
	if len(replaced) > 0 {
		g.replaced[e.Name()] = replaced
	}
}

// unsigned undoes Sign.
func (g *Guard) unsigned(name marks.Ended) {
	g.drop(func(e marks.Entry) bool { return e.Name() == name }, func(marks.Entry) bool { return true })
}

// uncounted undoes a Sign that has failed: its entry is unknown here, and may be in the marks all the same.
func (g *Guard) uncounted(name marks.Ended) {
	g.state.Lock()
	replaced := g.replaced[name]
	delete(g.replaced, name)
	g.state.Unlock()
	g.addEnded([]marks.Ended{name}, replaced...)
}

// NeverSigned undoes Sign as often as it counted an outgoing transaction: of what its entries have replaced, only those
// of others come back.
func (g *Guard) NeverSigned(chain bursar.ChainID, id bursar.ID) {
	is := func(e marks.Entry) bool { return e.Chain == string(chain) && e.OutgoingID == id.String() }
	g.drop(is, func(replaced marks.Entry) bool { return replaced.OutgoingID != id.String() })
}

// drop takes entries out of the journal, and puts back those of what they have replaced that come back.
func (g *Guard) drop(is, comesBack func(marks.Entry) bool) {
	g.state.Lock()
	defer g.state.Unlock()
	var back []marks.Entry
	for _, e := range g.kept.Journal {
		if !is(e) {
			continue
		}
		g.ended = append(g.ended, e.Name())
		g.again = slices.DeleteFunc(g.again, func(old marks.Entry) bool { return old.Name() == e.Name() })
		for _, old := range g.replaced[e.Name()] {
			if comesBack(old) {
				back = append(back, old)
			}
		}
		delete(g.replaced, e.Name())
	}
	g.kept.Journal = append(slices.DeleteFunc(slices.Clone(g.kept.Journal), is), back...)
	g.again = append(g.again, back...)
}

// Busy reports whether the journal is half full.
func (g *Guard) Busy() bool { return g.Kept().Busy() }

// Signed reports whether an outgoing transaction that is unsigned in the database may have been signed: then it is not
// given up, and the same unsigned transaction is signed again.
func (g *Guard) Signed(chain bursar.ChainID, id bursar.ID) bool {
	return slices.ContainsFunc(g.Kept().Journal, func(e marks.Entry) bool {
		return e.Chain == string(chain) && e.OutgoingID == id.String()
	})
}

// KeepUnsigned makes durable what was undone of the signatures of a chain, before the database says that something was
// not signed: that alone is not believed later.
func (g *Guard) KeepUnsigned(ctx context.Context, chain bursar.ChainID) error {
	release, err := g.DB.Take(ctx, &g.turn) // first: a raise that is under way has taken it, and may fail
	if err != nil {
		return err
	}
	defer release()
	g.state.RLock()
	is := slices.ContainsFunc(g.ended, func(e marks.Ended) bool { return e.Chain == string(chain) })
	g.state.RUnlock()
	if !is {
		return nil
	}
	return g.raise(ctx, marks.State{})
}

func (g *Guard) takeEnded() (ended []marks.Ended, again []marks.Entry) {
	g.state.Lock()
	defer g.state.Unlock()
	ended, again = g.ended, g.again
	g.ended, g.again = nil, nil
	return ended, again
}

func (g *Guard) addEnded(ended []marks.Ended, again ...marks.Entry) {
	g.state.Lock()
	defer g.state.Unlock()
	for _, e := range again {
		g.again = append(slices.DeleteFunc(g.again, func(old marks.Entry) bool { return old.Name() == e.Name() }), e)
	}
	for _, e := range ended {
		if !slices.Contains(g.ended, e) {
			g.ended = append(g.ended, e)
		}
	}
}

// set takes marks that were just read or raised, with what the next raise changes in their journal: signatures of other
// chains are undone while one is raised.
func (g *Guard) set(s marks.State) {
	g.state.Lock()
	defer g.state.Unlock()
	s.Journal = slices.DeleteFunc(slices.Clone(s.Journal), func(e marks.Entry) bool {
		return slices.Contains(g.ended, e.Name())
	})
	for _, old := range g.again {
		if !slices.ContainsFunc(s.Journal, func(e marks.Entry) bool { return e.Name() == old.Name() }) {
			s.Journal = append(s.Journal, old)
		}
	}
	g.kept = s
}
