package signer

import (
	"fmt"

	"github.com/bursar/bursar"
)

// Reason is the public name of why a transaction is not signed; counters and alarms are grouped by it.
type Reason string

// The reasons. Each of them means a fault in the service or in an adapter, or an intruder; only quota, halted,
// not-frozen and those that wait for people also occur in normal operation.
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
	ReasonShare        Reason = "fee-share"           // the fee is too high for what is paid
	ReasonTopUp        Reason = "top-up"              // a gas top-up is more than twice the highest fee
	ReasonColdWallet   Reason = "cold-wallet"         // the signer's configuration lists no such cold wallet
	ReasonEpoch        Reason = "epoch"               // a key of an epoch that has not begun
	ReasonSweepOld     Reason = "sweep-old"           // an earlier epoch's key pays others than the hot or a cold wallet
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

	// Those of orders that clients sign, and of the policy that people signed, where one is installed.
	ReasonPaysOrder   Reason = "tx-pays-order" // a payment has no order, or an order no payment
	ReasonOrderFresh  Reason = "order-fresh"   // an order is for another signer, or its time has passed
	ReasonOrderSigned Reason = "order-signed"  // the account has keys, and none that counts signed the order
	ReasonOrderOnce   Reason = "order-once"    // something was signed under the order's ID before
	ReasonPolicy      Reason = "policy"        // no rule allows it, or one denies it
	ReasonDestination Reason = "destination"   // the destination is not signed, or in its hold
	ReasonApproved    Reason = "approved"      // approvals of persons are missing, or one says no
	ReasonHold        Reason = "hold"          // its approvals are complete and not old enough
	ReasonHours       Reason = "hours"         // not at this time of the week
	ReasonWindow      Reason = "window"        // too much has left by the rule that would allow it
	ReasonScreened    Reason = "screened"      // no screening service of the policy passed it lately
	ReasonForged      Reason = "forged"        // a signature is said to be by a person's key, which did not make it
	ReasonLost        Reason = "policy-lost"   // a policy was in force, and the state does not have it
)

// WaitsForPeople reports whether a transaction can be signed later without anything being wrong now: once people
// approved it, or after a time.
func (r Reason) WaitsForPeople() bool {
	switch r {
	case ReasonPolicy, ReasonDestination, ReasonApproved, ReasonHold, ReasonHours, ReasonWindow, ReasonScreened:
		return true
	}
	return false
}

// RefusalError says that an outgoing transaction was not signed, or that its signatures are withheld. Its text contains
// addresses and amounts and no secret.
type RefusalError struct {
	Chain      bursar.ChainID
	OutgoingID bursar.ID // of the request
	Reason     Reason
	Detail     string
	// Never says of a refusal by sweep-old that this signer never signed anything that uses what the transaction uses:
	// its memory has nothing of it, and is older than the request, without a gap. It is for a service that cannot know.
	Never bool
}

// Error returns the reason and the detail.
func (e *RefusalError) Error() string {
	return fmt.Sprintf("the signer refuses outgoing transaction %s on %s: %s: %s", e.OutgoingID, e.Chain, e.Reason,
		e.Detail)
}
