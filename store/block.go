package store

import (
	"context"
	"time"

	"github.com/bursar/bursar"
)

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

// RollBack forgets the cursor's block and moves the cursor to its parent.
func (tx Blocks) RollBack(ctx context.Context, chain bursar.ChainID, b Block) error {
	if _, err := tx.exec(ctx, "roll back block",
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

// At returns a recorded block, or ErrNotFound when it was never recorded or is forgotten.
func (tx Blocks) At(ctx context.Context, chain bursar.ChainID, height uint64) (Block, error) {
	b := Block{Height: height}
	err := tx.row(ctx, "read block", `SELECT hash, parent FROM blocks WHERE chain = $1 AND height = $2`,
		[]any{string(chain), int64(height)}, &b.Hash, &b.Parent)
	return b, err
}

// AnyBelow reports whether any block below a height is recorded.
func (tx Blocks) AnyBelow(ctx context.Context, chain bursar.ChainID, height uint64) (found bool, err error) {
	err = tx.row(ctx, "look for earlier blocks", `SELECT EXISTS (SELECT 1 FROM blocks WHERE chain = $1 AND height < $2)`,
		[]any{string(chain), int64(height)}, &found)
	return found, err
}
