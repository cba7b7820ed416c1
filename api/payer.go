package api

import (
	"net/http"
	"net/netip"
	"runtime/debug"
	"strconv"
)

// Pages serves payers' pages, below /pay/, to a client's network. They need no key, and payers come from anywhere.
type Pages interface {
	Serve(w http.ResponseWriter, r *http.Request, client netip.Prefix)
}

// servePage serves a payer's page within the limit of its client's address. A panic ends the request and not the
// process.
func (a *api) servePage(w http.ResponseWriter, r *http.Request, requestID string) {
	defer func() {
		if cause := recover(); cause != nil {
			a.Log.Error("request panicked", "request", requestID, "method", r.Method, "path", "/pay/", "cause", cause,
				"stack", string(debug.Stack()))
			panic(http.ErrAbortHandler) // part of it may be sent
		}
	}()
	from := a.remote(r)
	if wait := a.limits.pages.take(a.DB.Now(), clientPrefix(from)); wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(seconds(wait)))
		http.Error(w, "too many requests; try again in "+strconv.Itoa(seconds(wait))+" s", http.StatusTooManyRequests)
		return
	}
	w.Header().Set("X-Request-ID", requestID)
	a.Pages.Serve(w, r, clientPrefix(from))
}
