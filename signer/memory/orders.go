package memory

import (
	"context"
	"time"

	"github.com/bursar/bursar"
)

// Orders is the part of a transaction about the orders that clients sign. All of it is kept for ever.
type Orders interface {
	// OrderKeys returns the keys that an account ever had, oldest first; of the zero ID those of all accounts.
	OrderKeys(ctx context.Context, account bursar.ID) ([]OrderKey, error)
	// AnyOrderKey reports whether any account ever had a key.
	AnyOrderKey(ctx context.Context) (bool, error)
	// AddOrderKey adds a key that the account never had, or gives one that is Lost its spelling and name again.
	AddOrderKey(ctx context.Context, k OrderKey) error
	// RevokeOrderKey revokes a key of an account that is not revoked.
	RevokeOrderKey(ctx context.Context, account bursar.ID, id string, at time.Time) error

	// Ordered returns what was signed under the ID that a client gave to an order.
	Ordered(ctx context.Context, account, id bursar.ID) (o Ordered, found bool, err error)
	// AddOrdered remembers in which flow an order was signed. It may be remembered already, with the same text.
	AddOrdered(ctx context.Context, account, id bursar.ID, text Digest, flow int64) error
	// Uses returns what each transaction of a flow uses up; nothing for one that is forgotten.
	Uses(ctx context.Context, flow int64) ([]string, error)
}

// OrderKey is a key with which a client signs the orders of an account.
type OrderKey struct {
	Account bursar.ID
	ID      string // of the key, as package orderkey has it
	Public  string // its spelling
	Name    string
	From    time.Time // from when on it counts
	Revoked time.Time // zero: it is not
}

// Lost reports whether all that is known of the key is its ID, because the state that had it was lost: nothing that it
// signs counts until it is added again, and its account stays bound.
func (k OrderKey) Lost() bool { return k.Public == "" && k.Revoked.IsZero() }

// Ordered is what was signed under an order's ID.
type Ordered struct {
	Text  Digest  // the SHA-256 of its text
	Flows []int64 // in which it was paid, in their order
}

// ordersSchema is a migration of the file.
const ordersSchema = `
CREATE TABLE order_keys (
	number INTEGER PRIMARY KEY,
	account TEXT NOT NULL,
	id TEXT NOT NULL,
	public TEXT NOT NULL,
	name TEXT NOT NULL,
	usable_from INTEGER NOT NULL,
	revoked_at INTEGER NOT NULL,
	UNIQUE (account, id)
) STRICT;
CREATE TABLE orders (
	account TEXT NOT NULL,
	id TEXT NOT NULL,
	digest BLOB NOT NULL,
	PRIMARY KEY (account, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE order_flows (
	account TEXT NOT NULL,
	id TEXT NOT NULL,
	flow INTEGER NOT NULL,
	PRIMARY KEY (account, id, flow)
) STRICT, WITHOUT ROWID;
`
