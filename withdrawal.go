package bursar

import "time"

// WithdrawalStatus is the progress of a withdrawal.
type WithdrawalStatus string

// The statuses of a withdrawal.
const (
	WithdrawalPendingApproval WithdrawalStatus = "pending_approval" // the money is held; an operator must decide
	WithdrawalQueued          WithdrawalStatus = "queued"           // the money is held; it waits to be signed
	WithdrawalSigned          WithdrawalStatus = "signed"           // its transaction is signed and stored
	WithdrawalBroadcast       WithdrawalStatus = "broadcast"        // a node has accepted it
	WithdrawalConfirmed       WithdrawalStatus = "confirmed"        // final on the chain and settled
	WithdrawalRejected        WithdrawalStatus = "rejected"         // an operator refused it, or screening did; refunded
	WithdrawalCancelled       WithdrawalStatus = "cancelled"        // cancelled before it was signed; refunded
	WithdrawalFailed          WithdrawalStatus = "failed"           // the chain proved that it can never pay; refunded
)

var withdrawalTransitions = transitions[WithdrawalStatus]{
	WithdrawalPendingApproval: {WithdrawalQueued, WithdrawalRejected, WithdrawalCancelled},
	WithdrawalQueued: {WithdrawalSigned, WithdrawalConfirmed, WithdrawalRejected, WithdrawalCancelled,
		WithdrawalFailed},
	WithdrawalSigned:    {WithdrawalBroadcast, WithdrawalConfirmed, WithdrawalFailed, WithdrawalQueued},
	WithdrawalBroadcast: {WithdrawalConfirmed, WithdrawalFailed, WithdrawalQueued},
	WithdrawalConfirmed: {WithdrawalBroadcast},
	WithdrawalFailed:    {WithdrawalBroadcast},
}

// MayBecome reports whether a withdrawal of status s may take the status next. From queued straight to confirmed: an
// internal transfer. From queued to rejected: screening refused it. From signed or broadcast back to queued: its
// transaction expired and can never be valid again; that a node accepted it does not mean that a block will contain it.
// From confirmed or failed back to broadcast: a reorganisation deeper than finality; the transaction that paid, or
// failed, is in no block any more.
func (s WithdrawalStatus) MayBecome(next WithdrawalStatus) bool {
	return withdrawalTransitions.allow(s, next)
}

// Withdrawal is a customer's request to pay Amount to Address; Fee is taken from the balance on top of Amount.
type Withdrawal struct {
	Number     int64
	ID         ID
	AccountID  ID
	Currency   CurrencyCode
	Amount     Amount
	Fee        Amount
	Address    Address
	Status     WithdrawalStatus
	OutgoingID ID     // the outgoing transaction that pays it; zero until it is built
	TxID       string // empty until signed
	Error      string // why it was rejected or failed, as the customer sees it
	// the operator who asked for it, or the key of its account, as KeyRequester writes it; empty: not known
	RequestedBy string
	Reference   string // the client's own name of it, unique in the account; empty: none
	Metadata    string // what the client keeps with it, as MetadataText writes it
	CreatedAt   time.Time
	CompletedAt time.Time // zero until it is confirmed, rejected, cancelled or failed
}

// WithdrawalStatuses returns every status of a withdrawal.
func WithdrawalStatuses() []WithdrawalStatus {
	return []WithdrawalStatus{WithdrawalPendingApproval, WithdrawalQueued, WithdrawalSigned, WithdrawalBroadcast,
		WithdrawalConfirmed, WithdrawalRejected, WithdrawalCancelled, WithdrawalFailed}
}

// TransferHash is shown in place of a transaction hash where a withdrawal was paid to a wallet of the same service.
func TransferHash(withdrawal ID) string { return "internal:" + withdrawal.String() }

// KeyRequester names an API key as who asked for a payment. No person of a policy can have such a name by accident: it
// holds the key's ID.
func KeyRequester(key ID) string { return "key-" + key.String() }
