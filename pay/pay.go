// Package pay serves the payer's page of a charge whose deposits add up, at /pay/{token}, and the page of a payment
// link, at /pay/link/{token}.
//
// It owns the page, its texts in every language, its style and its one script, and which clients may keep an event
// stream open. It changes nothing but the currency that a payer chooses and the address that they name for a refund,
// and shows nothing that only the client should know: neither reference nor customer nor metadata. Its invariants: the
// page works without scripts; it loads nothing from another host, sets no cookie and stores nothing, and the browser
// enforces that; what clients wrote is text and never markup; an unknown token is answered like any other; a page is
// served whole or not at all.
package pay

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/charge"
	"github.com/bursar/bursar/wire"
)

// Network is what the page says of a chain.
type Network struct {
	Name          string        // as payers know it
	Standard      string        // of its tokens, such as "TRC-20"; may be empty
	BlockTime     time.Duration // 0: nothing is said about waiting
	Confirmations int           // that a payment needs unless its amount needs more; 0: none are counted
	Explorer      string        // URL of a transaction with {tx} in it; empty: none is linked
}

// Config holds the dependencies and settings of the page.
type Config struct {
	Find    func(ctx context.Context, token bursar.ID) (charge.Shown, error)
	Changes func(ctx context.Context, tokens []bursar.ID) (charge.Changes, error)
	Quote   func(ctx context.Context, c charge.Change, code bursar.CurrencyCode) (bursar.InvoiceDetail, error)
	Refund  func(ctx context.Context, p charge.Proposal) (bursar.InvoiceDetail, error)

	FindLink func(ctx context.Context, token bursar.ID) (bursar.PaymentLink, error)
	FromLink func(ctx context.Context, v charge.Visit) (bursar.InvoiceDetail, error)

	Registry *bursar.Registry
	Prices   wire.Prices // nil: no charge is priced in fiat
	Networks map[bursar.ChainID]Network
	Checkout wire.Checkout
	Brand    Brand
	Brands   map[bursar.ID]Brand // of accounts that have their own
	Now      func() time.Time
	Sleep    func(ctx context.Context, d time.Duration) bool // reports false once ctx has ended
	Log      *slog.Logger
}

// Handler serves the pages. It is safe for concurrent use.
type Handler struct {
	Config
	texts       texts
	assets      assets
	own         map[bursar.ID]assets // of accounts
	watch       *watch
	crossOrigin *http.CrossOriginProtection
	choices     *choices
}

// New returns the handler. It fails where the logo is no picture that may be shown.
func New(c Config) (*Handler, error) {
	h := &Handler{Config: c, crossOrigin: http.NewCrossOriginProtection(), choices: newChoices()}
	var err error
	if h.texts, err = readTexts(); err != nil {
		return nil, err
	}
	if h.assets, err = newAssets(c.Brand); err != nil {
		return nil, err
	}
	h.own = map[bursar.ID]assets{}
	for id, brand := range c.Brands {
		if h.own[id], err = newAssets(brand); err != nil {
			return nil, fmt.Errorf("account %s: %w", id, err)
		}
		maps.Copy(h.assets.files, h.own[id].files) // their names say what they contain
	}
	if c.Checkout.URL != "" {
		if err := h.crossOrigin.AddTrustedOrigin(c.Checkout.URL); err != nil {
			return nil, err
		}
	}
	h.watch = newWatch(c)
	return h, nil
}

// Close ends all streams, so that a server can shut down.
func (h *Handler) Close() { h.watch.stop() }

// Limits of a request.
const (
	workTime = 10 * time.Second
	maxForm  = 4 << 10
)

// policy returns what allows the page what it consists of (Content Security Policy Level 3), and its script to write
// only what its one policy of Trusted Types makes. Pages of the given origins may show it in a frame.
func policy(frames []string) string {
	ancestors := "'none'"
	if len(frames) > 0 {
		ancestors = strings.Join(frames, " ")
	}
	return "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
		"form-action 'self'; base-uri 'none'; frame-ancestors " + ancestors + "; require-trusted-types-for 'script'; " +
		"trusted-types bursar"
}

// mayFrame has the pages that an account's shop names show an answer in a frame.
func (h *Handler) mayFrame(w http.ResponseWriter, account bursar.ID) {
	brand, own := h.Brands[account]
	if !own {
		brand = h.Brand
	}
	w.Header().Set("Content-Security-Policy", policy(brand.Frames))
}

