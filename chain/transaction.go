package chain

import (
	"context"
	"fmt"

	"github.com/bursar/bursar"
)

// Kind says why an outgoing transaction is made; the signer checks it by the rules of its kind.
type Kind string

// The kinds of outgoing transactions.
const (
	KindWithdrawal Kind = "withdrawal" // pays withdrawals, or the refund of one unattributed deposit to its sender
	KindSweep      Kind = "sweep"      // sweeps a deposit address into the hot wallet
	KindGasTopUp   Kind = "gas_top_up" // pays a deposit address the gas of its token sweep

	// KindConsolidation merges many UTXOs into one of the hot wallet, on a chain of the UTXO model. Its one payment has
	// the highest amount that may arrive there; the fee is taken out of it. A replacement with a higher fee keeps its
	// UTXOs. It also spends a UTXO of another outgoing transaction of ours, which can then never be included.
	KindConsolidation Kind = "consolidation"

	// KindToCold pays one amount from the hot wallet to an address of a cold wallet. The signer knows those addresses
	// by its own configuration.
	KindToCold Kind = "to_cold"
)

// TxRequest is a transaction that the core asks an adapter to build, with everything that the adapter may use for it.
type TxRequest struct {
	ID   bursar.ID `json:"id"` // of the outgoing transaction
	Kind Kind      `json:"kind"`
	// Payments are what to pay. A sweep has one, to the hot wallet; its Amount is the whole balance, less the fee for
	// the native asset.
	Payments []Payment     `json:"payments"`
	From     Source        `json:"from"`   // the payer, on a chain of the account model
	Change   Source        `json:"change"` // where change is paid to, on a chain of the UTXO model
	MaxFee   bursar.Amount `json:"maxFee"` // Build fails above it; in the native asset

	UTXOs []UTXO `json:"coins,omitempty"` // what may be spent, best first, on a chain of the UTXO model
	// MoreUTXOs says that there are more UTXOs of ours than one transaction can choose from.
	MoreUTXOs bool    `json:"-"`
	Nonce     *uint64 `json:"nonce,omitempty"` // the next one by our books; nil before the first transaction
	// Replaces is the transaction to replace with the same reservations and a higher fee; its Bytes are empty where
	// they are not known.
	Replaces *UnsignedTx `json:"-"`

	// Reserved is how much outgoing transactions that are not in a block yet take from the paying address, one item for
	// each asset; the native asset's includes their highest fees. The transaction to replace is not among them. On a
	// chain of the account model an unsigned transaction may use only what the node's balance exceeds it by: the node
	// does not subtract waiting transactions.
	Reserved []Reserve `json:"-"`
}

// Reserve is a reserved amount of one asset.
type Reserve struct {
	Contract string // canonical; empty for the native asset
	Amount   bursar.Amount
}

// ReservedOf returns how much of an asset is reserved.
func (r TxRequest) ReservedOf(contract string) bursar.Amount {
	for _, reserve := range r.Reserved {
		if reserve.Contract == contract {
			return reserve.Amount
		}
	}
	return bursar.Amount{}
}

// Free returns how much of an asset's balance is not reserved.
func (r TxRequest) Free(contract string, held bursar.Amount) bursar.Amount {
	return held.SubOrZero(r.ReservedOf(contract))
}

// Lacks returns by how much an asset's balance must grow before the amounts can be paid besides what is reserved.
func (r TxRequest) Lacks(contract string, held bursar.Amount, amounts ...bursar.Amount) (bursar.Amount, error) {
	needed, err := bursar.Sum(append(amounts, r.ReservedOf(contract))...)
	if err != nil {
		return bursar.Amount{}, fmt.Errorf("sum of a payment and what is reserved: %w", err)
	}
	return needed.SubOrZero(held), nil
}

// Payment is an amount of an asset for an address.
type Payment struct {
	Address  bursar.Address `json:"address"`
	Contract string         `json:"contract,omitempty"`
	Amount   bursar.Amount  `json:"amount"`
}

// Source is an address of ours with its key.
type Source struct {
	Key  KeyRef `json:"key"`
	Base string `json:"base"`
	// Pub is the public key in hexadecimal, for chains whose transactions contain it before they are signed (XRPL). It
	// is set for the hot address; for others it may be empty.
	Pub string `json:"pub,omitempty"`
}

// Is reports whether two sources have the same address and the same key.
func (s Source) Is(other Source) bool { return s.Key == other.Key && s.Base == other.Base }

// UTXO is an unspent output of ours.
type UTXO struct {
	Outpoint    string        `json:"claim"` // "<txid>:<output>"
	Source      Source        `json:"source"`
	Amount      bursar.Amount `json:"amount"`
	Unconfirmed bool          `json:"unconfirmed,omitempty"` // our own change that is in no block yet
}

// FeeMarket is a chain that knows when transactions are cheap, so that those without urgency can wait for that.
type FeeMarket interface {
	// FeesAreLow reports whether a transaction's fee is low now, compared with the usual fee.
	FeesAreLow(ctx context.Context) (bool, error)
}

