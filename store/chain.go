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
	{"epoch_since", func(c *ChainState) any { return instant{&c.EpochSince} }},
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

// Lease is the right of one replica to lead a chain. Token grows with every change of leader.
type Lease struct {
	Chain  bursar.ChainID
	Holder string
	Token  int64
}

// Acquire takes or renews the lease of a chain for ttl; it reports false while another replica holds it. A replica of a
// later epoch than the holder's takes it at once, and from then on none of an earlier one gets it: such a replica knows
// neither the hot wallet nor what may be signed. One comparison of the row decides, and every transaction of a leader
// begins with the same row (Fence).
func (tx Leases) Acquire(ctx context.Context, chain bursar.ChainID, holder string,
	ttl time.Duration) (Lease, bool, error) {
	lease := Lease{Chain: chain, Holder: holder}
	err := tx.row(ctx, "acquire lease",
		`UPDATE chains SET token = CASE WHEN holder = $2 AND lease_until >= $3 AND epoch = $5 THEN token
		ELSE token + 1 END, holder = $2, lease_until = $4, epoch = $5
		WHERE chain = $1 AND epoch <= $5 AND (holder = $2 OR lease_until < $3 OR epoch < $5) RETURNING token`,
		[]any{string(chain), holder, micros(tx.now), micros(tx.now.Add(ttl)), int64(tx.epoch)}, &lease.Token)
	if errors.Is(err, ErrNotFound) {
		return Lease{}, false, nil
	}
	return lease, err == nil, err
}

// Release gives up a lease so that another replica need not wait for its end.
func (tx Leases) Release(ctx context.Context, l Lease) error {
	_, err := tx.exec(ctx, "release lease",
		`UPDATE chains SET lease_until = 0, holder = '' WHERE chain = $1 AND holder = $2 AND token = $3`,
		string(l.Chain), l.Holder, l.Token)
	return err
}

