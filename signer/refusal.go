package signer

import (
	"fmt"

	"github.com/bursar/bursar"
)

// Reason is the public name of why a transaction is not signed; counters and alarms are grouped by it.
type Reason string

// The reasons. Each of them means a fault in the core or in an adapter, or an intruder; only quota, halted and
// not-frozen also occur in normal operation.
const (
	ReasonUnknownChain Reason = "unknown_chain"       // no policy allows signing for it
	ReasonRequest      Reason = "invalid_request"     // the request contradicts itself or its kind
	ReasonTooLarge     Reason = "too_large"           // more bytes, inputs or payments than the policy allows
	ReasonUnreadable   Reason = "unreadable"          // the bytes are not a transaction of the chain
	ReasonUnpaid       Reason = "unpaid"              // a payment of the request is missing
	ReasonExternal     Reason = "unrequested_payment" // it makes a payment that the request does not contain
	ReasonOwnAddress   Reason = "own_address"         // a withdrawal would pay an address of ours
	ReasonChange       Reason = "change"              // more than one output returns to us, or one to a wrong address
	ReasonSource       Reason = "wrong_source"        // an input is not opened by the key that it names
	ReasonDigest       Reason = "bad_digest"          // a digest has the wrong form, or occurs twice
	ReasonFee          Reason = "fee"                 // the fee exceeds a limit, or differs from the stated one
	ReasonRate         Reason = "fee-rate"            // the fee is too high for the transaction's weight
	ReasonTopUp        Reason = "top-up"              // a gas top-up is more than twice the highest fee
	ReasonQuota        Reason = "quota"               // a limit of an hour, day or week would be exceeded
	ReasonProof        Reason = "inputs-proven"       // the previous transactions do not prove what its inputs hold
	ReasonOutpoint     Reason = "coin-one-amount"     // another amount or script was signed for one of its outpoints
	ReasonVersions     Reason = "replacements"        // too many transactions that exclude each other were signed
	ReasonFrozen       Reason = "not-frozen"          // the signer is frozen, until it is thawed by a command
	ReasonClock        Reason = "clock"               // the signer's clock is behind what it signed before
	ReasonSetBack      Reason = "set-back"            // the signer's state is older than what the service has seen of it
	ReasonHalted       Reason = "halted"              // an operator or the service halted it; after the halt it is signed
	ReasonReservations Reason = "reservations"        // the unsigned transaction does not reserve one UTXO for each input
	ReasonSignature    Reason = "signature"           // a signature made here did not verify: broken hardware or memory
	ReasonAltered      Reason = "altered_on_joining"  // the signed transaction is not the one that was inspected
)

// RefusalError says that an outgoing transaction was not signed, or that its signatures are withheld. Its text contains
// addresses and amounts and no secret.
type RefusalError struct {
	Chain      bursar.ChainID
	OutgoingID bursar.ID // of the request
	Reason     Reason
	Detail     string
}

// Error returns the reason and the detail.
func (e *RefusalError) Error() string {
	return fmt.Sprintf("the signer refuses outgoing transaction %s on %s: %s: %s", e.OutgoingID, e.Chain, e.Reason,
		e.Detail)
}
