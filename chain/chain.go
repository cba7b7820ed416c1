// Package chain defines the interface between the service and the chains. It owns what every adapter guarantees, and
// never how one does it.
//
// An adapter implements its chain's rules: what was delivered, what is final, what an address is, how a payment is
// built and what a node's answer means. It never sees the database, an account or a seed, and it keeps no state that a
// restart would lose. Its invariants: only value that a successful transaction delivered appears as a Transfer; an
// error, an empty or a partial answer of a node is an error and never an empty block; nothing from a node is passed on
// unchecked.
package chain

import (
	"context"
	"time"

	"github.com/bursar/bursar"
)

// Chain is the complete adapter of one chain.
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
	Pace          time.Duration // how often the follower asks for a new head
	Confirmations int           // how many confirmations a deposit needs, for display; finality itself is Head.Final
	ReorgDepth    int           // how many blocks are stored to handle a reorg
	MaxPayments   int           // how many withdrawals one transaction may pay
	MaxPending    int           // how many unconfirmed transactions may build on each other
	BumpAfter     uint64        // after how many blocks an unconfirmed transaction's fee is bumped; 0: never
	SharedAddress bool          // all wallets share the hot address and differ by memo
	Lifetime      Lifetime      // how long after signing a transaction can still enter a block
}

// Lifetime bounds by the chain's own rules how long a signed transaction can wait. It can never be included any more
// once Blocks more blocks were made and the newest final one is later than the time of signing by Time. The zero
// Lifetime says that transactions do not expire.
type Lifetime struct {
	Blocks uint64
	Time   time.Duration
}

// IsZero reports whether transactions never expire.
func (l Lifetime) IsZero() bool { return l == Lifetime{} }

// Curve is the elliptic curve of a chain's keys.
type Curve string

// The curves in use.
const (
	Secp256k1 Curve = "secp256k1" // public keys are 33 bytes, signatures 65: R, S, recovery id 0 or 1
	Ed25519   Curve = "ed25519"   // public keys are 32 bytes, signatures 64
)

// Model says what a transaction uses up: unspent outputs, or an account's nonces.
type Model string

// The two kinds of chains.
const (
	UTXOModel    Model = "utxo"    // each unspent output is used once
	AccountModel Model = "account" // an account numbers its transactions
)

// PublicKey is a public key in its curve's short form; where Addresses.Address accepts it, also in the long form of
// secp256k1, 65 bytes with both coordinates (SEC 1, 2.3.3), which is several times cheaper to check: no square root.
type PublicKey []byte