// Fence locks the chain under a lease and returns its state, or ErrLeaseLost when another replica leads it. Whatever a
// leader writes, it writes in a transaction that began with Leases.Fence: a leader that was away too long cannot write.
func (tx Leases) Fence(ctx context.Context, l Lease) (ChainState, error) {
	state, err := chainColumns.one(ctx, tx.Tx, "check lease",
		`FROM chains WHERE chain = $1 AND holder = $2 AND token = $3`+tx.forUpdate(),
		string(l.Chain), l.Holder, l.Token)
	if errors.Is(err, ErrNotFound) {
		return ChainState{}, ErrLeaseLost
	}
	return state, err
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

// Block is a block as the cursor remembers it.
type Block struct {
	Height uint64
	Hash   string
	Parent string
	Time   time.Time // as the chain says; kept of the newest one alone
}

// Push records a block and moves the cursor to it; older blocks than keep are forgotten.
func (tx Blocks) Push(ctx context.Context, chain bursar.ChainID, b Block, keep int) error {
	return tx.PushAll(ctx, chain, []Block{b}, keep)
}

// PushAll records blocks that follow each other and moves the cursor to the last; blocks further below it than keep are
// forgotten, or never written where they are among these.
func (tx Blocks) PushAll(ctx context.Context, chain bursar.ChainID, blocks []Block, keep int) error {
	if len(blocks) == 0 {
		return nil
	}
	last := blocks[len(blocks)-1]
	oldest := int64(last.Height) - int64(keep)
	in := insertion{what: "record blocks", table: "blocks", rows: min(len(blocks), keep+1)}
	for _, b := range blocks {
		if int64(b.Height) >= oldest {
			in.add(values{{"chain", string(chain)}, {"height", int64(b.Height)}, {"hash", b.Hash}, {"parent", b.Parent}})
		}
	}
	if err := tx.insertRows(ctx, in); err != nil {
		return err
	}
	if _, err := tx.exec(ctx, "forget blocks",
		`DELETE FROM blocks WHERE chain = $1 AND height < $2`, string(chain), oldest); err != nil {
		return err
	}
	return tx.moveCursor(ctx, chain, int64(last.Height), last.Hash, last.Time)
}

// Pop forgets the cursor's block and moves the cursor to its parent.
func (tx Blocks) Pop(ctx context.Context, chain bursar.ChainID, b Block) error {
	if _, err := tx.exec(ctx, "pop block",
		`DELETE FROM blocks WHERE chain = $1 AND height = $2`, string(chain), int64(b.Height)); err != nil {
		return err
	}
	var before int64 // on a chain with skipped heights the parent is further down
	err := tx.row(ctx, "read parent",
		`SELECT COALESCE((SELECT MAX(height) FROM blocks WHERE chain = $1 AND height < $2), $3)`,
		[]any{string(chain), int64(b.Height), int64(b.Height) - 1}, &before)
	if err != nil {
		return err
	}
	// What follows on the other branch is not final before a node says so again.
	_, err = tx.exec(ctx, "lower final height",
		`UPDATE chains SET final_height = $2 WHERE chain = $1 AND final_height > $2`, string(chain), max(before, 0))
	if err != nil {
		return err
	}
	return tx.moveCursor(ctx, chain, before, b.Parent, time.Time{})
}

// moveCursor moves the cursor to a block that was made at a time; zero: that is not known.
func (tx *Tx) moveCursor(
	ctx context.Context, chain bursar.ChainID, height int64, hash string, made time.Time,
) error {
	return tx.change(ctx, "move cursor",
		`UPDATE chains SET height = $2, hash = $3, block_time = $4 WHERE chain = $1`, string(chain), height, hash,
		micros(made))
}

// SetCursor begins a chain after a block that is not recorded itself.
func (tx Chains) SetCursor(ctx context.Context, chain bursar.ChainID, height int64, hash string) error {
	return tx.moveCursor(ctx, chain, height, hash, time.Time{})
}

// At returns a recorded block, or ErrNotFound when it was never recorded or is forgotten.
func (tx Blocks) At(ctx context.Context, chain bursar.ChainID, height uint64) (Block, error) {
	b := Block{Height: height}
	err := tx.row(ctx, "read block", `SELECT hash, parent FROM blocks WHERE chain = $1 AND height = $2`,
		[]any{string(chain), int64(height)}, &b.Hash, &b.Parent)
	return b, err
}

// WithLease runs f while this process leads the chain, again and again until ctx ends: it waits while another replica
// leads, renews the lease while f runs, and cancels f's context when the lease is lost or f must start again.
func (db *DB) WithLease(ctx context.Context, chain bursar.ChainID, holder string, ttl time.Duration,
	f func(context.Context, Lease) error) error {
	if err := db.Do(ctx, func(tx *Tx) error { return tx.Chains().Ensure(ctx, chain) }); err != nil {
		return err
	}
	tick := time.NewTicker(ttl / 4)
	defer tick.Stop()
	for {
		lease, ok, err := db.acquire(ctx, chain, holder, ttl)
		if err == nil && ok {
			err = db.underLease(ctx, lease, ttl, f)
		}
		if err != nil && ctx.Err() == nil && !errors.Is(err, ErrLeaseLost) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

func (db *DB) acquire(ctx context.Context, chain bursar.ChainID, holder string,
	ttl time.Duration) (lease Lease, ok bool, err error) {
	err = db.Do(ctx, func(tx *Tx) (err error) {
		lease, ok, err = tx.Leases().Acquire(ctx, chain, holder, ttl)
		return err
	})
	return lease, ok, err
}

// underLease runs f and renews the lease beside it.
func (db *DB) underLease(
	ctx context.Context, lease Lease, ttl time.Duration, f func(context.Context, Lease) error,
) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ended := make(chan error, 1)
	go func() { ended <- f(ctx, lease) }()
	renew := time.NewTicker(ttl / 4)
	defer renew.Stop()
	valid := time.Now().Add(ttl)
	for {
		select {
		case err := <-ended:
			// A lease that is not released runs out by itself.
			_ = db.Do(context.WithoutCancel(ctx), func(tx *Tx) error {
				return tx.Leases().Release(context.WithoutCancel(ctx), lease)
			})
			return err
		case <-renew.C:
			again, ok, err := db.acquire(ctx, lease.Chain, lease.Holder, ttl)
			switch {
			case err == nil && ok && again.Token == lease.Token:
				valid = time.Now().Add(ttl)
			case err == nil || time.Now().After(valid):
				cancel(ErrLeaseLost)
				<-ended //nolint:errcheck // it ends because its lease is lost
				return ErrLeaseLost
			}
		}
	}
}
