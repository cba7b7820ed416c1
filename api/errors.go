package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/account"
	"github.com/bursar/bursar/store"
)

// statusOf maps every refusal to its HTTP status; it is the only such map. An unknown code is a bug.
func statusOf(code bursar.ErrorCode) int {
	switch code {
	case bursar.CodeInvalidRequest, bursar.CodeUnsupportedCurrency, bursar.CodeInvalidAmount, bursar.CodeInvalidAddress,
		bursar.CodeInvalidWebhook, bursar.CodeInvalidOrder, bursar.CodeOrderExpired:
		return http.StatusBadRequest
	case bursar.CodeUnauthorized:
		return http.StatusUnauthorized
	case bursar.CodeSecretRequired, bursar.CodeInvalidSecret, bursar.CodeForbidden, bursar.CodeWithdrawalsFrozen,
		bursar.CodeOrderSignatureRequired, bursar.CodeInvalidOrderSignature:
		return http.StatusForbidden
	case bursar.CodeNotFound:
		return http.StatusNotFound
	case bursar.CodeEventsArchived:
		return http.StatusGone
	case bursar.CodeMethodNotAllowed:
		return http.StatusMethodNotAllowed
	case bursar.CodeBodyTooLarge:
		return http.StatusRequestEntityTooLarge
	case bursar.CodeUnsupportedMediaType:
		return http.StatusUnsupportedMediaType
	case bursar.CodeIdempotencyConflict, bursar.CodeChargeClosed, bursar.CodeAlreadyResolved,
		bursar.CodeTooLate:
		return http.StatusConflict
	case bursar.CodeInsufficientBalance, bursar.CodeBelowMinimum, bursar.CodeAboveMaximum, bursar.CodeLimitReached,
		bursar.CodeDestinationRefused:
		return http.StatusUnprocessableEntity
	case bursar.CodeRateLimited:
		return http.StatusTooManyRequests
	case bursar.CodeUnavailable, bursar.CodeRateUnavailable:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// The refusals for errors that are not refusals themselves.
var (
	errInternal = bursar.Refuse(bursar.CodeInternal,
		"something went wrong on our side; it has been logged under the requestID")
	errUnavailable = bursar.Refuse(bursar.CodeUnavailable,
		"the service cannot answer this now; try again, and with the same Idempotency-Key if it was a change")
	errConflict = bursar.Refuse(bursar.CodeIdempotencyConflict, "this Idempotency-Key was used for another request")
	errBusy     = bursar.Refuse(bursar.CodeUnavailable,
		"the first request with this Idempotency-Key is still in progress; try again with the same key")
	errNetwork = bursar.Refuse(bursar.CodeForbidden, "requests from this address are not allowed")
	// Not bursar.ErrNotFound, which is about objects: a client that mistyped a path would look for the mistake in an ID.
	errPath   = bursar.Refuse(bursar.CodeNotFound, "there is no endpoint at this path: /docs has all of them")
	errPage   = bursar.Refuse(bursar.CodeNotFound, "there is no such document: /docs/index lists them")
	errMethod = bursar.Refuse(bursar.CodeMethodNotAllowed, "the method is not allowed on this path")
)

// forbidden is account.ErrForbidden with what the request needs. It is the same for a key without the scope and for one
// that is used from an address that is not on its list: who has found a key must not learn that it has a list.
func forbidden(scope bursar.Scope) error {
	refusal := *account.ErrForbidden
	refusal.Permission = string(scope)
	return &refusal
}

// refusalOf turns any error into one that may be shown, and reports whether the error must be logged because the
// refusal hides it.
func refusalOf(err error) (refusal *bursar.Error, hidden bool) {
	switch {
	case errors.As(err, &refusal):
		return refusal, false
	case errors.Is(err, store.ErrOtherRequest):
		return errConflict, false
	case errors.Is(err, context.Canceled):
		return errUnavailable, false // the client has disconnected and reads no response
	case store.Away(err):
		return errUnavailable, true
	}
	return errInternal, true
}
