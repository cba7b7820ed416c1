package bursar

import "time"

// DepositStatus is the progress of a deposit.
type DepositStatus string

// The statuses of a deposit.
const (
	DepositPending      DepositStatus = "pending"       // seen in a block that is not final
	DepositConfirmed    DepositStatus = "confirmed"     // final and credited
	DepositBelowMinimum DepositStatus = "below_minimum" // recorded, never credited
	DepositOrphaned     DepositStatus = "orphaned"      // was reorged out before it was credited
	DepositReversed     DepositStatus = "reversed"      // was reorged out after it was credited
)

// DepositStatuses returns every status of a deposit.
func DepositStatuses() []DepositStatus {
	return []DepositStatus{DepositPending, DepositConfirmed, DepositBelowMinimum, DepositOrphaned, DepositReversed}
}

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

// DepositPurpose says to whom a transfer belongs.
type DepositPurpose string

// The purposes of a transfer to an address of the service.
const (
	ForWallet        DepositPurpose = "wallet"       // a customer's deposit
	ForCharge        DepositPurpose = "charge"       // a customer's deposit to a charge
	ForInvoice       DepositPurpose = "invoice"      // a customer's deposit to a charge whose deposits add up
	ForAccount       DepositPurpose = "account"      // assigned to a customer without a wallet
	ForOperatorFunds DepositPurpose = "capital"      // operator funds, paid to a hot wallet
	ForUnattributed  DepositPurpose = "unattributed" // belongs to no wallet: the operator resolves it
	ForRefunded      DepositPurpose = "returned"     // belonged to no wallet and is, or was, refunded to its sender
	ForCold          DepositPurpose = "cold"         // moved from the hot wallet to a cold wallet by the service
	ForColdFunds     DepositPurpose = "cold_funds"   // operator funds, paid to a cold wallet from outside
	ForRefill        DepositPurpose = "refill"       // moved from a cold wallet to the hot wallet
)

// Deposit is a transfer to an address of the service. Chain, TxID, Output, Address and Contract identify it
// permanently, whichever block contains it.
type Deposit struct {
	Number    int64
	ID        ID
	Purpose   DepositPurpose
	AccountID ID // zero unless it is a customer's
	WalletID  ID // the wallet's or the charge's; zero unless it is a customer's, and for ForAccount
	Currency  CurrencyCode

	Chain    ChainID
	TxID     string
	Output   uint32 // output, log or instruction within the transaction
	Address  Address
	Contract string

	Amount      Amount // what the chain delivered
	Fee         Amount // the operator's fee, deducted from Amount
	Status      DepositStatus
	Height      uint64
	BlockHash   string
	Reversals   uint32 // number of reversals after a credit
	Required    uint32 // confirmations that its amount needs; 0: the chain's own finality is enough
	SeenAt      time.Time
	ConfirmedAt time.Time // zero until credited

	Webhook  string // of the wallet, as it is now
	Metadata string // of the wallet, as it is now
}

// IsScreened reports whether deposits of a purpose wait for the screening service, where there is one: all that others
// paid. What the operator paid or moved does not.
func (p DepositPurpose) IsScreened() bool {
	switch p {
	case ForOperatorFunds, ForCold, ForColdFunds, ForRefill:
		return false
	}
	return true
}

// IsCustomers reports whether the deposit belongs to an account.
func (d Deposit) IsCustomers() bool {
	return d.Purpose == ForWallet || d.Purpose == ForCharge || d.Purpose == ForInvoice || d.Purpose == ForAccount
}

// Confirmations returns the number of blocks on top of the deposit, its own included: 0 while it is in no block. An
// internal transfer is in no block and needs none.
func (d Deposit) Confirmations(latest uint64) uint64 {
	if d.Height == 0 || d.Status == DepositOrphaned || d.Status == DepositReversed || latest < d.Height {
		return 0
	}
	return latest - d.Height + 1
}
