package api_test

import (
	"bytes"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/bursar/bursar/api"
	"github.com/bursar/bursar/docs"
	"github.com/bursar/bursar/store/storetest"
)

// TestTheSpecHasEveryEndpoint compares the spec with the table of routes: paths, methods, scopes, secrets, and the
// parameters that identify a change.
func TestTheSpecHasEveryEndpoint(t *testing.T) {
	t.Parallel()
	s := theSpec(t)
	handler := api.New(newHarness(t, storetest.Reused(t), newClock()).config)
	found := 0
	for _, e := range api.Endpoints(handler) {
		item := s.Paths.Value(e.Path)
		if item == nil || item.GetOperation(e.Method) == nil {
			t.Errorf("%s %s is missing", e.Method, e.Path)
			continue
		}
		found++
		op := item.GetOperation(e.Method)
		open := op.Security != nil && len(*op.Security) == 0
		scope, _ := op.Extensions["x-scope"].(string)
		secret := op.Security != nil && len(*op.Security) == 2
		names := slices.Sorted(maps.Keys(formOf(op).Properties))
		keyed := op.Parameters.GetByInAndName("header", "Idempotency-Key") != nil
		if open != e.Open || scope != string(e.Scope) || secret != e.Secret || keyed != e.Change {
			t.Errorf("%s %s: the spec has it open %v, scope %q, with secret %v, with Idempotency-Key %v; it is %+v, "+
				"want %v and %v and %v and %v", e.Method,
				e.Path, open, scope, secret, keyed, e, e.Open, string(e.Scope), e.Secret, e.Change)
		}
		slices.Sort(e.Params)
		if e.Change && !slices.Equal(names, e.Params) {
			t.Errorf("%s %s: the spec has the parameters %v, not %v", e.Method, e.Path, names, e.Params)
		}
	}
	for _, item := range s.Paths.Map() {
		found -= len(item.Operations())
	}
	if found != 0 {
		t.Errorf("the spec has %d endpoints too many, want 0", -found)
	}
}

// TestTheDescriptionIsServed requests both forms without a key.
func TestTheDescriptionIsServed(t *testing.T) {
	t.Parallel()
	handler := api.New(newHarness(t, storetest.Reused(t), newClock()).config)
	served, err := docs.Render()
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]struct {
		contentType, policy string
		body                []byte
	}{
		"/openapi.json": {"application/json", "", served.JSON},
		"/docs":         {"text/html; charset=utf-8", served.Policy, served.HTML},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		h := w.Header()
		if w.Code != http.StatusOK || h.Get("Content-Type") != want.contentType ||
			h.Get("Content-Security-Policy") != want.policy || !bytes.Equal(w.Body.Bytes(), want.body) {
			t.Errorf("%s: %d %v, want %v and %v and %v and %x", path, w.Code, h, http.StatusOK, want.contentType, want.policy,
				want.body)
		}
		if err := theSpec(t).agrees(t.Context(), r, answered{w.Code, h, w.Body.Bytes()}); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}
