// Package memory keeps what a signer remembers of what it signed: durably, and before a signature leaves.
//
// It owns the tables, their versions, the lock that keeps a second signer away, and a log in which each entry has a
// number and the hash of the one before. It decides nothing: which transaction may be signed is evaluated by package
// signer, within one transaction of this package. Its invariants: what a transaction wrote is on the disk when Do
// returns nil; a log entry is never changed, and its number is never used twice; nothing that was remembered is
// forgotten by a restart. It holds no secret: anyone who reads it learns which payments were signed.
package memory

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"github.com/bursar/bursar"
)

// Errors of opening and creating.
var (
	ErrMissing     = errors.New("the signer has no state file")
	ErrExists      = errors.New("the signer's state file exists already")
	ErrLocked      = errors.New("another signer uses the state file")
	ErrOtherSigner = errors.New("the file is not the state of this signer")
	ErrOlder       = errors.New("a signer of an earlier release uses the state file: use the commands of that release, " +
		"or stop it first")
)

// Keeper is where a signer remembers: a File, or RAM for what ends with its process. It is safe for concurrent use; one
// transaction runs at a time.
type Keeper interface {
	// Do runs f in a transaction. If f returns nil, what it wrote is durable when Do returns nil. An error of f is
	// returned as it is and nothing is written; after any other error it is unknown whether something was.
	Do(ctx context.Context, f func(tx Tx) error) error
	// Gate is what every signature leaves through.
	Gate() *Gate
	// Close ends the use and gives up the lock.
	Close() error
}

// Tx is one transaction. It sees what was committed before and what it wrote itself.
type Tx interface {
	State(ctx context.Context) (State, error)
	// SetHighWater raises the latest time at which anything was remembered.
	SetHighWater(ctx context.Context, at time.Time) error

	// UTXO returns what was remembered of an outpoint.
	UTXO(ctx context.Context, chain bursar.ChainID, outpoint string) (UTXO, bool, error)
	// AddUTXO remembers an outpoint that is not remembered yet.
	AddUTXO(ctx context.Context, chain bursar.ChainID, u UTXO) error

	// Signed returns the flow to which an unsigned transaction with this digest was counted.
	Signed(ctx context.Context, chain bursar.ChainID, digest Digest) (id int64, found bool, err error)
	// Sharing returns the flows with a reservation in common with the given ones, oldest first.
	Sharing(ctx context.Context, chain bursar.ChainID, resources []string) ([]Flow, error)
	// AddFlow remembers a new flow and returns its ID.
	AddFlow(ctx context.Context, f Flow) (id int64, err error)
	// UpdateFlow replaces the resources and the counts of a flow.
	UpdateFlow(ctx context.Context, f Flow) error
	// AddSigned counts an unsigned transaction to a flow.
	AddSigned(ctx context.Context, flow int64, chain bursar.ChainID, digest Digest, at time.Time) error
	// SignedSince returns how many transactions were counted to a flow from a time on.
	SignedSince(ctx context.Context, flow int64, at time.Time) (int, error)
	// Forget removes up to most digests of transactions that were signed before a time, and with the last of a flow
	// that uses nothing up and counts nothing since, the flow. Outpoints, what flows use up, and the log are kept for
	// ever.
	Forget(ctx context.Context, before time.Time, most int) (int, error)
	// CountsSince returns what counts from a time on, oldest first.
	CountsSince(ctx context.Context, at time.Time) ([]FlowCount, error)

	// WholeFrom returns from when on everything that is signed is remembered; zero: from when the seed was made. It is
	// when the memory was created or, later, began again, whether or not its windows then counted as full: an operator
	// who knows how much was signed does not thereby know what.
	WholeFrom(ctx context.Context) (time.Time, error)

	People
	Orders
	Epochs
	Compromises
	Thaws

	// Freezes returns the freezes that are not thawed, oldest first.
	Freezes(ctx context.Context) ([]Freeze, error)
	AddFreeze(ctx context.Context, f Freeze) error
	// Thaw ends every freeze, and a compromise order that is in force, and returns how many freezes there were.
	Thaw(ctx context.Context, at time.Time, who, why string) (int, error)

	// Head returns the newest entry of the log. There is one from the beginning.
	Head(ctx context.Context) (Entry, error)
	// Entry returns an entry by its number.
	Entry(ctx context.Context, number int64) (Entry, bool, error)
	// Append adds an entry to the log.
	Append(ctx context.Context, at time.Time, kind, detail string) (Entry, error)
}

// Digest is the SHA-256 of an unsigned transaction's bytes.
type Digest [sha256.Size]byte

// State is what one memory is.
type State struct {
	Instance    string    // random, of its own for each memory that was created or began again
	Fingerprint string    // of the seed
	HighWater   time.Time // the latest time at which anything was remembered
	ColdSince   time.Time // since when it remembers, where something may have been signed before; zero: nothing was
}

// UTXO is what an unsigned transaction said of an unspent output.
type UTXO struct {
	Outpoint  string
	Amount    bursar.Amount
	Script    string // the address that its script belongs to
	FirstSeen time.Time
}

// Flow holds unsigned transactions of which the chain includes at most one, because each uses what all of them use.
type Flow struct {
	ID        int64
	Chain     bursar.ChainID
	Kind      string // of the first transaction's request
	Outgoing  bursar.ID
	At        time.Time
	Resources []string // what every one of them uses up: outpoints, or a nonce
	Counts    []Count  // for each class and asset the most that one of them moves
	// Pays is the hash of what the first of them pays; empty: a release signed it that did not note it.
	Pays string
}

// Class is what is counted.
type Class string

// The classes. Fees are in the native asset; transfers are numbers of transactions.
const (
	Payments  Class = "payment"  // to others, by asset
	Fees      Class = "fee"      // the most that a transaction can cost
	Transfers Class = "transfer" // sweeps, consolidations and gas top-ups, each 1

	Withdrawals Class = "withdrawal" // transactions that pay others, each 1; where they are limited
	ToCold      Class = "to_cold"    // transactions that pay our cold wallets, each 1
)

// Count is how much of something counts, and from when on.
type Count struct {
	Class Class
	Asset string // canonical contract; empty: the native asset
	Units bursar.Amount
	At    time.Time
}

// FlowCount is a count with the flow that it belongs to.
type FlowCount struct {
	Flow  int64
	Chain bursar.ChainID
	Count
}

// Freeze is a freeze of the whole signer.
type Freeze struct {
	At  time.Time `json:"at"`
	Who string    `json:"who"`
	Why string    `json:"why"`
}
