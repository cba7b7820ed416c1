// Package chain is the seam between the service and the chains it lives on: what every adapter promises, and nothing of
// how one keeps the promise.
//
// An adapter owns its chain's rules: what was delivered, what is final, what an address is, how a payment is built and
// what a node's answer means. It never sees the database, an account or a seed, and it keeps no state that a restart
// would lose. Its invariants: only value delivered by a successful transaction appears as a Transfer; an error, an
// empty or a partial answer of a node is an error and never an empty block; nothing from a node is passed on unchecked.
package chain

import (
	"context"
	"time"

	"github.com/bursar/bursar"
)

// Chain is one chain, complete.
type Chain interface {
	Capabilities() Capabilities
	Addresses
	Blocks
	Transactions
	Signable
	Holdings
}

// Capabilities are the facts of a chain that the core acts on. They never change while the process lives.
type Capabilities struct {
	ID            bursar.ChainID
	Family        bursar.Family
	Curve         Curve
	Model         Model
	Pace          time.Duration // how often a new head is looked for
	Confirmations int           // what a client is told a deposit needs; finality itself is Head.Final
	ReorgDepth    int           // how many blocks are remembered for a reorganisation
	MaxPayments   int           // how many withdrawals one transaction may pay
	MaxPending    int           // how many transactions may wait unconfirmed behind each other
	BumpAfter     uint64        // blocks a transaction may wait before it is replaced; 0: never
	SharedAddress bool          // all wallets share one address and differ by memo
	Lifetime      Lifetime      // how long after it was signed a transaction can still enter a block
}

// Lifetime bounds by the chain's own rules how long a signed transaction can wait: once so many more blocks were made,
// and the newest final one is so much younger than the moment of signing, it can never be included. The zero Lifetime
// says that transactions do not expire.
type Lifetime struct {
	Blocks uint64
	Time   time.Duration
}

// IsZero reports whether transactions never expire.
func (l Lifetime) IsZero() bool { return l == Lifetime{} }

// Curve is the kind of key a chain signs with.
type Curve string

// The curves in use.
const (
	Secp256k1 Curve = "secp256k1" // public keys are 33 bytes, signatures 65: R, S, recovery id 0 or 1
	Ed25519   Curve = "ed25519"   // public keys are 32 bytes, signatures 64
)

// Model says what a transaction uses up.
type Model string

// The two kinds of chains there are.
const (
	UTXOModel    Model = "coins" // each unspent output is used once
	AccountModel Model = "nonce" // an account numbers its transactions
)

// PublicKey is a key in its curve's short form.
type PublicKey []byte

// KeyRef names a key below a family's account key: path <account>/<Branch>/<Index>.
type KeyRef struct {
	Family bursar.Family `json:"family"`
	Branch uint32        `json:"branch"`
	Index  uint32        `json:"index"`
}

// Branches of a family's account key, after BIP 44's external and internal chains.
const (
	DepositBranch uint32 = 0 // one key for each wallet
	OwnBranch     uint32 = 1 // index 0 is the hot key: change, sweeps and the operator's capital
)

// Hot returns the family's hot key.
func Hot(family bursar.Family) KeyRef { return KeyRef{Family: family, Branch: OwnBranch} }

// Addresses is pure: the same input gives the same answer on any machine, without a node.
type Addresses interface {
	// Address returns the canonical address of a key, or of a memo under the shared key where the chain has memos.
	Address(pub PublicKey, memo uint32) (bursar.Address, error)
	// ParseAddress returns the canonical form of a payable address, or an error that is bursar.ErrBadAddress.
	ParseAddress(s string) (bursar.Address, error)
	// ParseContract returns the canonical form of a token contract, or an error that is bursar.ErrBadAddress.
	ParseContract(s string) (string, error)
}

// BlockRef names a block.
type BlockRef struct {
	Height uint64
	Hash   string
}

// Head is a chain's end as one node told it: the newest block, and the newest that is final by the chain's own measure.
// Final may be the zero BlockRef while nothing is final yet.
type Head struct {
	Latest BlockRef
	Final  BlockRef
}

// Block is what one canonical block did to addresses of ours.
type Block struct {
	Ref            BlockRef
	Parent         string
	Time           time.Time
	Transfers      []Transfer      // value delivered to watched addresses, in the block's order
	Included       []Inclusion     // transactions of ours
	ExternalSpends []ExternalSpend // transactions that spent from a watched address and are not ours
	Funding        []Funding       // what the transactions of Transfers used up, those of others than ourselves
	Spent          []Spent         // which outputs were used that the watch asked about; see OutputWatch
	Anomalies      []Anomaly       // what an operator should look at; it moves nothing
	// Untraced says that what contracts sent in some transaction was looked for by balances, or is not shown by the node:
	// a transfer of theirs may be missing from Transfers.
	Untraced bool
}

