package bursar

import "time"

// OutgoingStatus says how far an outgoing transaction has come.
type OutgoingStatus string

// The statuses of an outgoing transaction. Each is recorded before the act that follows it.
const (
	OutgoingNew       OutgoingStatus = "new"       // the order is recorded, nothing is used up
	OutgoingReserved  OutgoingStatus = "claimed"   // drafted; its UTXOs or its nonce are nobody else's
	OutgoingSigned    OutgoingStatus = "signed"    // the raw bytes and their id are stored
	OutgoingSent      OutgoingStatus = "sent"      // a node has taken the bytes at least once
	OutgoingFinal     OutgoingStatus = "final"     // in a final block, settled
	OutgoingAbandoned OutgoingStatus = "abandoned" // never signed, or expired for good: it has paid nobody and never will
)

// OutgoingShare says out of whose share of a step an outgoing transaction is worked on, so that none holds up the
// others.
type OutgoingShare string

// The shares of a step.
const (
	ShareWithdrawal OutgoingShare = "withdrawal"
	ShareRefund     OutgoingShare = "refund" // unattributed deposits that go back to their senders
	ShareTopUp      OutgoingShare = "top_up"
	ShareSweep      OutgoingShare = "sweep"
)

// OutgoingWait says why an outgoing transaction that uses up nothing yet cannot go on, where time or money will help.
type OutgoingWait string

// What a new outgoing transaction waits for; "" is nothing, or an error that no rule foresees.
const (
	WaitsForFunds  OutgoingWait = "funds"  // the paying address holds too little of a currency
	WaitsForFee    OutgoingWait = "fee"    // the network asks more than is allowed
	WaitsForInputs OutgoingWait = "inputs" // too many UTXOs would be needed
	WaitsForGas    OutgoingWait = "gas"    // a top-up of the paying address is ordered

	// A signed sweep waits for it whose deposits were rolled back: its nonce stays with it until money arrives there
	// again.
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

// MayBecome reports whether an outgoing transaction of status s may take the status next. Back from claimed to new is
// an unsigned transaction that was refused before it was signed; back from final to sent is a reorganisation deeper
// than finality: the same bytes are sent again.
func (s OutgoingStatus) MayBecome(next OutgoingStatus) bool {
	return outgoingTransitions.allow(s, next)
}

// OutgoingTx is one outgoing transaction with its order and, once drafted, its draft, both in the form that the spender
// wrote.
type OutgoingTx struct {
	Number    int64
	ID        ID
	Chain     ChainID
	Kind      string
	Status    OutgoingStatus
	Currency  CurrencyCode // what it moves
	Base      string       // who pays, or the address that is swept
	Order     []byte
	Unsigned  []byte
	TxID      string // of the newest version, or of the one that is in a block
	Height    uint64 // of the block it is in; 0 while in none
	Failed    bool   // it is in a block and paid nobody
	Delivered []byte // what the block proves that it delivered, as the follower wrote it; empty where success alone proves that
	Fee       Amount // what it cost, known once it is in a block
	Error     string // why it does not go on, for the operator
	SentAt    uint64 // height at which its newest version was first sent
	Share     OutgoingShare
	Once      string // what only one open outgoing transaction of a chain may have; empty: nothing
	WaitsFor  OutgoingWait
	Lacks     CurrencyCode // the currency that it waits for
	Missing   Amount       // of Lacks
	Needed    Amount       // of Lacks altogether
	Versions  int64
	CreatedAt time.Time
	UpdatedAt time.Time
}
