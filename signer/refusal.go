package signer

import (
	"fmt"

	"github.com/bursar/bursar"
)

// Reason is the public name of why an unsigned transaction is not signed; counters and alarms are kept by it.
type Reason string

// The reasons. Each of them means a fault in the core or in an adapter, or somebody at work who should not be there.
const (
	ReasonUnknownChain Reason = "unknown_chain"      // no policy allows signing for it
	ReasonOrder        Reason = "bad_order"          // the order contradicts itself or its kind
	ReasonTooLarge     Reason = "too_large"          // more bytes, inputs or payments than the policy allows
	ReasonUnreadable   Reason = "unreadable"         // the unsigned transaction's bytes are no transaction of the chain
	ReasonUnpaid       Reason = "unpaid"             // a payment of the order is missing
	ReasonExternal     Reason = "foreign_payment"    // something is paid that the order does not name
	ReasonOwnAddress   Reason = "own_address"        // a withdrawal would pay an address of ours
	ReasonChange       Reason = "change"             // more than one output returns to us, or one to a wrong address
	ReasonSource       Reason = "foreign_source"     // an input is not opened by the key that it names
	ReasonDigest       Reason = "bad_digest"         // what is to be signed has the wrong form, or stands there twice
	ReasonFee          Reason = "fee_above_limit"    // the fee exceeds the order's limit, the policy's or the unsigned transaction's own figure
	ReasonRate         Reason = "rate_above_limit"   // the fee is too high for the transaction's weight
	ReasonPace         Reason = "hourly_limit"       // too much would leave within an hour; later it is signed
	ReasonHalted       Reason = "halted"             // an operator or the service halted it; after the halt it is signed
	ReasonReservations Reason = "claims"             // the unsigned transaction does not claim one coin for each input
	ReasonSignature    Reason = "signature"          // a signature made here did not verify: broken hardware or memory
	ReasonAltered      Reason = "altered_on_joining" // the signed transaction is not the one that was inspected
)

// RefusalError says that an outgoing transaction was not signed, or that what was signed is withheld. Its text holds
// addresses and amounts and no secret.
type RefusalError struct {
	Chain      bursar.ChainID
	OutgoingID bursar.ID // the order's
	Reason     Reason
	Detail     string
}

// Error returns the reason and the detail.
func (e *RefusalError) Error() string {
	return fmt.Sprintf("the signer refuses spend %s on %s: %s: %s", e.OutgoingID, e.Chain, e.Reason, e.Detail)
}
