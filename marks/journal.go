package marks

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
)

// Entry is an outgoing transaction that was signed, or is about to be, and has not ended: everything needed to put it
// back into a database that has lost it.
type Entry struct {
	Chain      string          `json:"chain"`
	Number     int64           `json:"number"` // number of the signature
	OutgoingID string          `json:"spend"`  // ID of the outgoing transaction
	Pays       []string        `json:"pays,omitempty"`
	Content    json.RawMessage `json:"content"`
}

// Ended identifies an entry whose outgoing transaction has ended: its block is final, or it can never be included.
type Ended struct {
	Chain  string `json:"chain"`
	Number int64  `json:"number"`
}

// The bounds of the journal. An entry has about 1.2 KB; one that pays a hundred withdrawals from hundreds of UTXOs has
// some dozens of KB.
const (
	maxEntries = 4096
	maxJournal = 8 << 20 // bytes of the entries' contents
)

// ErrFull is returned if the journal is full: nothing is signed before something has ended.
var ErrFull = errors.New("the journal of signed payments is full")

// Complete reports whether every signature on a chain above a number is in the journal, or has ended.
func (s State) Complete(chain string, above int64) bool { return above >= s.since(chain) }

// since returns the number above which the journal contains every signature of a chain.
func (s State) since(chain string) int64 {
	if since, known := s.Since[chain]; known {
		return since
	}
	return s.Signed[chain]
}

// Busy reports whether the journal has half of what it can hold, or more.
func (s State) Busy() bool {
	size := 0
	for _, e := range s.Journal {
		size += e.size()
	}
	return len(s.Journal) >= maxEntries/2 || size >= maxJournal/2
}

// without returns the marks without entries that have ended.
func (s State) without(ended []Ended) State {
	s.Journal = slices.DeleteFunc(slices.Clone(s.Journal), func(e Entry) bool { return slices.Contains(ended, e.Name()) })
	return s
}

// Fits returns ErrFull if an entry does not fit into the journal.
func (s State) Fits(e Entry) error { return s.fits(e, 1) }

// fits is Fits for a journal that may have so many times what it can hold.
func (s State) fits(e Entry, times int) error {
	entries, size := 1, e.size()
	for _, held := range s.Journal {
		if !e.Supersedes(held) {
			entries, size = entries+1, size+held.size()
		}
	}
	if entries > times*maxEntries || size > times*maxJournal {
		return ErrFull
	}
	return nil
}

// Name identifies an entry.
func (e Entry) Name() Ended { return Ended{e.Chain, e.Number} }

func (e Entry) size() int { return len(e.Content) + len(e.OutgoingID) + 40*len(e.Pays) + 100 }

// Supersedes reports whether an entry proves that an older one was never signed, or can never be included: in a
// database only one signed transaction at a time makes a payment.
func (e Entry) Supersedes(old Entry) bool {
	if e.Chain != old.Chain || e.Number < old.Number {
		return false
	}
	return e.Number == old.Number || e.OutgoingID == old.OutgoingID || e.Shares(old)
}

// Shares reports whether two entries make a common payment.
func (e Entry) Shares(other Entry) bool {
	return slices.ContainsFunc(e.Pays, func(id string) bool { return slices.Contains(other.Pays, id) })
}

// journal returns the entries with the new ones, without those that have ended or are superseded.
func (s State) journal(by State) []Entry {
	kept := slices.DeleteFunc(slices.Clone(s.Journal), func(old Entry) bool {
		return slices.Contains(by.Ended, old.Name()) ||
			slices.ContainsFunc(by.Journal, func(e Entry) bool { return e.Supersedes(old) })
	})
	return append(kept, by.Journal...)
}

// explained returns, by chain, the number above which the journal contains every signature: a signature without an
// entry, or after numbers unknown here, leaves a gap.
func (s State) explained(by State) map[string]int64 {
	since := maps.Clone(s.Since)
	if since == nil {
		since = map[string]int64{}
	}
	for _, signed := range []map[string]int64{s.Signed, by.Signed} {
		for chain := range signed {
			since[chain] = s.since(chain)
		}
	}
	for chain, n := range by.Signed {
		has := slices.ContainsFunc(by.Journal, func(e Entry) bool { return e.Chain == chain && e.Number == n })
		switch last := s.Signed[chain]; {
		case n <= last || has && n == last+1:
		case has:
			since[chain] = n - 1
		default:
			since[chain] = n
		}
	}
	return higher(since, by.Since)
}
