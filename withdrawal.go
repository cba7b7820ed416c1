package bursar

import "time"

// WithdrawalStatus says how far a customer's order has come.
type WithdrawalStatus string

// The statuses of a withdrawal.
const (
	WithdrawalPendingApproval WithdrawalStatus = "pending_approval" // held, an operator must decide
	WithdrawalQueued          WithdrawalStatus = "queued"           // held, waits to be signed
	WithdrawalSigned          WithdrawalStatus = "signed"           // its transaction is signed and stored
	WithdrawalBroadcast       WithdrawalStatus = "broadcast"        // a node has taken it
	WithdrawalConfirmed       WithdrawalStatus = "confirmed"        // final on the chain and settled
	WithdrawalRejected        WithdrawalStatus = "rejected"         // an operator refused it; refunded
	WithdrawalCancelled       WithdrawalStatus = "cancelled"        // called back before signing; refunded
	WithdrawalFailed          WithdrawalStatus = "failed"           // the chain proved that it can never pay; refunded
)

var withdrawalTransitions = transitions[WithdrawalStatus]{
	WithdrawalPendingApproval: {WithdrawalQueued, WithdrawalRejected, WithdrawalCancelled},
	WithdrawalQueued:          {WithdrawalSigned, WithdrawalConfirmed, WithdrawalCancelled, WithdrawalFailed},
	WithdrawalSigned:          {WithdrawalBroadcast, WithdrawalConfirmed, WithdrawalFailed, WithdrawalQueued},
	WithdrawalBroadcast:       {WithdrawalConfirmed, WithdrawalFailed, WithdrawalQueued},
	WithdrawalConfirmed:       {WithdrawalBroadcast},
	WithdrawalFailed:          {WithdrawalBroadcast},
}

// MayBecome reports whether a withdrawal of status s may take the status next. From queued straight to confirmed is an
// internal transfer; from signed or broadcast back to queued is a transaction that expired and can never be valid
// again: that a node took it says nothing of what a block will hold. Back from confirmed or failed to broadcast is a
// reorganisation deeper than finality: the transaction that paid, or failed, is in no block any more.
func (s WithdrawalStatus) MayBecome(next WithdrawalStatus) bool {
	return withdrawalTransitions.allow(s, next)
}

// Withdrawal is a customer's order to pay Amount to Address; Fee is taken from the balance on top of it.
type Withdrawal struct {
	Number      int64
	ID          ID
	AccountID   ID
	Currency    CurrencyCode
	Amount      Amount
	Fee         Amount
	Address     Address
	Status      WithdrawalStatus
	OutgoingID  ID     // the outgoing transaction that pays it; zero until one is drafted
	TxID        string // empty until signed
	Error       string // why it was rejected or failed, in words for the customer
	CreatedAt   time.Time
	CompletedAt time.Time // zero until it is confirmed, rejected, cancelled or failed
}

// TransferHash is what stands for a transaction's hash where a withdrawal was paid to a wallet of this same service.
func TransferHash(withdrawal ID) string { return "internal:" + withdrawal.String() }
