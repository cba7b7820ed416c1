package follow

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// Block is a block as handlers see it: what the chain says, and what the database knows of whom it concerns.
type Block struct {
	chain.Block
	// Ours has the outgoing transaction behind each transaction of ours in the block, by the transaction's ID. A handler
	// that recognises another one adds it for those after it.
	Ours map[string]bursar.ID
	// Wallets has the wallet at each address that a transfer pays. One without a number is nobody's: the address may have
	// been given out by a database that was lost.
	Wallets map[bursar.Address]bursar.Wallet
	// Unknown names transactions that memory had for ours and the database does not know, though the block was read again
	// since.
	Unknown map[string]bool
}

// Undone is a block that is reorged out.
type Undone struct {
	Height uint64
	State  store.ChainState // as it was with the block
}

// BlockHandler changes what the service knows by what blocks bring and take away.
type BlockHandler interface {
	// Apply writes what a block brought, in the transaction that records the block. Applying the same block again changes
	// nothing. Errors: *ForgottenError where the database has forgotten a transaction of ours.
	Apply(ctx context.Context, tx *store.Tx, b *Block) error
	// Undo takes back what Apply wrote, and what was booked since because the block was final, in the transaction that
	// forgets the block.
	Undo(ctx context.Context, tx *store.Tx, b Undone) error
}

// Finality is up to where a chain is final, and its newest block.
type Finality struct {
	Final  uint64 // recorded
	Latest uint64
}

// Creditor books what became final.
type Creditor interface {
	// Begin runs once before a process that leads the chain follows it. It may fail without harm, and says so in the log.
	Begin(ctx context.Context, lease store.Lease)
	// AnyDue reports whether Credit has anything to do, so that an idle chain writes nothing.
	AnyDue(ctx context.Context, tx *store.Tx, at Finality) (bool, error)
	// Credit books some of what is final, in the transaction that notes how far the chain is, and reports how much, and
	// whether there may be more.
	Credit(ctx context.Context, tx *store.Tx, at Finality) (credited int, more bool, err error)
}

// ForgottenError says that the database does not know a transaction that was read from it as ours: it has stepped back
// under this process, by a failover that lost commits. The block is read again, by what the database knows now; what is
// ours then still is somebody else's, for the memory holds fingerprints.
type ForgottenError struct{ TxID string }

func (e *ForgottenError) Error() string {
	return "the database has forgotten transaction " + e.TxID + ", which was ours"
}

// blockOf adds to a block what the database knows of whom it concerns.
func (f *Follower) blockOf(ctx context.Context, tx *store.Tx, b chain.Block) (block *Block, err error) {
	block = &Block{Block: b, Unknown: f.unknown}
	if block.Ours, err = tx.Outgoing().SentAmong(ctx, f.Chain.Capabilities().ID, txIDs(b)); err != nil {
		return nil, err
	}
	if block.Wallets, err = tx.Wallets().ByAddresses(ctx, f.Chain.Capabilities().Family, addresses(b)); err != nil {
		return nil, err
	}
	return block, f.addGaps(ctx, tx, b, block.Wallets)
}

func txIDs(b chain.Block) []string {
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

func addresses(b chain.Block) []bursar.Address {
	var list []bursar.Address
	for _, t := range b.Transfers {
		list = append(list, t.Address)
	}
	return list
}
