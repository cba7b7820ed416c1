package pay

import (
	"bytes"
	"embed"
	"errors"
	"html/template"
	"net/http"

	"github.com/bursar/bursar"
)

//go:embed page.html page.css page.js languages
var files embed.FS

var (
	errCrossOrigin = errors.New("the form was sent from another site")
	errBusy        = errors.New("too many choices")
)

// pages are the templates: "page" is the whole page, "main" the part that changes, "problem" a page without
// a charge, "link" the page of a payment link.
var pages = template.Must(template.ParseFS(files, "page.html"))

// write writes a page whole or not at all.
func (h *Handler) write(w http.ResponseWriter, status int, name, lang string, p any) {
	var text bytes.Buffer
	if err := pages.ExecuteTemplate(&text, name, p); err != nil {
		h.Log.Error("payer's page failed", "error", err)
		http.Error(w, "the page cannot be shown now", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Language", lang)
	w.Header().Set("Vary", "Accept-Language")
	w.WriteHeader(status)
	_, _ = w.Write(text.Bytes()) // a client that disconnected is not an error of ours
}

// fail answers with a page that says what to do. What is not a refusal is logged and not shown.
func (h *Handler) fail(w http.ResponseWriter, r *http.Request, err error) {
	status, problem := http.StatusServiceUnavailable, "unavailable"
	switch {
	case errors.Is(err, bursar.ErrNotFound):
		status, problem = http.StatusNotFound, "not_found"
	case errors.Is(err, errCrossOrigin):
		status = http.StatusForbidden
	case errors.Is(err, errBusy):
		status = http.StatusTooManyRequests
	case r.Context().Err() != nil: // nobody waits for an answer
	default:
		h.Log.Error("payer's page failed", "path", "/pay/", "error", err)
	}
	p := h.blank(askedBy(r), "", bursar.ID{})
	p.Problem = problem
	w.Header().Set("Content-Security-Policy", policy(nil)) // whatever was found before the error
	h.write(w, status, "problem", p.Lang, p)
}
