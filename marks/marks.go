// Package marks keeps, outside the database, what a database must not forget when it is put back: which key indexes may
// have been given out, how many transactions were signed on each chain, those of them that have not ended, and which
// database that was.
//
// It owns the marks file beside the seed, and the journal in it. It signs nothing and knows no addresses. Its
// invariants: the database is raised first, then the marks, and only then what they stand for is used, so marks above
// the database prove that the database was put back; numbers only grow; what was signed stays in the journal until it
// has ended; a missing file is never taken for a new one.
package marks

import (
	"cmp"
	"context"
	"errors"
	"maps"
)

// Errors of a keeper.
var (
	// ErrMissing says that there are no marks, although the database was used with some.
	ErrMissing = errors.New("the marks are missing")
	// ErrUnusable says that the marks cannot be read or written.
	ErrUnusable = errors.New("the marks cannot be used")
)

// State is what is kept. Numbers only grow.
type State struct {
	Version  int              `json:"version"`
	Database Database         `json:"database"`
	Beat     int64            `json:"beat"`              // counts the looks at the database
	Indexes  map[string]int64 `json:"indexes"`           // by family: every key index, or tag, below it may have been given out
	Signed   map[string]int64 `json:"signed"`            // by chain: the number of the newest transaction that was signed
	Final    map[string]int64 `json:"final"`             // by chain: the highest final height that was recorded
	Stopped  map[string]int64 `json:"stopped,omitempty"` // by family: the next key index when the last process ended in order; none: it did not
	Link     int64            `json:"link"`              // the newest link of the books' hash chain, and its hash
	LinkHash []byte           `json:"linkHash,omitempty"`

	Recovered int64 `json:"recovered,omitempty"` // when the newest recovery began that the link is of: microseconds since 1970

	Keeper  string           `json:"keeper,omitempty"` // random name of these marks: a database that knows one name alone was used with no others
	Others  bool             `json:"others,omitempty"` // other marks were used with the database as well
	Since   map[string]int64 `json:"since,omitempty"`  // by chain: what was signed with a higher number is in the journal, or has ended
	Journal []Entry          `json:"journal,omitempty"`
	Ended   []Ended          `json:"ended,omitempty"` // what a raise takes out of the journal; never kept
}

// Database says which copy of a database it was.
type Database struct {
	Name     string `json:"name"`               // random, given once
	System   string `json:"system,omitempty"`   // of PostgreSQL
	Timeline string `json:"timeline,omitempty"` // of PostgreSQL
}

// NoLink is the Link of a raise after which no link of the books is known.
const NoLink = -1

// version of the file's form.
const version = 1

// Keeper keeps the marks durably.
type Keeper interface {
	// Load returns the marks. The error is ErrMissing or ErrUnusable.
	Load(ctx context.Context) (State, error)
	// Raise makes every number at least what by says, names by's database and link where it has them, adds its journal,
	// takes out what has ended, and returns the marks once they are durable. The error is ErrMissing, ErrUnusable, or
	// ErrFull where the journal has no room: then nothing has changed. Of the others the marks may be either.
	Raise(ctx context.Context, by State) (State, error)
	// Create begins marks where there are none; marks that are there are raised.
	Create(ctx context.Context, s State) (State, error)
}

// raised returns the marks with every number at least what by says.
func (s State) raised(by State) State {
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
