// Package signerlog compares the log of a signer with the books: what was signed with what the service says was sent.
//
// It owns the comparison and nothing else: it reads both sides and changes neither. What was signed is taken from
// entries that the caller has verified, and what was sent from the database, whose rows are believed as far as the
// comparison needs them: somebody who can write there can also write what matches. Its invariants: a transaction is
// never taken for an entry's by its outgoing ID alone, but by the digest of its bytes, by its ID where the bytes fix
// it, or by the UTXOs or the nonce that it uses; whatever has no match on the other side is a difference or is listed
// as not compared, and nothing is passed over.
package signerlog

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/memory"
)

// Log is what one or several logs of signers hold. Each log is added with Add, entry by entry. It keeps all that was
// signed, about a kilobyte for a transaction of an account and a hundred bytes more for each UTXO that one spends.
type Log struct {
	entries  []*entry
	byDigest map[string][]*entry // more than one where a memory had forgotten the first
	byTx     map[string][]*entry
	byUse    map[string][]*entry

	hashes [][][32]byte // of each log, the entries' in their order
	began  time.Time    // before which something may have been signed that no entry shows; zero: nothing was
	ends   time.Time    // of the newest entry
}

// entry is what was signed, with what the books say of it.
type entry struct {
	signer.SignedEntry
	number int64
	at     time.Time

	found    bool // in the books
	included bool // this very transaction is in a block
	failed   bool // and failed there
	status   bursar.OutgoingStatus
}

func key(chain bursar.ChainID, what string) string { return string(chain) + " " + what }

// Begin begins another log, whose first entry Add gets next. Those of one service may be several, as where a
// state was lost or an epoch has another seed.
func (l *Log) Begin() {
	if l.byDigest == nil {
		l.byDigest, l.byTx, l.byUse = map[string][]*entry{}, map[string][]*entry{}, map[string][]*entry{}
	}
	l.hashes = append(l.hashes, nil)
}

// Add adds the next entry of the log that was begun last. Its order and its hash are the caller's to verify.
func (l *Log) Add(e memory.Entry) error {
	if len(l.hashes) == 0 {
		return errors.New("add an entry to no log")
	}
	last := len(l.hashes) - 1
	l.hashes[last] = append(l.hashes[last], e.Hash)
	if e.At.After(l.ends) {
		l.ends = e.At
	}
	if e.Number == 1 {
		return l.begin(e, last == 0)
	}
	if e.Kind != memory.KindSigned {
		return nil
	}
	signed, err := signer.ReadSigned(e)
	if err != nil {
		return err
	}
	l.index(&entry{SignedEntry: signed, number: e.Number, at: e.At})
	return nil
}

// begin notes from when on a log has everything: a new seed has signed nothing before.
func (l *Log) begin(e memory.Entry, first bool) error {
	var detail struct {
		New bool `json:"new"`
	}
	if err := json.Unmarshal([]byte(e.Detail), &detail); err != nil {
		return fmt.Errorf("read entry 1: %w", err)
	}
	switch {
	case detail.New:
		l.began = time.Time{}
	case first, e.At.Before(l.began):
		l.began = e.At
	}
	return nil
}

// index makes an entry findable.
func (l *Log) index(e *entry) {
	l.entries = append(l.entries, e)
	digest := key(e.Chain, e.Digest)
	l.byDigest[digest] = append(l.byDigest[digest], e)
	if e.TxID != "" {
		tx := key(e.Chain, e.TxID)
		l.byTx[tx] = append(l.byTx[tx], e)
	}
	for _, resource := range e.Resources() {
		use := key(e.Chain, resource)
		l.byUse[use] = append(l.byUse[use], e)
	}
}

// Ends returns when the newest entry was made; zero: there is none.
func (l *Log) Ends() time.Time { return l.ends }

// Holds reports whether one of the logs has an entry with a number and a hash, in hexadecimal, and whether any log is
// as long as that.
func (l *Log) Holds(number int64, hash string) (same, long bool) {
	for _, hashes := range l.hashes {
		if number < 1 || number > int64(len(hashes)) {
			continue
		}
		long = true
		same = same || fmt.Sprintf("%x", hashes[number-1]) == hash
	}
	return same, long
}

// of returns the entries that a transaction can be of which is known by its ID and by what it used up, newest first:
// those of this ID, or else those that use the same. Of the latter the chain includes at most one.
func (l *Log) of(chain bursar.ChainID, txID string, resources []string) (list []*entry) {
	list = slices.Clone(l.byTx[key(chain, txID)])
	for _, resource := range resources {
		if len(list) > 0 {
			break
		}
		for _, e := range l.byUse[key(chain, resource)] {
			if e.TxID == "" { // an entry that names another ID is not of this transaction
				list = append(list, e)
			}
		}
	}
	slices.Reverse(list)
	return list
}
