package bursar

import "time"

// SpendStatus says how far an outgoing transaction has come.
type SpendStatus string

// The statuses of a spend. Each is recorded before the act that follows it.
const (
	SpendNew       SpendStatus = "new"       // the order is recorded, nothing is used up
	SpendClaimed   SpendStatus = "claimed"   // drafted; its coins or its nonce are nobody else's
	SpendSigned    SpendStatus = "signed"    // the raw bytes and their id are stored
	SpendSent      SpendStatus = "sent"      // a node has taken the bytes at least once
	SpendFinal     SpendStatus = "final"     // in a final block, settled
	SpendAbandoned SpendStatus = "abandoned" // never signed, or expired for good: it has paid nobody and never will
)

// SpendShare says out of whose share of a step a spend is worked on, so that none holds up the others.
type SpendShare string

// The shares of a step.
const (
	ShareWithdrawal SpendShare = "withdrawal"
	ShareRefund     SpendShare = "refund" // unattributed deposits that go back to their senders
	ShareTopUp      SpendShare = "top_up"
	ShareSweep      SpendShare = "sweep"
)

// SpendWait says why a spend that uses up nothing yet cannot go on, where time or money will help.
type SpendWait string

// What a new spend waits for; "" is nothing, or an error that no rule foresees.
const (
	WaitsForFunds  SpendWait = "funds"  // the paying address holds too little of a currency
	WaitsForFee    SpendWait = "fee"    // the network asks more than is allowed
	WaitsForInputs SpendWait = "inputs" // too many UTXOs would be needed
	WaitsForGas    SpendWait = "gas"    // a top-up of the paying address is ordered

	// A signed sweep waits for it whose deposits were rolled back: its nonce stays with it until money arrives there again.
	WaitsForDeposit SpendWait = "deposit"
)

var spendTransitions = transitions[SpendStatus]{
	SpendNew:     {SpendClaimed, SpendAbandoned},
	SpendClaimed: {SpendSigned, SpendNew, SpendAbandoned}, // new again when the signer refuses the draft
	SpendSigned:  {SpendSent, SpendFinal, SpendAbandoned},
	SpendSent:    {SpendFinal, SpendAbandoned},
	SpendFinal:   {SpendSent},
}

// MayBecome reports whether a spend of status s may take the status next. Back from claimed to new is a draft that was
// refused before it was signed; back from final to sent is a reorganisation deeper than finality: the same bytes are sent
// again.
func (s SpendStatus) MayBecome(next SpendStatus) bool { return spendTransitions.allow(s, next) }

// Spend is one outgoing transaction with its order and, once drafted, its draft, both in the form that the spender wrote.
type Spend struct {
	Number    int64
	ID        ID
	Chain     ChainID
	Kind      string
	Status    SpendStatus
	Currency  Code   // what it moves
	Base      string // who pays, or the address that is swept
	Order     []byte
	Draft     []byte
	TxID      string // of the newest version, or of the one that is in a block
	Height    uint64 // of the block it is in; 0 while in none
	Failed    bool   // it is in a block and paid nobody
	Delivered []byte // what the block proves that it delivered, as the follower wrote it; empty where success alone proves that
	Fee       Amount // what it cost, known once it is in a block
	Error     string // why it does not go on, for the operator
	SentAt    uint64 // height at which its newest version was first sent
	Share     SpendShare
	Once      string // what only one open spend of a chain may have; empty: nothing
	WaitsFor  SpendWait
	Lacks     Code   // the currency that it waits for
	Missing   Amount // of Lacks
	Needed    Amount // of Lacks altogether
	Versions  int64
	CreatedAt time.Time
	UpdatedAt time.Time
}