// UnsignedTx is an unsigned transaction with what it uses up.
type UnsignedTx struct {
	// Reservations are exclusive: outpoints, "<base>/<nonce>", or "tx/…" where an expiring transaction uses up neither.
	Reservations []string      `json:"claims"`
	Bytes        []byte        `json:"unsigned"` // in the adapter's own encoding, complete: Inspect needs nothing else
	Fee          bursar.Amount `json:"fee"`      // the most it can cost, in the native asset
	// Expires is the final height, or the chain's time, past which it can never be included; 0: never.
	Expires uint64 `json:"expires,omitempty"`
	// Previous has, on a chain of the UTXO model, each transaction once that made an output in Reservations, in the
	// form that Provable reads. It is set only where the transaction goes to the signer, and never stored with it.
	Previous [][]byte `json:"previous,omitempty"`
	// Orders has, for a signer with a policy or with keys of clients, the order of each payment of a withdrawal. It is
	// set only where the transaction goes to the signer, and never stored with it.
	Orders []Order `json:"orders,omitempty"`
}

// Order is the order of one payment, with the approvals of it, each as package approval writes it.
type Order struct {
	Text      string       `json:"text"`
	Signature string       `json:"signature,omitempty"` // of the client, as package orderkey writes it; empty: none
	Approvals []SignedText `json:"approvals,omitempty"`
	Screening Screening    `json:"screening,omitzero"` // zero: the screening service did not answer
}

// Screening is what the screening service was asked about a payment, and what it signed, as package verdict writes
// them.
type Screening struct {
	Request   string `json:"request"`
	Text      string `json:"text"`
	Signature string `json:"signature"` // Ed25519 over the text, in Base64
}

// SignedText is a text with one armored SSH signature.
type SignedText struct {
	Text      string `json:"text"`
	Signature string `json:"signature"`
}

// Contents is what a transaction does, read from its bytes and not from its request.
type Contents struct {
	Payments []Payment     // every output or transfer, change included
	Fee      bursar.Amount // the most it can cost
	Weight   uint64        // vbytes, gas or the like, so that Fee/Weight is a rate
	Inputs   []Input
	// Reservations names what the bytes themselves use up, in the form of UnsignedTx.Reservations: of two transactions
	// that share a reservation, the chain includes at most one. It is empty where a transaction uses up nothing
	// exclusive.
	Reservations []string
}

// Input is one signature that a transaction needs.
type Input struct {
	Source Source
	Digest []byte // what is signed: a 32-byte hash for secp256k1, the message for ed25519

	// On a chain of the UTXO model: the UTXO that is spent, and what the bytes say that it holds. That is not proven by
	// the bytes: see Provable.
	Outpoint string
	Amount   bursar.Amount
}

// SignedTx is a transaction ready to be broadcast, and all that must be stored to broadcast it again.
type SignedTx struct {
	TxID   string
	Raw    []byte
	Change []UTXO // outputs that pay the change to us
}

// Signable is the pure part of an adapter, which a signer runs without a node.
type Signable interface {
	Addresses
	// Inspect reads the contents of UnsignedTx.Bytes.
	Inspect(unsigned []byte) (Contents, error)
	// Assemble puts the signatures, one for each Input in order, into the transaction, and checks them.
	Assemble(unsigned UnsignedTx, signatures [][]byte) (SignedTx, error)
}

// Transactions builds and sends transactions.
type Transactions interface {
	// Quote returns the present fee of a payment in the native asset. A *RefusedError says that the destination or
	// amount can never be paid: dust, a burn address, the token's own contract, a missing tag.
	Quote(ctx context.Context, payment Payment) (bursar.Amount, error)
	// Build builds the unsigned transaction of a request. It may return *NeedsFundsError, *NeedsGasError,
	// *FeeLimitError, *TooManyInputsError, *RefusedError (as a *RefusedPaymentsError where it concerns some payments
	// only) or ErrExternalNonce; with an error nothing is reserved.
	Build(ctx context.Context, request TxRequest) (UnsignedTx, error)
	// Broadcast sends the bytes; sending them again is harmless, and "already known" or "already in a block" gives nil.
	// ErrRejected: they can never become valid. ErrUnderpriced: they are valid, but the fee is too low for the node
	// now. Any other error: the outcome is unknown.
	Broadcast(ctx context.Context, tx SignedTx) error
	// Expired reports whether a transaction that is in no block can no longer enter one, proven by the final chain.
	Expired(ctx context.Context, unsigned UnsignedTx, txID string) (bool, error)
}

// NonceReader is an adapter whose node says how many nonces an address has used.
type NonceReader interface {
	// NonceAt returns the nonce that an address uses next as of the given block: all lower ones are used in it or before
	// it. A block that the node does not have as canonical is an error, so that a node which lags cannot answer wrongly.
	NonceAt(ctx context.Context, base string, at BlockRef) (uint64, error)
}

// Holdings reads the balances of addresses of ours on the final chain, for sweeps and for reconciliation.
type Holdings interface {
	// Holdings returns the amount of an asset at each base as of the given block, in the order asked.
	Holdings(ctx context.Context, bases []string, contract string, at BlockRef) ([]bursar.Amount, error)
}
