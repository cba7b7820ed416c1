package api

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"runtime/debug"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/account"
	"github.com/bursar/bursar/orderkey"
	"github.com/bursar/bursar/store"
)

// workTime is the time limit of one request, without its wait for another with the same Idempotency-Key.
const workTime = 30 * time.Second

// call is one request of an authenticated account.
type call struct {
	identity account.Identity
	from     netip.Addr // the client's address; zero where it is not known
	in       input
	now      time.Time
	key      *idempotencyKey // of a change that carries an Idempotency-Key
	kept     store.Answer    // the response stored under it

	signatures []string // each header Bursar-Signature
	request    string   // the ID of the request
}

// ServeHTTP answers one request.
func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := a.IDs.Next()
	requestID := id.String()
	r = r.WithContext(bursar.WithRequest(r.Context(), requestID))
	if a.Pages != nil && strings.HasPrefix(r.URL.Path, "/pay/") {
		a.servePage(w, r, requestID)
		return
	}
	header := w.Header()
	header.Set("X-Request-ID", requestID)
	header.Set("Content-Type", "application/json")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	noted := &store.LoggedRequest{ID: id, At: a.DB.Now()}
	answer, err := a.guarded(w, r, noted)
	if err != nil {
		answer = a.refuse(w, r, noted, err)
	}
	a.Log.Debug("request answered", "request", requestID, "method", r.Method, "path", r.URL.Path, "status", answer.Status,
		"took", a.DB.Now().Sub(noted.At))
	if answer.Status == streamed {
		a.note(r, noted, http.StatusOK)
		return
	}
	w.WriteHeader(answer.Status)
	if len(answer.Body) > 0 {
		_, _ = w.Write(answer.Body) // a client that has disconnected is not an error
	}
	a.note(r, noted, answer.Status)
}

// streamed is the status of an answer that is written already, as a stream.
const streamed = 0

// guarded turns a panic into an internal error: one request must not end the process, nor get half a response.
func (a *api) guarded(w http.ResponseWriter, r *http.Request, noted *store.LoggedRequest) (
	answer store.Answer, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			a.Log.Error("request panicked", "request", noted.ID, "method", r.Method, "path", r.URL.Path, "cause", cause,
				"stack", string(debug.Stack()))
			answer, err = store.Answer{}, errInternal
		}
	}()
	return a.answer(w, r, noted)
}

func (a *api) refuse(w http.ResponseWriter, r *http.Request, noted *store.LoggedRequest, err error) store.Answer {
	requestID := noted.ID.String()
	refusal, hidden := refusalOf(err)
	noted.Code = refusal.Code
	if hidden {
		a.Log.Error("request failed", "request", requestID, "method", r.Method, "path", r.URL.Path, "error", err)
	}
	switch refusal.Code {
	case bursar.CodeUnavailable, bursar.CodeRateUnavailable:
		w.Header().Set("Retry-After", "5")
	case bursar.CodeRateLimited:
		w.Header().Set("Retry-After", retryAfter(err))
	case bursar.CodeUnauthorized:
		w.Header().Set("WWW-Authenticate", `ApiKey realm="bursar"`)
	}
	answer, err := failure(refusal, requestID)
	if err != nil {
		a.Log.Error("refusal could not be written", "request", requestID, "error", err)
	}
	return answer
}

// answer checks a request in steps, each of which reads no more than it must: path and method, the client's address,
// the key, the key's scopes, and only then the parameters.
func (a *api) answer(w http.ResponseWriter, r *http.Request, noted *store.LoggedRequest) (store.Answer, error) {
	from, now := a.remote(r), a.DB.Now()
	route, err := a.route(w, r)
	if wait := a.limits.allowAddress(now, from, err == nil && route != nil && route.open != nil); wait != nil {
		return store.Answer{}, wait
	}
	if err != nil {
		return store.Answer{}, err
	}
	if route == nil {
		return store.Answer{Status: http.StatusNoContent}, nil // OPTIONS
	}
	if route.open != nil {
		return route.open(r, w.Header())
	}
	noted.Path = r.URL.Path
	ctx, cancel := context.WithTimeout(r.Context(), workTime)
	defer cancel()
	c, err := a.admit(ctx, r, route, from, now, noted)
	if err != nil {
		return store.Answer{}, err
	}
	c.request = noted.ID.String()
	if c.in.params, err = a.read(w, r); err != nil {
		return store.Answer{}, err
	}
	if route.change {
		return a.change(context.WithoutCancel(r.Context()), r, route, c)
	}
	if route.stream != nil && r.Method == http.MethodGet && wantsStream(r) {
		return store.Answer{Status: streamed}, route.stream(w, r, c)
	}
	response, err := route.serve(ctx, c)
	if err != nil {
		return store.Answer{}, err
	}
	if d, is := response.(document); is {
		return d.answer(w.Header()), nil
	}
	return success(response)
}

// admit returns the identity of a request, and refuses it where the key lacks the route's scope.
func (a *api) admit(
	ctx context.Context, r *http.Request, route *route, from netip.Addr, now time.Time, noted *store.LoggedRequest,
) (*call, error) {
	if !a.mayConnect(from) {
		return nil, errNetwork
	}
	key, secret := only(r.Header.Values("X-API-KEY")), only(r.Header.Values("X-API-SECRET"))
	if err := a.limits.allowKey(now, from, key); err != nil {
		return nil, err
	}
	credentials := credentialsOf(r, from)
	if route.ahead != nil {
		credentials.Ahead = route.ahead(r)
	}
	identity, err := a.Accounts.Authenticate(ctx, credentials)
	noted.Account, noted.Key = identity.Account, identity.Key.ID
	var refusal *bursar.Error
	if errors.As(err, &refusal) {
		err = a.limits.fail(now, from, key, refusal)
		if errors.Is(err, account.ErrForbidden) {
			a.Log.Warn("key used from an address that is not on its list", "key", identity.Key.ID, "account", identity.Account,
				"from", from)
			err = forbidden(route.scope)
		}
		return nil, err
	}
	if err != nil {
		return nil, err
	}
	if err := a.limits.enter(now, key, identity.Key.ID, route.scope); err != nil {
		return nil, err
	}
	if !identity.Key.Allows(route.scope) {
		return nil, forbidden(route.scope)
	}
	if route.secret {
		if err := a.Accounts.RequireSecret(identity, secret); err != nil {
			return nil, err
		}
	}
	return &call{identity: identity, from: from, now: now, signatures: r.Header.Values(orderkey.Header)}, nil
}

// credentialsOf returns what a request proves itself with.
func credentialsOf(r *http.Request, from netip.Addr) account.Credentials {
	return account.Credentials{
		Key:    only(r.Header.Values("X-API-KEY")),
		Secret: only(r.Header.Values("X-API-SECRET")),
		From:   from,
	}
}

// only returns a header's value. Several values are joined, so that none of them is accepted as a key.
func only(values []string) string { return strings.Join(values, ", ") }

func (a *api) read(w http.ResponseWriter, r *http.Request) (params, error) {
	body, err := readBody(w, r)
	if err != nil {
		return nil, err
	}
	return parse(r.URL.RawQuery, r.Header.Values("Content-Type"), body)
}
