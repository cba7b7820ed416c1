package bursar

import "time"

// OutgoingStatus is the progress of an outgoing transaction.
type OutgoingStatus string

// The statuses of an outgoing transaction. Each is committed before the step that follows it.
const (
	OutgoingNew       OutgoingStatus = "new"       // the transaction request is recorded, nothing is reserved
	OutgoingReserved  OutgoingStatus = "claimed"   // built; its UTXOs or its nonce are reserved
	OutgoingSigned    OutgoingStatus = "signed"    // the raw bytes and their id are stored, nothing is sent
	OutgoingSent      OutgoingStatus = "sent"      // a node has accepted the bytes at least once
	OutgoingFinal     OutgoingStatus = "final"     // in a final block, settled
	OutgoingAbandoned OutgoingStatus = "abandoned" // never signed, or expired for good: it has paid nobody and never can
)

// OutgoingShare names the share of a step in which an outgoing transaction is processed, so that no kind holds up the
// others.
type OutgoingShare string

// The shares of a step.
const (
	ShareWithdrawal OutgoingShare = "withdrawal"
	ShareRefund     OutgoingShare = "refund" // refunds of unattributed deposits to their senders
	ShareTopUp      OutgoingShare = "top_up"
	ShareSweep      OutgoingShare = "sweep"
)

// OutgoingWait is the reason why an outgoing transaction that has reserved nothing cannot go on yet, where time or
// funds will help.
type OutgoingWait string

// The reasons for which a new outgoing transaction waits; "" is none, or an error that no rule covers.
const (
	WaitsForFunds  OutgoingWait = "funds"  // the paying address holds too little of a currency
	WaitsForFee    OutgoingWait = "fee"    // the network's fee is above the configured limit
	WaitsForInputs OutgoingWait = "inputs" // too many UTXOs would be needed
	WaitsForGas    OutgoingWait = "gas"    // a gas top-up of the paying address is requested

	// WaitsForApproval is the reason where the signer refuses until people have signed, or until a time that they set.
	WaitsForApproval OutgoingWait = "approval"

	// WaitsForOrder is the reason where the signer refuses the order that a client signed, or misses one. There is an
	// alarm.
	WaitsForOrder OutgoingWait = "order"

	// WaitsForDeposit is the reason of a signed sweep whose deposits were rolled back: the sweep keeps its nonce until
	// a transfer reaches the address again.
	WaitsForDeposit OutgoingWait = "deposit"
)

var outgoingTransitions = transitions[OutgoingStatus]{
	OutgoingNew: {OutgoingReserved, OutgoingAbandoned},
	OutgoingReserved: {OutgoingSigned, OutgoingNew,
		OutgoingAbandoned}, // new again when the signer refuses the unsigned transaction
	OutgoingSigned: {OutgoingSent, OutgoingFinal, OutgoingAbandoned},
	OutgoingSent:   {OutgoingFinal, OutgoingAbandoned},
	OutgoingFinal:  {OutgoingSent},
}

// MayBecome reports whether an outgoing transaction of status s may take the status next. From claimed back to new: its
// unsigned transaction was refused before it was signed. From final back to sent: a reorganisation deeper than
// finality; the same bytes are sent again.
func (s OutgoingStatus) MayBecome(next OutgoingStatus) bool {
	return outgoingTransitions.allow(s, next)
}

// OutgoingTx is one outgoing transaction with its transaction request and, once built, its unsigned transaction, both
// in the encoding of the package outgoing.
type OutgoingTx struct {
	Number    int64
	ID        ID
	Chain     ChainID
	Kind      string
	Status    OutgoingStatus
	Currency  CurrencyCode // the currency that it moves
	Base      string       // the paying address, or the address that is swept
	Request   []byte
	Unsigned  []byte
	TxID      string // of the newest version, or of the one that is in a block
	Height    uint64 // of the block it is in; 0 while in none
	Failed    bool   // it is in a block, failed there and paid nobody
	Delivered []byte // what the block proves it delivered, as package follow encodes it; empty: success proves it
	Fee       Amount // the network fee that it paid, known once it is in a block
	Error     string // why it cannot go on, for the operator
	SentAt    uint64 // head of the chain when its newest version was first sent
	Share     OutgoingShare
	Once      string // a key that only one open outgoing transaction of a chain may have; empty: none
	WaitsFor  OutgoingWait
	Lacks     CurrencyCode // the currency that it waits for
	Missing   Amount       // how much of Lacks is missing
	Needed    Amount       // how much of Lacks it needs in total
	Versions  int64
	CreatedAt time.Time
	UpdatedAt time.Time
}
