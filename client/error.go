package client

import (
	"errors"
	"fmt"
	"time"
)

// Code is the public name of a refusal. Its meaning never changes.
type Code string

// The codes of the service.
const (
	InvalidRequest       Code = "invalid_request"
	UnsupportedCurrency  Code = "unsupported_currency"
	InvalidAmount        Code = "invalid_amount"
	InvalidAddress       Code = "invalid_address"
	InvalidWebhook       Code = "invalid_webhook"
	Unauthorized         Code = "unauthorized"
	SecretRequired       Code = "secret_required"
	InvalidSecret        Code = "invalid_secret"
	Forbidden            Code = "forbidden"
	WithdrawalsFrozen    Code = "withdrawals_frozen"
	InvalidOrder         Code = "invalid_order"
	OrderExpired         Code = "order_expired"
	NotFound             Code = "not_found"
	MethodNotAllowed     Code = "method_not_allowed"
	BodyTooLarge         Code = "body_too_large"
	UnsupportedMediaType Code = "unsupported_media_type"
	IdempotencyConflict  Code = "idempotency_conflict"
	InsufficientBalance  Code = "insufficient_balance"
	BelowMinimum         Code = "below_minimum"
	AboveMaximum         Code = "above_maximum"
	LimitReached         Code = "limit_reached" // of a period: it may be possible later
	DestinationRefused   Code = "destination_refused"
	RateLimited          Code = "rate_limited"
	Internal             Code = "internal"
	Unavailable          Code = "unavailable"
	RateUnavailable      Code = "rate_unavailable"
	ChargeClosed         Code = "charge_closed"
	TooLate              Code = "too_late"        // the withdrawal is no longer in a state that allows it
	EventsArchived       Code = "events_archived" // of the feed: continue without a position
	AlreadyResolved      Code = "already_resolved"

	OrderSignatureRequired Code = "order_signature_required"
	InvalidOrderSignature  Code = "invalid_order_signature"
)

// Error is a response of the service, or of something in front of it, that is no success.
type Error struct {
	Status    int    // HTTP status
	Code      Code   // empty where the answer is not the service's own, such as a proxy's
	Field     string // the parameter at fault, if one is
	Message   string // for people to read; it may change
	RequestID string // identifies the request in the service's log

	// Docs is the path of the service's own page that explains the code; empty where an older service answered.
	Docs string

	// Permission is the scope that the request needs, with Forbidden: the key does not have it, or may not be used from
	// this address.
	Permission string

	// RetryAfter is how long to wait before the next attempt, 0 where the response does not say.
	RetryAfter time.Duration
}

// Error names the status, the code and the message.
func (e *Error) Error() string {
	text := fmt.Sprintf("status %d", e.Status)
	if e.Code != "" {
		text += ", " + string(e.Code)
	}
	if e.Field != "" {
		text += " (" + e.Field + ")"
	}
	return text + ": " + e.Message
}

// CodeOf returns the code of an error that is an *Error, and "" for any other.
func CodeOf(err error) Code {
	var refusal *Error
	if errors.As(err, &refusal) {
		return refusal.Code
	}
	return ""
}
