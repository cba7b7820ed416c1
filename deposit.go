package bursar

import "time"

// DepositStatus says how far a deposit has come.
type DepositStatus string

// The statuses of a deposit.
const (
	DepositPending      DepositStatus = "pending"       // seen in a block that is not final
	DepositConfirmed    DepositStatus = "confirmed"     // final and credited
	DepositBelowMinimum DepositStatus = "below_minimum" // recorded, never credited
	DepositOrphaned     DepositStatus = "orphaned"      // was reorged out before it was credited
	DepositReversed     DepositStatus = "reversed"      // was reorged out after it was credited
)

var depositTransitions = transitions[DepositStatus]{
	DepositPending:      {DepositConfirmed, DepositBelowMinimum, DepositOrphaned},
	DepositBelowMinimum: {DepositOrphaned},
	DepositConfirmed:    {DepositReversed},
	DepositOrphaned:     {DepositPending},
	DepositReversed:     {DepositPending},
}

// MayBecome reports whether a deposit of status s may take the status next. A deposit that was reorged out may come
// back in another block: it is the same deposit, pending again.
func (s DepositStatus) MayBecome(next DepositStatus) bool { return depositTransitions.allow(s, next) }

// DepositPurpose says whose money an arrival is.
type DepositPurpose string

// The purposes of an arrival at an address of ours.
const (
	ForWallet       DepositPurpose = "wallet"       // a customer's deposit
	ForCharge       DepositPurpose = "charge"       // a customer's deposit to a charge
	ForAccount      DepositPurpose = "account"      // assigned to a customer without a wallet
	ForCapital      DepositPurpose = "capital"      // the operator's own money, paid to a hot address
	ForUnattributed DepositPurpose = "unattributed" // value that fits no wallet: the operator decides
	ForReturned     DepositPurpose = "returned"     // value that fitted no wallet and is, or was, paid back
)

// Deposit is value that arrived at an address of ours. Chain, TxID, Output, Address and Contract identify it for ever,
// in whichever block it stands.
type Deposit struct {
	Number    int64
	ID        ID
	Purpose   DepositPurpose
	AccountID ID // zero unless a customer's
	WalletID  ID // the wallet's or the charge's; zero unless a customer's, and for ForAccount
	Currency  CurrencyCode

	Chain    ChainID
	TxID     string
	Output   uint32 // output, log or instruction within the transaction
	Address  Address
	Contract string

	Amount      Amount // what the chain delivered
	Fee         Amount // what the operator takes of it
	Status      DepositStatus
	Height      uint64
	BlockHash   string
	Reversals   uint32 // how often it was reversed after credit
	Required    uint32 // confirmations that its amount needs; 0: the chain's own finality is enough
	SeenAt      time.Time
	ConfirmedAt time.Time // zero until credited

	Webhook  string // of the wallet, as it is now
	Metadata string // of the wallet, as it is now
}

// IsCustomers reports whether the deposit belongs to an account.
func (d Deposit) IsCustomers() bool {
	return d.Purpose == ForWallet || d.Purpose == ForCharge || d.Purpose == ForAccount
}

// Confirmations returns how many blocks hold the deposit, itself included: 0 while it is in none. An internal transfer
// is in no block and needs none.
func (d Deposit) Confirmations(latest uint64) uint64 {
	if d.Height == 0 || d.Status == DepositOrphaned || d.Status == DepositReversed || latest < d.Height {
		return 0
	}
	return latest - d.Height + 1
}
