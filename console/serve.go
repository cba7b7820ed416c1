package console

import (
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/operator"
	"github.com/bursar/bursar/store"
)

// errCrossOrigin refuses a change that another site asked for.
var errCrossOrigin = errors.New("the request comes from another site")

// enter returns the visit of somebody who has signed in and has a verb; otherwise it has answered.
func (c *Console) enter(w http.ResponseWriter, r *http.Request, verb operator.Verb) *visit {
	person, session, err := c.who(r)
	if err != nil {
		c.fail(w, r, nil, err)
		return nil
	}
	v := &visit{ctx: r.Context(), request: r, person: person, session: session, from: c.client(r)}
	if verb != "" && !person.Can(verb) {
		c.fail(w, r, v, &operator.Missing{Verb: verb})
		return nil
	}
	if v.form, err = formOf(r); err != nil {
		c.fail(w, r, v, &bursar.Error{Code: bursar.CodeInvalidRequest, Message: err.Error()})
		return nil
	}
	return v
}

// page answers GET with a page, or with the file that it made.
func (c *Console) page(p page) http.Handler {
	return c.served(p, func(w http.ResponseWriter, v *visit, data any) { c.show(w, v, p, data) })
}

// pageJSON answers GET with what the page shows.
func (c *Console) pageJSON(p page) http.Handler {
	return c.served(p, func(w http.ResponseWriter, v *visit, data any) {
		writeJSON(w, max(v.status, http.StatusOK), data)
	})
}

// served answers GET with what a page shows, in one of its forms, or with the file that it made.
func (c *Console) served(p page, show func(w http.ResponseWriter, v *visit, data any)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := c.enter(w, r, p.verb)
		if v == nil {
			return
		}
		data, err := p.serve(v)
		switch {
		case err != nil:
			c.fail(w, r, v, err)
		case v.file != nil:
			if err := v.file.write(w); err != nil {
				c.Log.WarnContext(v.ctx, "an export was cut off", "file", v.file.name, "error", err)
				panic(http.ErrAbortHandler)
			}
		default:
			show(w, v, data)
		}
	})
}

// action answers POST of a form: it goes to where the action says.
func (c *Console) action(a action) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := c.enter(w, r, a.verb)
		if v == nil {
			return
		}
		to, err := a.do(v)
		if err != nil {
			c.refused(w, r, v, a, err)
			return
		}
		http.Redirect(w, r, base+to, http.StatusSeeOther)
	})
}

// refused shows the form of an action again, with what was refused next to it; what no form can correct is a page of
// its own.
func (c *Console) refused(w http.ResponseWriter, r *http.Request, v *visit, a action, err error) {
	status, text := statusOf(err)
	if a.form == nil || status != http.StatusUnprocessableEntity && status != http.StatusNotFound {
		c.fail(w, r, v, err)
		return
	}
	v.status, v.problem = status, text
	data, failed := a.form.serve(v)
	if failed != nil {
		c.fail(w, r, v, failed)
		return
	}
	c.show(w, v, *a.form, data)
}

// actionJSON answers POST of JSON with where the changed object is read.
func (c *Console) actionJSON(a action) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := c.enter(w, r, a.verb)
		if v == nil {
			return
		}
		to, err := a.do(v)
		if err != nil {
			c.fail(w, r, v, err)
			return
		}
		writeJSON(w, http.StatusOK, map[string]string{"see": apiBase + to})
	})
}

// formOf returns the query of a GET, and the fields of a form or of a JSON object of texts.
func formOf(r *http.Request) (url.Values, error) {
	if r.Method != http.MethodPost {
		return r.URL.Query(), nil
	}
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch kind {
	case "application/json":
		fields := map[string]any{}
		if err := json.NewDecoder(r.Body).Decode(&fields); err != nil {
			return nil, errors.New("the body is not a JSON object")
		}
		return fieldsOf(fields)
	case "application/x-www-form-urlencoded", "":
		if err := r.ParseForm(); err != nil {
			return nil, errors.New("the form cannot be read")
		}
		return r.PostForm, nil
	}
	return nil, errors.New("the body is neither a form nor JSON")
}

// fieldsOf takes texts and lists of texts: amounts are texts, so that none loses a digit.
func fieldsOf(fields map[string]any) (url.Values, error) {
	form := url.Values{}
	for name, value := range fields {
		list, many := value.([]any)
		if !many {
			list = []any{value}
		}
		for _, item := range list {
			text, is := item.(string)
			if !is {
				return nil, errors.New("each field of the JSON object is a text or a list of texts")
			}
			form.Add(name, text)
		}
	}
	return form, nil
}

// statusOf returns what an error is answered with, and whether its text may be shown.
func statusOf(err error) (status int, text string) {
	var missing *operator.Missing
	var refusal *bursar.Error
	switch {
	case errors.Is(err, operator.ErrSignedOut):
		return http.StatusUnauthorized, "sign in first"
	case errors.As(err, &missing):
		return http.StatusForbidden, missing.Error()
	case errors.Is(err, errCrossOrigin):
		return http.StatusForbidden, errCrossOrigin.Error()
	case errors.Is(err, bursar.ErrNotFound), errors.Is(err, store.ErrNotFound):
		return http.StatusNotFound, "there is no such thing"
	case errors.As(err, &refusal):
		return http.StatusUnprocessableEntity, refusal.Error()
	}
	return http.StatusServiceUnavailable, "this cannot be done now; the log says why"
}

// fail answers an error: JSON for JSON, the page to sign in for who has not signed in, a page that says what is wrong
// for the others.
func (c *Console) fail(w http.ResponseWriter, r *http.Request, v *visit, err error) {
	status, text := statusOf(err)
	if status == http.StatusServiceUnavailable {
		c.Log.Error("the console failed", "request", r.Header.Get(requestHeader), "path", r.URL.Path, "error", err)
	}
	switch {
	case strings.HasPrefix(r.URL.Path, apiBase+"/"):
		refusal := map[string]string{"error": text, "requestID": r.Header.Get(requestHeader)}
		if missing, is := errors.AsType[*operator.Missing](err); is {
			refusal["code"], refusal["verb"] = "missing_permission", string(missing.Verb)
		}
		writeJSON(w, status, refusal)
	case status == http.StatusUnauthorized && r.Method == http.MethodGet:
		http.Redirect(w, r, base+"/sign-in", http.StatusSeeOther)
	default:
		if v == nil {
			v = &visit{ctx: r.Context(), request: r}
		}
		v.status = status
		c.show(w, v, page{path: "/failed", title: http.StatusText(status)}, failure{text, r.Header.Get(requestHeader)})
	}
}

type failure struct {
	Text    string
	Request string // its ID, by which the log of the service names it
}

func (c *Console) notThere(w http.ResponseWriter, r *http.Request) {
	if v := c.enter(w, r, ""); v != nil {
		c.fail(w, r, v, bursar.ErrNotFound)
	}
}

func (f *file) write(w http.ResponseWriter) error {
	w.Header().Set("Content-Type", f.kind)
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": f.name}))
	if f.stream != nil {
		return f.stream(w)
	}
	_, _ = w.Write(f.body) // a client that has gone is no error of ours
	return nil
}

func writeJSON(w http.ResponseWriter, status int, data any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(data) // a client that has gone is no error of ours
}

// client returns the address that a request comes from.
func (c *Console) client(r *http.Request) netip.Addr {
	if c.Client != nil {
		return c.Client(r)
	}
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr().Unmap().WithZone("")
}
