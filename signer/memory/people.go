package memory

import (
	"context"
	"time"

	"github.com/bursar/bursar"
)

// People is the part of a transaction about what people signed: policies, destinations and approvals.
type People interface {
	// Policies returns every version of the policy, newest first.
	Policies(ctx context.Context) ([]Policy, error)
	AddPolicy(ctx context.Context, p Policy) error
	// KnownPolicy returns the newest version that is known to have been in force with this seed, in this state or in
	// another; the zero KnownPolicy: none. BeginAgain keeps it.
	KnownPolicy(ctx context.Context) (KnownPolicy, error)
	// KnowPolicy remembers a version, unless a later one is known.
	KnowPolicy(ctx context.Context, p KnownPolicy) error

	// Destinations returns the destinations with an address on a chain, oldest first; of "" all of them.
	Destinations(ctx context.Context, chain bursar.ChainID, base string) ([]Destination, error)
	AddDestination(ctx context.Context, d Destination) error
	// RemoveDestination forgets a destination by its nonce.
	RemoveDestination(ctx context.Context, nonce string) error
	// Removed returns when an address of a chain was removed last; zero: it was not.
	Removed(ctx context.Context, chain bursar.ChainID, base string) (time.Time, error)
	AddRemoved(ctx context.Context, chain bursar.ChainID, base string, at time.Time) error

	// Denials returns who said no to an order, with what and when, by name and then by kind of key.
	Denials(ctx context.Context, order Digest) ([]Denial, error)
	// AddDenial remembers that somebody said no, unless a later no of theirs with the same kind of key is remembered.
	AddDenial(ctx context.Context, order Digest, d Denial) error

	// Nonce returns for which flow a nonce was used; 0 is none.
	Nonce(ctx context.Context, nonce string) (flow int64, found bool, err error)
	// AddNonce uses a nonce, which may be used for the same flow already.
	AddNonce(ctx context.Context, nonce string, flow int64) error

	// Touches returns the approvals of a passkey that counted, of which the newest MostTouches are remembered, oldest
	// first.
	Touches(ctx context.Context, passkey string) ([]Touch, error)
	// AddTouch remembers an approval of a passkey, which may be remembered already.
	AddTouch(ctx context.Context, t Touch) error

	// HeldSince returns when an order's approvals were first complete for a rule; zero: they were not.
	HeldSince(ctx context.Context, order Digest, rule string) (time.Time, error)
	AddHeld(ctx context.Context, order Digest, rule string, at time.Time) error

	// GrantIn returns what allowed an order in a flow.
	GrantIn(ctx context.Context, order Digest, flow int64) (g Grant, found bool, err error)
	// Granted returns in which flows an order was allowed that are not forgotten.
	Granted(ctx context.Context, order Digest) ([]int64, error)
	// Payments returns the highest number of a payment of an order that was allowed; it is never forgotten. 0: none was.
	Payments(ctx context.Context, order Digest) (int64, error)
	AddGrant(ctx context.Context, g Grant) error
	// WorthSince returns what was allowed by a rule from a time on; beyond 128 bits the highest amount.
	WorthSince(ctx context.Context, by RuleUse, from time.Time) (bursar.Amount, error)
	// GrantsSince returns how many orders, and movements of our own money, were allowed by a rule from a time on.
	GrantsSince(ctx context.Context, by RuleUse, from time.Time) (uint64, error)
	RuleFees
}

// Policy is one version of the policy.
type Policy struct {
	Version   int64
	NotBefore time.Time // when it begins
	Text      string
	Installed time.Time // zero: by a release that did not note it
}

// KnownPolicy names a version of the policy.
type KnownPolicy struct {
	Version int64  `json:"version"`
	Hash    string `json:"hash"` // of its text, as approval.Hash writes it
}

// Denial is a no to an order.
type Denial struct {
	Person string
	With   string    // the kind of key, as the policy writes it; empty: a release noted it that did not distinguish them
	At     time.Time // when it was made, as its text says
}

// Destination is an address that may be paid.
type Destination struct {
	Nonce string // of its text
	Chain bursar.ChainID
	Base  string
	From  time.Time // when its hold ends
	Until time.Time
	Text  string
}

// Grant is an order, or a movement of our own money, that a rule allowed.
type Grant struct {
	Flow  int64
	Order Digest
	Rule  string
	Worth bursar.Amount // in millionths of the policy's reference currency
	At    time.Time
	// Account is whose order it is, where a client of the account signed it; zero: only the service says, or nobody's.
	Account bursar.ID
	// Payment is the number of the payment of the order; 0: our own money, of which no payments are counted.
	Payment int64
}

// paymentsSchema is a migration of the file. Each flow of an order was a payment.
const paymentsSchema = `
CREATE TABLE payments (
	digest BLOB PRIMARY KEY,
	number INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO payments(digest, number) SELECT digest, count(*) FROM grants GROUP BY digest;
`

// knownSchema is a migration of the file.
const knownSchema = `
ALTER TABLE policies ADD COLUMN installed_at INTEGER NOT NULL DEFAULT 0;
CREATE TABLE known_policy (
	one INTEGER PRIMARY KEY CHECK (one = 1),
	version INTEGER NOT NULL,
	hash TEXT NOT NULL
) STRICT;
CREATE TABLE removed (
	chain TEXT NOT NULL,
	base TEXT NOT NULL,
	at INTEGER NOT NULL,
	PRIMARY KEY (chain, base)
) STRICT, WITHOUT ROWID;
CREATE TABLE denials (
	digest BLOB NOT NULL,
	person TEXT NOT NULL,
	at INTEGER NOT NULL,
	PRIMARY KEY (digest, person)
) STRICT, WITHOUT ROWID;
`

// denialsSchema is a migration of the file: a no of each kind of key is remembered by itself.
const denialsSchema = `
CREATE TABLE denials_with (
	digest BLOB NOT NULL,
	person TEXT NOT NULL,
	kind TEXT NOT NULL,
	at INTEGER NOT NULL,
	PRIMARY KEY (digest, person, kind)
) STRICT, WITHOUT ROWID;
INSERT INTO denials_with(digest, person, kind, at) SELECT digest, person, '', at FROM denials;
DROP TABLE denials;
ALTER TABLE denials_with RENAME TO denials;
`

// peopleSchema is a migration of the file.
const peopleSchema = `
CREATE TABLE policies (
	version INTEGER PRIMARY KEY,
	not_before INTEGER NOT NULL,
	text TEXT NOT NULL
) STRICT;
CREATE TABLE destinations (
	id INTEGER PRIMARY KEY,
	nonce TEXT NOT NULL UNIQUE,
	chain TEXT NOT NULL,
	base TEXT NOT NULL,
	usable_from INTEGER NOT NULL,
	usable_until INTEGER NOT NULL,
	text TEXT NOT NULL
) STRICT;
CREATE INDEX destinations_of_address ON destinations(chain, base);
CREATE TABLE nonces (
	nonce TEXT PRIMARY KEY,
	flow INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE held (
	digest BLOB NOT NULL,
	rule TEXT NOT NULL,
	since INTEGER NOT NULL,
	PRIMARY KEY (digest, rule)
) STRICT, WITHOUT ROWID;
CREATE TABLE grants (
	digest BLOB NOT NULL,
	flow INTEGER NOT NULL REFERENCES flows(id) ON DELETE CASCADE,
	rule TEXT NOT NULL,
	worth TEXT NOT NULL,
	at INTEGER NOT NULL,
	PRIMARY KEY (digest, flow)
) STRICT, WITHOUT ROWID;
CREATE INDEX grants_of_rule ON grants(rule, at, worth);
`