// Addresses derives and parses addresses. It is pure: the same input gives the same result on any machine, without a
// node.
type Addresses interface {
	// Address returns the canonical address of a key, or of a memo under the shared key where the chain has memos. Both
	// forms of a key give the same address, except that a chain with a shared address may take the short one only; what
	// is no point of the curve is an error.
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

// Head is the end of a chain as one node reports it: the newest block, and the newest that is final by the chain's own
// rules. Final may be the zero BlockRef while nothing is final yet.
type Head struct {
	Latest BlockRef
	Final  BlockRef
}

// Block is the effect of one canonical block on addresses of ours.
type Block struct {
	Ref            BlockRef
	Parent         string
	Time           time.Time
	Transfers      []Transfer      // value delivered to watched addresses, in the block's order
	Included       []Inclusion     // transactions of ours
	ExternalSpends []ExternalSpend // transactions that spent from a watched address and are not ours
	Funding        []Funding       // the inputs of the transactions in Transfers that are not ours
	Spent          []Spent         // which outputs that the watch asked about were spent; see OutputWatch
	Previous       []PreviousTx    // the transactions in Transfers that made UTXOs, each once
	Anomalies      []Anomaly       // what an operator should look at; it credits nothing
	// Untraced says that the payments by contracts in some transaction were inferred from balances, or are not shown by
	// the node: a transfer by a contract may be missing from Transfers.
	Untraced bool
}

// Anomaly is something in a block that no rule covers, such as an event of a configured token in a form that the token
// standard does not define. It is not credited. Without a contract it concerns the block as a whole, such as that no
// endpoint could trace it.
type Anomaly struct {
	TxID     string
	Contract string // canonical
	What     string // a description for operators
}

// Transfer is value that a successful transaction delivered to a watched address. TxID, Output, Address and Contract
// identify it in whichever block it is included: Output never depends on what else is in the block.
type Transfer struct {
	TxID     string
	Output   uint32
	Address  bursar.Address
	Contract string // canonical; empty for the native asset
	Amount   bursar.Amount
	UTXO     string // the output that can be spent later, as "<txid>:<output>"; empty on a chain of the account model
	// CountsFrom is the height that the chain must reach before the value counts (a coinbase output's maturity).
	CountsFrom uint64
	// Internal marks native value that a contract sent inside a transaction. Read by another method, such as by balances
	// in place of a trace, the same block gives an address the same sum, but possibly in other parts and under other
	// transactions.
	Internal bool
	// Inferred marks value that is seen only as a difference of balances and that no single transaction accounts for.
	Inferred bool
}

// Funding names outputs that a transaction with a Transfer spent, on a chain of the UTXO model. Once another final
// transaction spends one of them, this one can never be in a block again.
type Funding struct {
	TxID   string
	Inputs []string // "<txid>:<output>", up to MaxFundingInputs of them
}

// MaxFundingInputs bounds the storage that an external transaction with very many inputs costs.
const MaxFundingInputs = 200

// Spent says which transaction of a block spent an output.
type Spent struct {
	Outpoint string // "<txid>:<output>"
	TxID     string
}

// Inclusion is a transaction of ours in a block.
type Inclusion struct {
	TxID   string
	Failed bool          // it is in the block and delivered nothing
	Fee    bursar.Amount // what it cost us, in the native asset
	// Delivered is what the block proves that the transaction moved from its payer, one item for each receiver and
	// asset: for a token the value of the contract's own Transfer events, which may be less than the requested amount,
	// or nothing, although the transaction succeeded. It is nil where the chain delivers exactly what a successful
	// transaction says, such as outputs.
	Delivered []Payment
}

// ExternalSpend is a transaction from an address of ours that this database does not know. Either somebody else has
// the key, or the database is older than the chain and has lost the transaction.
type ExternalSpend struct {
	TxID string
	Base string
	// Reservations names what it used up, in the form of UnsignedTx.Reservations: outpoints, or "<base>/<nonce>"; empty
	// where the chain has neither.
	Reservations []string
	// Payments is what it delivered, to others and to addresses of ours, by the same evidence as a Transfer. It is empty
	// where the transaction failed.
	Payments []Payment
	Failed   bool
	Fee      bursar.Amount // what it cost us, in the native asset; zero where another address paid it
	// LastHeight is the last height at which a block can include the transaction, as the transaction itself says; 0 if it
	// names none, or the chain does not show it.
	LastHeight uint64
	// Inferred says that no endpoint could show whose outputs it spent, only that one input has the form of an outgoing
	// transaction of ours, which anybody can make. It is an external spend only if Reservations names a UTXO of ours.
	Inferred bool
	// Delegates says that the transaction has an authorization which a key of ours signed (EIP-7702): from then on code
	// controls an address of ours, also where the transaction failed. None of ours has one.
	Delegates bool
}

// Watch says which addresses and transactions are ours. Pays and Sent may rarely report true for others; the core
// checks again.
type Watch interface {
	// Sync makes every address and transaction visible that was committed before the call. An adapter must call it after
	// it has received a block's bytes and before it asks Pays or Sent about them: otherwise it misses a payment to an
	// address that was created in between.
	Sync(ctx context.Context) error
	// Pays reports whether an address is ours.
	Pays(base string) bool
	// Sent reports whether a transaction is ours.
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
