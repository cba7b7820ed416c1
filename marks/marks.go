// Package marks keeps high-water marks outside the database, so that a restored database is recognised. They say which
// key indexes may have been issued, how many transactions were signed on each chain, which of those have not ended, and
// in which database.
//
// It owns the marks file next to the seed file, and the journal in it. It signs nothing and knows no addresses. Its
// invariants: the database is raised first, then the marks, and only then the indexes and signatures are used, so marks
// above the database prove that the database was restored; numbers only grow; a signed transaction stays in the journal
// until it has ended; a missing file is never taken for a new one.
package marks

import (
	"cmp"
	"context"
	"errors"
	"maps"
)

// Errors of a keeper.
var (
	// ErrMissing is returned if there are no marks, although the database was used with some.
	ErrMissing = errors.New("the marks are missing")
	// ErrUnusable is returned if the marks cannot be read or written.
	ErrUnusable = errors.New("the marks cannot be used")
)

// State is the content of the marks. Numbers only grow.
type State struct {
	Version  int              `json:"version"`
	Database Database         `json:"database"`
	Beat     int64            `json:"beat"`              // number of looks at the database
	Indexes  map[string]int64 `json:"indexes"`           // by family: all key indexes (or tags) below it may be issued
	Signed   map[string]int64 `json:"signed"`            // by chain: the number of the newest transaction that was signed
	Final    map[string]int64 `json:"final"`             // by chain: the highest final height that was recorded
	Stopped  map[string]int64 `json:"stopped,omitempty"` // by family: next key index after a clean shutdown; else missing
	Link     int64            `json:"link"`              // the newest link of the books' hash chain, and its hash
	LinkHash []byte           `json:"linkHash,omitempty"`

	Recovered int64 `json:"recovered,omitempty"` // when the link's newest recovery began: microseconds since 1970

	// random name: a database that knows only this one was used with no other marks
	Keeper  string           `json:"keeper,omitempty"`
	Others  bool             `json:"others,omitempty"` // other marks were used with the database too
	Since   map[string]int64 `json:"since,omitempty"`  // by chain: later signatures are in the journal, or have ended
	Journal []Entry          `json:"journal,omitempty"`
	Ended   []Ended          `json:"ended,omitempty"` // entries that a raise removes from the journal; in no state
}

// Database identifies a copy of a database.
type Database struct {
	Name     string `json:"name"`               // random, assigned once
	System   string `json:"system,omitempty"`   // of PostgreSQL
	Timeline string `json:"timeline,omitempty"` // of PostgreSQL
}

// NoLink is the Link of a raise that clears the link of the books.
const NoLink = -1

// version of the file format
const version = 1

// Keeper stores the marks durably.
type Keeper interface {
	// Load returns the marks. The error is ErrMissing or ErrUnusable.
	Load(ctx context.Context) (State, error)
	// Raise makes every number at least that of by, takes by's database and link if it has them, adds its journal,
	// removes what has ended, and returns the marks once they are durable. The error is ErrMissing, ErrUnusable, or
	// ErrFull if the journal is full: then nothing has changed. After any other error the marks may be the old or the
	// new ones.
	Raise(ctx context.Context, by State) (State, error)
	// Create creates marks if there are none; existing marks are raised.
	Create(ctx context.Context, s State) (State, error)
}

// Raised returns the marks as a keeper has them once they are raised.
func (s State) Raised(by State) State {
	s.Version = version
	if by.Database != (Database{}) {
		s.Database = by.Database
	}
	if by.Link != 0 {
		s.Link, s.LinkHash = max(by.Link, 0), by.LinkHash
	}
	s.Since, s.Journal, s.Ended = s.explained(by), s.journal(by), nil
	s.Keeper, s.Others = cmp.Or(s.Keeper, by.Keeper), s.Others || by.Others
	s.Stopped = by.Stopped
	s.Beat, s.Recovered = max(s.Beat, by.Beat), max(s.Recovered, by.Recovered)
	s.Indexes, s.Signed, s.Final = higher(s.Indexes, by.Indexes), higher(s.Signed, by.Signed), higher(s.Final, by.Final)
	return s
}

func higher(a, b map[string]int64) map[string]int64 {
	out := maps.Clone(a)
	if out == nil {
		out = map[string]int64{}
	}
	for name, n := range b {
		out[name] = max(out[name], n)
	}
	return out
}
