package follow

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// Block is a block as handlers see it: what the chain reports, and what the database knows about it.
type Block struct {
	chain.Block
	// Ours maps the ID of each transaction of ours in the block to its outgoing transaction. A handler that recognizes
	// another one adds it for the handlers after it.
	Ours map[string]bursar.ID
	// Wallets maps each address that a transfer pays to its wallet. A wallet without a number belongs to no account:
	// the address may have been given out by a database that was lost.
	Wallets map[bursar.Address]bursar.Wallet
	// Unknown has the transactions that memory had as ours and the database does not know, although the block was read
	// again since.
	Unknown map[string]bool
	// Cold has the transactions that spend from cold wallets, once the handler of those has added them.
	Cold map[string]bool
}

// RolledBackBlock is a block that is reorged out.
type RolledBackBlock struct {
	Height uint64
	State  store.ChainState // the chain's state while the block was still recorded
}

// BlockHandler updates the database with what blocks bring, and undoes that.
type BlockHandler interface {
	// Apply writes what a block brought, in the database transaction that records the block. Applying the same block
	// again changes nothing. It returns a *ForgottenError if the database has forgotten a transaction of ours.
	Apply(ctx context.Context, tx *store.Tx, b *Block) error
	// Undo undoes what Apply wrote, and what was booked later because the block was final, in the database transaction
	// that removes the block.
	Undo(ctx context.Context, tx *store.Tx, b RolledBackBlock) error
}

// Finality is the final height of a chain, and its newest block.
type Finality struct {
	Final  uint64 // recorded
	Latest uint64
}

// Creditor books what became final.
type Creditor interface {
	// Begin runs once before a process that holds the chain lease follows the chain. It may fail without consequences,
	// and then logs why.
	Begin(ctx context.Context, lease store.Lease)
	// AnyDue reports whether Credit has anything to do, so that an idle chain writes nothing.
	AnyDue(ctx context.Context, tx *store.Tx, at Finality) (bool, error)
	// Credit books some of what is final, in the database transaction that records the head, and reports how much, and
	// whether there may be more.
	Credit(ctx context.Context, tx *store.Tx, at Finality) (credited int, more bool, err error)
}

// ForgottenError says that the database does not know a transaction that the watch had as ours: the database has
// stepped back under this process, by a failover that lost commits. The block is read again with what the database
// knows now. A transaction that is still unknown then belongs to others, because the watch holds fingerprints.
type ForgottenError struct{ TxID string }

func (e *ForgottenError) Error() string {
	return "the database has forgotten transaction " + e.TxID + ", which was ours"
}

// blockOf adds to a block what the database knows about its addresses and transactions.
func (f *Follower) blockOf(ctx context.Context, tx *store.Tx, b chain.Block) (block *Block, err error) {
	block = &Block{Block: b, Unknown: f.memory.unknownTxs}
	if block.Ours, err = tx.Outgoing().SentAmong(ctx, f.Chain.Capabilities().ID, txIDsOf(b)); err != nil {
		return nil, err
	}
	if block.Wallets, err = tx.Wallets().ByAddresses(ctx, f.Chain.Capabilities().Family, addressesOf(b)); err != nil {
		return nil, err
	}
	return block, f.addGaps(ctx, tx, b, block.Wallets)
}

func txIDsOf(b chain.Block) []string {
	var ids []string
	for _, t := range b.Transfers {
		ids = append(ids, t.TxID)
	}
	for _, in := range b.Included {
		ids = append(ids, in.TxID)
	}
	for _, x := range b.ExternalSpends {
		ids = append(ids, x.TxID)
	}
	return ids
}

func addressesOf(b chain.Block) []bursar.Address {
	var list []bursar.Address
	for _, t := range b.Transfers {
		list = append(list, t.Address)
	}
	return list
}
