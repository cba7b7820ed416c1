package client

import (
	"context"
	"net/http"
	"time"
)

// The statuses of a withdrawal. The last three are refunded.
const (
	WithdrawalPendingApproval = "pending_approval"
	WithdrawalQueued          = "queued"
	WithdrawalSigned          = "signed"
	WithdrawalBroadcast       = "broadcast"
	WithdrawalConfirmed       = "confirmed"
	WithdrawalRejected        = "rejected"
	WithdrawalCancelled       = "cancelled"
	WithdrawalFailed          = "failed"
)

// Withdrawal is a payment out of the account's balance.
type Withdrawal struct {
	ChargeID     string     `json:"chargeID"` // of the charge that it refunds, in responses; empty for any other
	WithdrawalID string     `json:"withdrawalID"`
	Reference    string     `json:"reference"` // yours; empty: none
	Metadata     Metadata   `json:"metadata"`  // yours
	Currency     string     `json:"currency"`
	Amount       string     `json:"amount"` // what the receiver gets
	Fee          string     `json:"fee"`    // charged on top of it
	Address      string     `json:"address"`
	HashID       string     `json:"hashID"` // empty until it is signed
	Status       string     `json:"status"`
	WaitsFor     string     `json:"waitsFor"` // while it is queued and cannot be signed, where it is read: fee, funds, …
	Error        string     `json:"error"`    // why it was rejected or failed
	CreatedAt    time.Time  `json:"createdAt"`
	CompletedAt  *time.Time `json:"completedAt"`
}

// NewWithdrawal is a request for a withdrawal. Set IdempotencyKey to your own ID of the payment, stored before the
// call: then it is paid once, even if this process dies and another asks again.
type NewWithdrawal struct {
	Currency string
	Amount   string // a plain decimal with no more decimals than the currency's Places
	Address  string // <address> or <address>:<memo>

	// your own ID of the payment, unique in your account for ever; empty: none. Again it is the same one
	Reference string
	Metadata  Metadata // see MetadataOf

	IdempotencyKey string // empty: a random one for this call; a second call is then a second payment

	// The rest is of clients whose Config has Orders. The same IdempotencyKey with the same Created is the same order,
	// also from another process. Without Created, a second call with the key is refused with IdempotencyConflict.
	Created time.Time   // when the payment was decided, stored with its key; zero: now
	MaxFee  string      // the most that the transaction may cost, in units of the native asset; empty: no bound of yours
	Order   SignedOrder // as Orders.Order returned it and you stored it; zero: it is signed now
}

type withdrawalAnswer struct {
	Withdrawal  Withdrawal   `json:"withdrawal"`
	Withdrawals []Withdrawal `json:"withdrawals"`
	NextCursor  string       `json:"nextCursor"`
}

// Withdraw takes amount and fee from the balance and queues the payment. Errors: UnsupportedCurrency, InvalidAmount,
// InvalidAddress, BelowMinimum, AboveMaximum, LimitReached, InsufficientBalance, DestinationRefused, SecretRequired,
// InvalidSecret, WithdrawalsFrozen, IdempotencyConflict, and of orders InvalidOrder, OrderExpired,
// OrderSignatureRequired and InvalidOrderSignature. None of them moved money. After an error that is not an *Error,
// repeat the call with the same IdempotencyKey.
func (c *Client) Withdraw(ctx context.Context, n NewWithdrawal) (Withdrawal, error) {
	if n.IdempotencyKey == "" {
		n.IdempotencyKey = drawKey()
	}
	if c.config.Orders != nil && n.Order == (SignedOrder{}) {
		var err error
		if n.Order, err = c.config.Orders.Order(n); err != nil {
			return Withdrawal{}, err
		}
	}
	values := map[string]any{"currency": n.Currency, "amount": n.Amount, "address": n.Address}
	if n.Reference != "" {
		values["reference"] = n.Reference
	}
	if n.Metadata != "" {
		values["metadata"] = string(n.Metadata)
	}
	if n.Order.Text != "" {
		values["order"] = n.Order.Text
	}
	answer, err := call[withdrawalAnswer](ctx, c, request{
		method:    http.MethodPost,
		path:      "account/withdraw",
		key:       n.IdempotencyKey,
		secret:    true,
		signature: n.Order.Signature,
		values:    values,
	})
	return answer.Withdrawal, err
}

// Withdrawal returns a withdrawal. The error is NotFound for one that is unknown or another account's.
func (c *Client) Withdrawal(ctx context.Context, withdrawalID string) (Withdrawal, error) {
	answer, err := call[withdrawalAnswer](ctx, c,
		request{method: http.MethodGet, path: "account/withdrawal", values: map[string]any{"withdrawalID": withdrawalID}})
	return answer.Withdrawal, err
}

// Withdrawals lists the account's withdrawals.
func (c *Client) Withdrawals(ctx context.Context, p Page) (List[Withdrawal], error) {
	answer, err := call[withdrawalAnswer](ctx, c,
		request{method: http.MethodGet, path: "account/withdrawals", values: p.values(nil)})
	return List[Withdrawal]{answer.Withdrawals, answer.NextCursor}, err
}
