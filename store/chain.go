package store

import (
	"context"
	"errors"
	"time"

	"github.com/bursar/bursar"
)

// Errors of a chain's cursor.
var (
	ErrLeaseLost = errors.New("another replica leads this chain now")
	ErrNoCursor  = errors.New("the chain has no cursor yet")
)

// ChainState is how far the service has come on a chain.
type ChainState struct {
	Chain     bursar.ChainID
	Height    int64 // of the last block recorded; -1 before the first
	Hash      string
	Time      time.Time // of that block, as the chain says; zero: not known
	Latest    uint64    // newest height that a node has reported
	Final     uint64    // newest final height that a node has reported
	CheckedAt time.Time
	Halted    string // the oldest reason why nothing is signed on this chain, for people; empty while all is well
	Holder    string

	Failing      string    // why it cannot be followed now; empty while it can
	FailingSince time.Time // zero while it can
	AddedAt      time.Time // when it was first configured; zero where a former version added it

	ReadyToken int64 // of the lease under which the follower caught up; see Ready

	Epoch      uint32    // of the seed: the newest in which a replica has led the chain
	EpochSince time.Time // when a replica first led it in that; zero: in the first, or an earlier release did not note it
}

// Ready reports whether the follower, under this lease, has recorded up to a final block that was reported after the
// lease was taken. Nothing may be signed before: the database may be older than the chain.
func (c ChainState) Ready(l Lease) bool {
	return c.Chain == l.Chain && c.ReadyToken > 0 && c.ReadyToken == l.Token
}

// oldestHalt is the oldest reason why nothing is signed on a chain, ” without any.
const oldestHalt = `COALESCE((SELECT h.reason FROM halts h
	WHERE h.scope = 'all' OR h.scope = 'chain:' || chains.chain ORDER BY h.number LIMIT 1), '')`

// epochSince is 0 before somebody acts on the chain's epoch: until then the column is of the epoch before.
const epochSince = `CASE WHEN epoch_acted = epoch THEN epoch_since ELSE 0 END`

var chainColumns = columnsOf([]column[ChainState]{
	{"chain", func(c *ChainState) any { return &c.Chain }},
	{"height", func(c *ChainState) any { return &c.Height }},
	{"hash", func(c *ChainState) any { return &c.Hash }},
	{"block_time", func(c *ChainState) any { return instant{&c.Time} }},
	{"latest_height", func(c *ChainState) any { return &c.Latest }},
	{"final_height", func(c *ChainState) any { return &c.Final }},
	{"checked_at", func(c *ChainState) any { return instant{&c.CheckedAt} }},
	{oldestHalt, func(c *ChainState) any { return &c.Halted }},
	{"holder", func(c *ChainState) any { return &c.Holder }},
	{"failing", func(c *ChainState) any { return &c.Failing }},
	{"failing_since", func(c *ChainState) any { return instant{&c.FailingSince} }},
	{"added_at", func(c *ChainState) any { return instant{&c.AddedAt} }},
	{"ready_token", func(c *ChainState) any { return &c.ReadyToken }},
	{"epoch", func(c *ChainState) any { return &c.Epoch }},
	{epochSince, func(c *ChainState) any { return instant{&c.EpochSince} }},
})

// Ensure adds the chain's row where there is none, and notes when that was.
func (tx Chains) Ensure(ctx context.Context, chain bursar.ChainID) error {
	_, err := tx.exec(ctx, "add chain",
		`INSERT INTO chains(chain, added_at) VALUES ($1, $2) ON CONFLICT (chain) DO NOTHING`, string(chain), micros(tx.now))
	return err
}

// State returns a chain's state, or ErrNotFound before Chains.Ensure.
func (tx Chains) State(ctx context.Context, chain bursar.ChainID) (ChainState, error) {
	return chainColumns.one(ctx, tx.Tx, "read chain", `FROM chains WHERE chain = $1`, string(chain))
}

// States returns the state of every chain that the database has seen.
func (tx Chains) States(ctx context.Context) ([]ChainState, error) {
	return chainColumns.rows(ctx, tx.Tx, "list chains", `FROM chains ORDER BY chain`)
}

// Lock is Chains.State and keeps the cursor where it is until the transaction ends.
func (tx Chains) Lock(ctx context.Context, chain bursar.ChainID) (ChainState, error) {
	return chainColumns.one(ctx, tx.Tx, "lock chain", `FROM chains WHERE chain = $1`+tx.forUpdate(), string(chain))
}

// SetHead records what a node reported of the chain's end.
func (tx Chains) SetHead(ctx context.Context, chain bursar.ChainID, latest, final uint64) error {
	_, err := tx.exec(ctx, "note head",
		`UPDATE chains SET latest_height = $2, final_height = $3, checked_at = $4 WHERE chain = $1`,
		string(chain), int64(latest), int64(final), micros(tx.now))
	return err
}

// SetReady notes that the follower has caught up under a lease. It belongs into the transaction that records the
// final block.
func (tx Chains) SetReady(ctx context.Context, l Lease) error {
	_, err := tx.exec(ctx, "note readiness",
		`UPDATE chains SET ready_token = token WHERE chain = $1 AND token = $2`, string(l.Chain), l.Token)
	return err
}

// SetFailing notes why the chain cannot be followed now, or that it can with "". The first failure in a row says
// since when.
func (tx Chains) SetFailing(ctx context.Context, chain bursar.ChainID, reason string) error {
	_, err := tx.exec(ctx, "note a failing chain",
		`UPDATE chains SET failing_since = CASE WHEN $2 = '' THEN 0 WHEN failing = '' THEN $3 ELSE failing_since END,
		failing = $2 WHERE chain = $1`, string(chain), reason, micros(tx.now))
	return err
}

// SetCursor begins a chain after a block that is not recorded itself.
func (tx Chains) SetCursor(ctx context.Context, chain bursar.ChainID, height int64, hash string) error {
	return tx.moveCursor(ctx, chain, height, hash, time.Time{})
}
