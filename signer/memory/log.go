package memory

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"time"
)

// Entry is one entry of the log. Its hash commits to the entry and, through the hash before, to all earlier ones.
type Entry struct {
	Number int64 // from 1 on, without a gap
	At     time.Time
	Kind   string // KindSigned or another of the kinds
	Detail string // JSON
	Hash   [sha256.Size]byte
}

// The kinds of entries.
const (
	KindInit      = "init"       // the memory was created
	KindBegin     = "cold_start" // it began again: what it remembers may be incomplete
	KindSigned    = "signed"     // an unsigned transaction may be signed from now on
	KindFreeze    = "freeze"
	KindThaw      = "thaw"
	KindThawWaits = "thaw_waits" // a thaw was signed, and takes effect later
	KindThawVoid  = "thaw_void"  // a thaw that waited was ended, and the signer stays frozen

	KindPolicy      = "policy"      // a version of the policy was installed
	KindDestination = "destination" // a destination was added or removed
	KindHeld        = "held"        // an order's approvals are complete, and its hold begins
	KindOrderKey    = "order_key"   // a client's key was added or revoked
	KindDenied      = "denied"      // somebody said no to an order
	KindLost        = "policy_lost" // a policy was in force, or there was a key of a client, that this state does not have
	KindEpoch       = "epoch"       // the seed of another epoch took over the hot wallet
	KindCounter     = "counter"     // the state was bound to a counter of the machine, or to none
	KindImport      = "import"      // the export of another state was merged into this one
	KindCompromise  = "compromise"  // a compromise order was used
	KindDrill       = "drill"       // a compromise order was verified as if it was used
	KindRefused     = "refused"     // what was refused within a minute, counted
)

// sealed returns an entry with its hash: SHA-256 over a label, the hash before, the number, the time in milliseconds
// and, each after its length, kind and detail; numbers and lengths in 8 bytes, big-endian.
func (e Entry) sealed(before [sha256.Size]byte) Entry {
	h := sha256.New()
	h.Write([]byte("bursar signer log 1\n"))
	h.Write(before[:])
	number := func(n int64) { h.Write(binary.BigEndian.AppendUint64(nil, uint64(n))) }
	number(e.Number)
	number(e.At.UnixMilli())
	for _, text := range []string{e.Kind, e.Detail} {
		number(int64(len(text)))
		h.Write([]byte(text))
	}
	e.Hash = [sha256.Size]byte(h.Sum(nil))
	return e
}

// Next returns the entry that follows another; the zero Entry is followed by the first.
func (e Entry) Next(at time.Time, kind, detail string) Entry {
	return Entry{Number: e.Number + 1, At: at.UTC().Truncate(time.Millisecond), Kind: kind, Detail: detail}.sealed(e.Hash)
}

// Checkpoint names the newest entry of a log. Anyone who keeps one notices a log that was set back.
type Checkpoint struct {
	Instance string `json:"instance"`
	Number   int64  `json:"number"`
	Hash     string `json:"hash"` // hexadecimal
	// Signature is the signer's, over Text, in hexadecimal; empty before it is signed.
	Signature string `json:"signature,omitempty"`
}

// CheckpointOf returns the checkpoint at an entry, unsigned.
func CheckpointOf(instance string, e Entry) Checkpoint {
	return Checkpoint{Instance: instance, Number: e.Number, Hash: hex.EncodeToString(e.Hash[:])}
}

// Text is what is signed of a checkpoint: a label and, each in a line of its own, instance, number and hash. An
// instance with a line break, which no signer has, is quoted.
func (c Checkpoint) Text() []byte {
	return fmt.Appendf(nil, "bursar signer log checkpoint 1\n%q\n%d\n%q\n", c.Instance, c.Number, c.Hash)
}

// After reports whether a checkpoint is of the same instance as another and later.
func (c Checkpoint) After(other Checkpoint) bool {
	return c.Instance == other.Instance && c.Number > other.Number
}

// verifyAtOnce is how many entries Verify reads in one transaction, beside which a signer cannot write.
const verifyAtOnce = 500

// Verify reads the whole log and returns its newest entry, or which entry was changed, removed or added.
func Verify(ctx context.Context, keeper Keeper) (head Entry, err error) {
	return Walk(ctx, keeper, func(Entry) error { return nil })
}

// Walk is Verify that calls visit with each entry that follows from those before, oldest first and outside of any
// transaction. An error of visit ends it and is returned.
func Walk(ctx context.Context, keeper Keeper, visit func(Entry) error) (head Entry, err error) {
	for more := true; more; {
		var some []Entry
		err = keeper.Do(ctx, func(tx Tx) error {
			some, more, err = verifySome(ctx, tx, head)
			return err
		})
		if err != nil {
			return head, err
		}
		for _, e := range some {
			if err := visit(e); err != nil {
				return head, err
			}
			head = e
		}
	}
	return head, nil
}

// verifySome returns verified entries behind head, and reports whether there are more.
func verifySome(ctx context.Context, tx Tx, head Entry) (some []Entry, more bool, err error) {
	newest, err := tx.Head(ctx)
	if err != nil {
		return nil, false, err
	}
	for range verifyAtOnce {
		if head.Number >= newest.Number {
			return some, false, nil
		}
		e, found, err := tx.Entry(ctx, head.Number+1)
		if err != nil {
			return nil, false, err
		}
		if !found {
			return nil, false, fmt.Errorf("the log has no entry %d", head.Number+1)
		}
		if e.Hash != head.Next(e.At, e.Kind, e.Detail).Hash {
			return nil, false, fmt.Errorf("entry %d of the log was changed", e.Number)
		}
		some, head = append(some, e), e
	}
	return some, true, nil
}