// Serve answers a request for a path below /pay/ of a client's network.
func (h *Handler) Serve(w http.ResponseWriter, r *http.Request, client netip.Prefix) {
	header := w.Header()
	header.Set("Content-Security-Policy", policy(nil))
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "same-origin") // no-referrer would have forms sent with "Origin: null"
	header.Set("X-Robots-Tag", "noindex, nofollow")
	header.Set("Cache-Control", "no-store")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	path, _ := strings.CutPrefix(r.URL.Path, "/pay/")
	first, rest, deeper := strings.Cut(path, "/")
	if first == "assets" && deeper {
		h.assets.serve(w, r, rest)
		return
	}
	if first == "link" && deeper {
		h.link(w, r, rest, client)
		return
	}
	token, err := bursar.ParseID(first)
	read := r.Method == http.MethodGet || r.Method == http.MethodHead
	code, isCode := strings.CutPrefix(rest, "qr/")
	switch {
	case err != nil || r.URL.RawPath != "":
		h.fail(w, r, bursar.ErrNotFound)
	case !deeper && read:
		h.page(w, r, token)
	case !deeper && r.Method == http.MethodPost:
		h.choose(w, r, token, client)
	case rest == "refund" && r.Method == http.MethodPost:
		h.refund(w, r, token, client)
	case rest == "events" && r.Method == http.MethodGet:
		h.events(w, r, token, client)
	case isCode && read:
		h.code(w, r, token, bursar.CurrencyCode(code))
	default:
		h.fail(w, r, bursar.ErrNotFound)
	}
}

// find reads a charge and draws its page.
func (h *Handler) find(r *http.Request, token bursar.ID) (Page, error) {
	ctx, cancel := context.WithTimeout(r.Context(), workTime)
	defer cancel()
	found, err := h.Find(ctx, token)
	if err != nil {
		return Page{}, err
	}
	return h.pageOf(found, askedBy(r), h.Now()), nil
}

// page answers GET /pay/{token}; with fragment=1 only the part that changes, unless the client has it already.
func (h *Handler) page(w http.ResponseWriter, r *http.Request, token bursar.ID) {
	p, err := h.find(r, token)
	if err != nil {
		h.fail(w, r, err)
		return
	}
	h.mayFrame(w, p.account)
	name, tag := "page", `"`+p.Key+`"`
	if r.URL.Query().Get("fragment") == "1" {
		w.Header().Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		name = "main"
	}
	h.write(w, http.StatusOK, name, p.Lang, p)
}

// choose answers POST /pay/{token}: it gives the chosen currency its address and its rate, and returns to the page.
func (h *Handler) choose(w http.ResponseWriter, r *http.Request, token bursar.ID, client netip.Prefix) {
	if !h.formOf(w, r, client) {
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), workTime)
	defer cancel()
	found, err := h.Find(ctx, token)
	code := bursar.CurrencyCode(r.PostFormValue("currency"))
	if err == nil {
		_, err = h.Quote(ctx, charge.Change{Account: found.AccountID, Charge: found.ID}, code)
	}
	var refusal *bursar.Error
	if err != nil && (!errors.As(err, &refusal) || errors.Is(err, bursar.ErrNotFound)) {
		h.fail(w, r, err)
		return
	}
	asked := askedBy(r) // a refusal is a state of the charge, which the page shows
	asked.Currency, asked.Choose = code, false
	http.Redirect(w, r, "/pay/"+token.String()+asked.query(), http.StatusSeeOther)
}

// code answers GET /pay/{token}/qr/{currency}: the QR code that the page shows.
func (h *Handler) code(w http.ResponseWriter, r *http.Request, token bursar.ID, code bursar.CurrencyCode) {
	ctx, cancel := context.WithTimeout(r.Context(), workTime)
	defer cancel()
	found, err := h.Find(ctx, token)
	if err != nil {
		h.fail(w, r, err)
		return
	}
	asked := askedBy(r)
	asked.Currency = code
	p := h.pageOf(found, asked, h.Now())
	if p.Pay == nil || p.Pay.Currency != code || p.Pay.Image == "" {
		h.fail(w, r, bursar.ErrNotFound)
		return
	}
	w.Header().Set("Content-Type", "image/svg+xml")
	w.Header().Set("Cross-Origin-Resource-Policy", "cross-origin") // shops show it in pages of their own
	_, _ = w.Write([]byte(p.Pay.Image))
}