// Anomaly is something in a block that no rule foresees, such as a listed token's event in a form that its standard
// does not know. It is credited to nobody. Without a contract it is about the block as a whole, such as that no
// endpoint could trace it.
type Anomaly struct {
	TxID     string
	Contract string // canonical
	What     string // for people
}

// Transfer is value that a successful transaction delivered to a watched address. TxID, Output, Address and Contract
// identify it, whichever block it stands in: Output never depends on what else is in the block.
type Transfer struct {
	TxID     string
	Output   uint32
	Address  bursar.Address
	Contract string // canonical; empty for the native asset
	Amount   bursar.Amount
	UTXO     string // what can be spent later, on a chain that uses the UTXO model: the claim's name
	// CountsFrom is the height the chain must have reached before the value counts (a coinbase output's maturity).
	CountsFrom uint64
	// Internal marks native value that a contract sent inside a transaction. Read in another way, such as by balances in
	// place of a trace, the same block gives the same sum to an address, perhaps in other pieces and under other
	// transactions.
	Internal bool
	// Unproven marks value seen only as a difference of balances, for which no single transaction could be shown.
	Inferred bool
}

// Funding names outputs that a transaction with a Transfer used up, on a chain of the UTXO model: once a final
// transaction uses one of them otherwise, this one can never be in a block again.
type Funding struct {
	TxID   string
	Inputs []string // "<txid>:<output>", up to MaxFundingInputs of them
}

// MaxFundingInputs bounds what a stranger's transaction of very many inputs costs to remember.
const MaxFundingInputs = 200

// Spent says which transaction of a block used an output.
type Spent struct {
	Outpoint string // "<txid>:<output>"
	TxID     string
}

// Inclusion is a transaction of ours in a block.
type Inclusion struct {
	TxID   string
	Failed bool          // it is in the block and paid nobody
	Fee    bursar.Amount // what it cost us, in the native asset
	// Delivered is what the block proves that the transaction moved from its payer, one item for each receiver and asset:
	// for a token the value of the contract's own Transfer events, which may be less than was ordered, or nothing, though
	// the transaction succeeded. It is nil where the chain delivers exactly what a successful transaction says, such as
	// outputs.
	Delivered []Payment
}

// ExternalSpend is a transaction from an address of ours that this database did not make. Either the key is in
// other hands, or the database is older than the chain and does not remember the transaction.
type ExternalSpend struct {
	TxID string
	Base string
	// Claims names what it used up as an unsigned transaction of ours would: outpoints, or "<base>/<nonce>"; empty where
	// the chain has neither.
	Reservations []string
	// Payments is what it delivered, to others and to ourselves, by the same evidence as a Transfer. Empty for one that
	// failed.
	Payments []Payment
	Failed   bool
	Fee      bursar.Amount // what it cost us, in the native asset; zero where another address paid it
	// Unproven says that no endpoint could show whose outputs it used, only that one input has the form of an outgoing
	// transaction of ours: anybody can make that form. It is an external spend only if Claims names a UTXO of ours.
	Inferred bool
}

// Watch tells an adapter what is ours. Pays and Sent may rarely say yes for something that is not; the core looks
// again.
type Watch interface {
	// Sync makes every address and transaction visible that was committed before the call. An adapter calls it after it
	// holds a block's bytes and before it asks Pays or Sent about them, so that no payment to a new address is missed.
	Sync(ctx context.Context) error
	Pays(base string) bool
	Sent(txID string) bool
}

// Blocks reads the chain.
type Blocks interface {
	// Head returns the newest and the final block of the healthiest node.
	Head(ctx context.Context) (Head, error)
	// At returns the canonical block at a height, or ErrNoBlock above the head.
	At(ctx context.Context, height uint64) (BlockRef, error)
	// Find returns the canonical block that holds a transaction, or ErrNoBlock.
	Find(ctx context.Context, txID string) (BlockRef, error)
	// After returns up to limit canonical blocks that follow last in order, none at the tip, and ErrOffChain when last is
	// no longer on the best chain. Each block's Parent is the one before it.
	After(ctx context.Context, last BlockRef, limit int, watch Watch) ([]Block, error)
}
