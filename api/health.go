package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/bursar/bursar/store"
)

// healthz reports that the process answers.
func (a *api) healthz(*http.Request, http.Header) (store.Answer, error) {
	return store.Answer{Status: http.StatusOK, Body: []byte(`{"status":"ok"}` + "\n")}, nil
}

// readyTime is the time limit of a readiness check.
const readyTime = 5 * time.Second

// readyz reports whether requests can be served now.
func (a *api) readyz(r *http.Request, _ http.Header) (store.Answer, error) {
	ctx, cancel := context.WithTimeout(r.Context(), readyTime)
	defer cancel()
	if err := a.Ready(ctx); err != nil {
		a.Log.Warn("not ready", "error", fmt.Errorf("check readiness: %w", err))
		return store.Answer{}, errUnavailable
	}
	return store.Answer{Status: http.StatusOK, Body: []byte(`{"status":"ready"}` + "\n")}, nil
}
