package bursar

import "fmt"

// ErrorCode is the public name of a refusal; the package api maps each to an HTTP status, in one place.
type ErrorCode string

// The refusals that a client can receive. Their meaning is public and never changes.
const (
	CodeInvalidRequest       ErrorCode = "invalid_request"
	CodeUnsupportedCurrency  ErrorCode = "unsupported_currency"
	CodeInvalidAmount        ErrorCode = "invalid_amount"
	CodeInvalidAddress       ErrorCode = "invalid_address"
	CodeInvalidWebhook       ErrorCode = "invalid_webhook"
	CodeUnauthorized         ErrorCode = "unauthorized"
	CodeSecretRequired       ErrorCode = "secret_required"
	CodeInvalidSecret        ErrorCode = "invalid_secret"
	CodeForbidden            ErrorCode = "forbidden"
	CodeWithdrawalsFrozen    ErrorCode = "withdrawals_frozen"
	CodeNotFound             ErrorCode = "not_found"
	CodeMethodNotAllowed     ErrorCode = "method_not_allowed"
	CodeBodyTooLarge         ErrorCode = "body_too_large"
	CodeUnsupportedMediaType ErrorCode = "unsupported_media_type"
	CodeIdempotencyConflict  ErrorCode = "idempotency_conflict"
	CodeInvalidOrder         ErrorCode = "invalid_order"
	CodeOrderExpired         ErrorCode = "order_expired"
	CodeInsufficientBalance  ErrorCode = "insufficient_balance"
	CodeBelowMinimum         ErrorCode = "below_minimum"
	CodeAboveMaximum         ErrorCode = "above_maximum"
	CodeDestinationRefused   ErrorCode = "destination_refused"
	CodeRateLimited          ErrorCode = "rate_limited"
	CodeInternal             ErrorCode = "internal"
	CodeUnavailable          ErrorCode = "unavailable"
	CodeRateUnavailable      ErrorCode = "rate_unavailable"
	CodeChargeClosed         ErrorCode = "charge_closed"
	CodeAlreadyResolved      ErrorCode = "already_resolved"
	CodeTooLate              ErrorCode = "too_late"
	CodeEventsArchived       ErrorCode = "events_archived"

	CodeOrderSignatureRequired ErrorCode = "order_signature_required"
	CodeInvalidOrderSignature  ErrorCode = "invalid_order_signature"
)

// Error is a refusal that may be shown to a client: its message never contains SQL, a path, a node's address or a
// secret.
type Error struct {
	Code    ErrorCode
	Field   string // the parameter at fault, if one is
	Message string

	Permission string // what the request needs, where the key does not have it or may not be used from there
}

// Error returns the code and the message.
func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// Refuse returns an Error with a formatted message.
func Refuse(code ErrorCode, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// RefuseField returns an Error that names the parameter at fault.
func RefuseField(code ErrorCode, field, format string, args ...any) *Error {
	return &Error{Code: code, Field: field, Message: fmt.Sprintf(format, args...)}
}

// ErrNotFound is returned for an object that does not exist and for one of another account, so that a client cannot
// distinguish the two.
var ErrNotFound = &Error{Code: CodeNotFound, Message: "there is no such object"}
