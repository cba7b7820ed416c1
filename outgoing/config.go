package outgoing

import (
	"context"
	"log/slog"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// Signer signs an unsigned transaction after checking it against its request.
type Signer interface {
	Sign(
		ctx context.Context, id bursar.ChainID, request chain.TxRequest, unsigned chain.UnsignedTx,
	) (chain.SignedTx, error)
}

// Config is what the sender of one chain is made of. Nothing of it changes while the sender runs.
type Config struct {
	DB       *store.DB
	Chain    chain.Chain
	Signer   Signer
	Registry *bursar.Registry
	IDs      *bursar.IDs
	Log      *slog.Logger
	Hot      chain.Source
	Old      []chain.Source // the hot wallets of earlier epochs
	MaxFee   bursar.Amount  // the highest fee of one transaction, in the native asset
	// Cold are the chain's cold wallets, in the form of the chain: the first is paid what exceeds a ceiling.
	Cold []bursar.ColdWallet
	Pace time.Duration // between two polls; 0: Capabilities.Pace

	// SoleSigner says that no other signer ever signs with these keys: what this one never signed nobody has.
	SoleSigner bool

	// Marks records each transaction outside the database before it is signed; nil: it is not recorded. An error of
	// Marks prevents the signature.
	Marks interface {
		// Sign counts an outgoing transaction whose resources are reserved, and stores what is needed to sign it again.
		// unsigned undoes it: nobody has the bytes.
		Sign(ctx context.Context, lease store.Lease, outgoingID bursar.ID) (unsigned func(), err error)
		// NeverSigned undoes Sign as often as it recorded the outgoing transaction.
		NeverSigned(chain bursar.ChainID, outgoingID bursar.ID)
		// KeepUnsigned makes durable what was undone of a chain, before the database says it.
		KeepUnsigned(ctx context.Context, chain bursar.ChainID) error
		// Busy reports whether half of what Sign can record is recorded, or more.
		Busy() bool
		// Signed reports whether Sign recorded an outgoing transaction that has not ended since. It answers from
		// memory.
		Signed(chain bursar.ChainID, outgoingID bursar.ID) bool
		// Used returns the unsigned transactions that Sign recorded for an outgoing transaction that pays others, that may
		// still be included, and that use something beside the given reservations, on a chain where they never expire.
		Used(
			ctx context.Context, tx *store.Tx, outgoingTx bursar.OutgoingTx, reservations []string,
		) ([]chain.UnsignedTx, error)
		// PaidBy returns another outgoing transaction that Sign recorded, that pays one of the given withdrawals and
		// that may still be included; zero if there is none.
		PaidBy(ctx context.Context, tx *store.Tx, outgoingTx bursar.OutgoingTx, orders []bursar.ID) (bursar.ID, error)
	}

	// Orders returns the order of each payment of a withdrawal with its approvals, for a signer that has a policy;
	// empty where it has none. paid are the withdrawals that it pays, if the database does not say so. nil: none are
	// sent to the signer.
	Orders func(
		ctx context.Context, p bursar.OutgoingTx, request chain.TxRequest, paid ...bursar.ID,
	) ([]chain.Order, error)

	Wake           <-chan struct{} // a hint that there is something to do; may be nil
	EventsRecorded func()          // called after a commit that recorded events

	ConsolidateAbove int // number of UTXOs from which they are consolidated while fees are low; 0: 500

	// Suspended returns why a currency is suspended, "" if it is not; nil: no currency is suspended.
	Suspended func(code bursar.CurrencyCode) string

	// Emptying returns the compromise order that is in force at the signer; nil: there is none.
	Emptying func() Emptying

	Screened    Screened    // what screening holds back; nil: payouts are not screened
	ScreenAgain ScreenAgain // set with Screened

	Books            Books // audited before anything is paid; nil: the books are trusted
	Unsignable       bool  // there is no signer: nothing is built, and what was signed before is sent
	GasFromCustomers bool  // network fees of tokens may be paid from customers' funds in the native asset
}
