package chain

import (
	"context"
	"errors"
	"time"

	"github.com/bursar/bursar"
)

// ColdRequest is a payment from a cold wallet that somebody else signs later.
type ColdRequest struct {
	Wallet  bursar.ColdWallet
	Payment Payment
	MaxFee  bursar.Amount // Build fails above it; in the native asset
	// Uses are reservations of another transaction, of which this one is to use up at least one if it still can.
	Uses []string
	// Replaces is that transaction. It may wait in nodes' pools, where the chain has them replaced at a higher price only.
	Replaces []byte
}

// ColdTx is what a transaction from a cold wallet does, read from its bytes alone.
type ColdTx struct {
	Payments []Payment     // to others than the wallet itself
	Change   bursar.Amount // what returns to the wallet
	Fee      bursar.Amount // the most it can cost
	Weight   uint64        // so that Fee/Weight is a rate, as Contents.Weight
	Inputs   []ColdInput
	// Reservations names what the bytes use up, as Contents.Reservations: another transaction that uses one of them up
	// makes this one impossible.
	Reservations []string
	Notes        []ColdNote // what else a person who signs is to see
	// Ends is when the chain no longer accepts it; zero: no time of its own ends it.
	Ends time.Time
	// Last is the last block that can include it; zero: none is. Spacing is the least and the most time that one block
	// takes.
	Last    uint64
	Spacing [2]time.Duration
}

// ColdNote is a line of the description of a transaction, read from its bytes.
type ColdNote struct{ Name, Text string }

// ColdInput is what one part of a transaction needs signed.
type ColdInput struct {
	Digest []byte
	Keys   []ColdKey // that may sign it
	Need   int       // how many of them must
}

// Have returns how many signatures there are.
func (i ColdInput) Have() (n int) {
	for _, k := range i.Keys {
		if k.Signed {
			n++
		}
	}
	return n
}

// ColdKey is a key that may sign. Key is where a seed has it if it is of that seed; the zero KeyRef if no seed of ours
// can have it.
type ColdKey struct {
	Public PublicKey
	// Account is the key's address where nothing but that is known of the key: Public is then empty.
	Account string
	Key     KeyRef
	Signed  bool // there is a signature by it, which is good
	// Digest returns what this key signs, where that depends on who signs; nil: the digest of the input.
	Digest func(public PublicKey) []byte
}

// ColdSignature is a signature over the digest of an input, in the form that Signable takes.
type ColdSignature struct {
	Input     int
	Public    PublicKey
	Signature []byte
}

// ErrColdIncomplete says that a transaction from a cold wallet has too few signatures.
var ErrColdIncomplete = errors.New("signatures are missing")

// OfflineRules is the pure part of an adapter whose cold wallets pay by transactions that are signed elsewhere. It
// needs no node. The bytes are in a format that programs and devices of others read, and hold all that proves what is
// spent.
type OfflineRules interface {
	// CheckCold checks the parts of a cold wallet that have a form of the chain: addresses, and a descriptor that has
	// them.
	CheckCold(wallet bursar.ColdWallet) error
	// Address is that of Addresses: it says whose key a ColdKey without a public key is.
	Address(pub PublicKey, memo uint32) (bursar.Address, error)
	// ReadCold reads a transaction from a wallet. Everything in it is proven by the bytes: what the inputs hold, that
	// they are the wallet's, that each signature is by its key over exactly this transaction. Anything else than one
	// payment of the chain's plain form with change to the wallet is an error.
	ReadCold(wallet bursar.ColdWallet, bytes []byte) (ColdTx, error)
	// SignCold adds signatures.
	SignCold(wallet bursar.ColdWallet, bytes []byte, signatures []ColdSignature) ([]byte, error)
	// CombineCold returns a transaction with the signatures of two copies of it. The second may be what programs of
	// others return once it is complete.
	CombineCold(wallet bursar.ColdWallet, one, two []byte) ([]byte, error)
	// FinishCold returns a transaction that is ready to be broadcast; ErrColdIncomplete if signatures are missing.
	FinishCold(wallet bursar.ColdWallet, bytes []byte) (SignedTx, error)
}

// ColdUses is an adapter whose node says whether what a transaction from a cold wallet would use up is used up.
type ColdUses interface {
	// UsedUp reports that of the final chain, and as of which height. By which transaction, it does not say: the books
	// know once they have come to that height. since is what ColdReads returned when it was built; 0: nothing is known.
	UsedUp(ctx context.Context, wallet bursar.ColdWallet, bytes []byte, since uint64) (
		used bool, height uint64, err error)
}

// ColdReads is an adapter whose UsedUp compares for equality what a transaction uses up: an answer from before that
// came to be would look like one from after it was used up.
type ColdReads interface {
	// Unused returns a height as of which what a transaction would use up is there. It is called once it is built; an
	// error means that it should be built again.
	Unused(ctx context.Context, wallet bursar.ColdWallet, bytes []byte) (height uint64, err error)
}

// ColdKeys is an adapter whose node says who may spend from a cold wallet.
type ColdKeys interface {
	// OtherWays returns what else than the keys of its kind may pay from a cold wallet, or needs fewer of them, as of the
	// newest block: a sentence each, with the way to end it; none if there is nothing. It is asked by people and alarms,
	// and decides nothing: a node may lie.
	OtherWays(ctx context.Context, wallet bursar.ColdWallet) ([]string, error)
}

// OfflineBuilder is an adapter that builds transactions from cold wallets.
type OfflineBuilder interface {
	OfflineRules
	// BuildCold builds the unsigned transaction of a request. Its errors are those of Transactions.Build.
	BuildCold(ctx context.Context, request ColdRequest) ([]byte, error)
}
