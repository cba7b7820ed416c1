// Package console serves the operator's console on the admin address: pages at /console/, the same as JSON at
// /admin/v1/, and sign-in by passkeys.
//
// It owns the pages, their style and script, and which verb each page and action needs. It decides nothing about money.
// Its invariants: nothing is answered to somebody who has not signed in, but the page to sign in; a GET changes
// nothing; a request that another site made changes nothing; every page works without scripts, but signing in; it loads
// nothing from another host, and the browser enforces that; what customers wrote is text and never markup; a page is
// served whole or not at all.
package console

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/operator"
	"github.com/bursar/bursar/operator/proposal"
	"github.com/bursar/bursar/oversight"
	"github.com/bursar/bursar/store"
)

// Config holds the dependencies and settings of the console.
type Config struct {
	DB       *store.DB
	Registry *bursar.Registry
	IDs      *bursar.IDs
	Log      *slog.Logger         // nil: nothing is logged
	People   *operator.Service    // who may sign in
	SSHKeys  []proposal.PersonKey // with which people approve proposals too
	Acts     Acts
	Sheets   *oversight.Reader // what the pages show

	// Client says from which address a request comes, where proxies of the operator's stand between; nil: the
	// connection's. Attempts to sign in are counted by it, and the log of acts has it.
	Client func(r *http.Request) netip.Addr

	// Who says who has signed in; nil: the session of the request's cookie. Tests of pages set it.
	Who func(r *http.Request) (operator.Person, operator.Session, error)
}

// Console serves the pages and the JSON of the console. It is safe for concurrent use.
type Console struct {
	Config
	mux         *http.ServeMux
	views       views
	crossOrigin *http.CrossOriginProtection
	tries       tries
	who         func(r *http.Request) (operator.Person, operator.Session, error) // who has signed in
}

// The paths of the console.
const (
	base    = "/console"  // of pages
	apiBase = "/admin/v1" // of JSON
)

// New returns the console.
func New(c Config) (*Console, error) {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	h := &Console{Config: c, mux: http.NewServeMux(), crossOrigin: http.NewCrossOriginProtection()}
	if h.who = h.signedIn; c.Who != nil {
		h.who = c.Who
	}
	if c.Acts.Proposals != nil {
		Evaluate(c.Acts.Proposals, c.People, c.SSHKeys)
	}
	if err := h.trust(); err != nil {
		return nil, err
	}
	if err := h.prepare(); err != nil {
		return nil, err
	}
	return h, nil
}

// prepare reads the templates and registers every page and action.
func (c *Console) prepare() (err error) {
	pages := c.pages()
	if c.views, err = readViews(pages); err != nil {
		return err
	}
	c.mux.HandleFunc("GET "+base+"/assets/{name}", c.asset)
	c.mux.HandleFunc("GET "+base, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, base+"/", http.StatusSeeOther)
	})
	for _, p := range pages {
		end := p.path
		if end == "/" {
			end = "/{$}"
		}
		c.mux.Handle("GET "+base+end, c.page(p))
		c.mux.Handle("GET "+apiBase+end, c.pageJSON(p))
	}
	for _, a := range c.actions() {
		c.mux.Handle("POST "+base+a.path, c.action(a))
		c.mux.Handle("POST "+apiBase+a.path, c.actionJSON(a))
	}
	c.mux.HandleFunc(base+"/", c.notThere)
	c.mux.HandleFunc(apiBase+"/", c.notThere)
	c.addOperatorAudit()
	c.addSignIn()
	return nil
}

// Limits of a request.
const (
	workTime = 10 * time.Second
	maxBody  = 64 << 10
)

// policy allows pages what they consist of (Content Security Policy Level 3).
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// requestHeader names each request: in its answer, in the log, and in the rows of the log of acts that it made.
const requestHeader = "X-Request-ID"

// ServeHTTP answers requests below /console/ and /admin/v1/.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	request := c.IDs.Next().String()
	r.Header.Set(requestHeader, request) // in place of what the client sent
	header.Set(requestHeader, request)
	header.Set("Content-Security-Policy", policy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Frame-Options", "DENY")
	header.Set("Referrer-Policy", "same-origin") // no-referrer would have forms sent with "Origin: null"
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Cache-Control", "no-store")
	if err := c.crossOrigin.Check(r); err != nil {
		c.fail(w, r, nil, errCrossOrigin)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	ctx, cancel := context.WithTimeout(bursar.WithRequest(r.Context(), request), workTime)
	defer cancel()
	c.mux.ServeHTTP(w, r.WithContext(ctx))
}

// page is one page. Its template is that of its path: "/charges/{id}" is pages/charges_id.html, sheets
// share pages/sheet.html. It defines "main".
type page struct {
	path  string        // below /console and /admin/v1, as http.ServeMux reads it
	verb  operator.Verb // that a person needs
	title string
	nav   string                    // the entry of the navigation that it belongs to; empty: none
	serve func(*visit) (any, error) // returns what the template shows, which is also the JSON; it changes nothing
	view  string                    // the name of its template, where several pages share one; empty: that of its path
}

// action is one change. Its row in the log of acts is written by what it calls, in the transaction of the change.
type action struct {
	path string
	verb operator.Verb                // that a person needs; empty: none but to be signed in
	do   func(*visit) (string, error) // returns the path to go to after it, such as "/charges"
	form *page                        // shown again with what was refused; nil: a page that says so
}

// visit is one request of somebody who has signed in.
type visit struct {
	ctx     context.Context
	request *http.Request
	person  operator.Person
	session operator.Session
	from    netip.Addr // the address that the request comes from
	form    url.Values // of a page: the query. Of an action: the fields of the form, or of the JSON object
	status  int        // of the answer; 0: 200
	problem string     // why the form was refused that is shown again
	file    *file      // set by a page that answers with a file, such as an export, instead of its template
}

// file is what a browser stores instead of showing it.
type file struct {
	name string // "charges.csv"
	kind string // its Content-Type
	body []byte

	// stream writes the body instead, as it is read; nil: it is there. After an error the connection is cut off, so that
	// nobody takes a part for the whole.
	stream func(w io.Writer) error
}

// path returns a part of the path, such as "id" of "/charges/{id}".
func (v *visit) path(name string) string { return v.request.PathValue(name) }

// id returns a part of the path that is an ID; bursar.ErrNotFound for anything else.
func (v *visit) id(name string) (bursar.ID, error) {
	id, err := bursar.ParseID(v.path(name))
	if err != nil {
		return id, bursar.ErrNotFound
	}
	return id, nil
}

// act returns an act of the visit, to be recorded in the transaction of what it does.
func (v *visit) act(verb operator.Verb, object string) operator.Act {
	return operator.Act{
		Person:  v.person,
		Session: v.session.ID,
		From:    v.from,
		Verb:    verb,
		Object:  object,
		Reason:  v.form.Get("reason"),
		Request: v.request.Header.Get(requestHeader),
	}
}

// pages lists every page.
func (c *Console) pages() []page {
	return joined(c.basePages(), c.readPages(), c.actPages(), c.exportPages())
}

// actions lists every action.
func (c *Console) actions() []action {
	return joined(c.baseActions(), c.actActions())
}

func joined[T any](lists ...[]T) (all []T) {
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}

// navigation lists the entries of the navigation in their order: their name, which is the nav of their pages, and their
// path. An entry is shown to who may open its page.
var navigation = []struct{ Name, Path string }{
	{"Home", "/"},
	{"Charges", "/charges"},
	{"Deposits", "/deposits"},
	{"Wallets", "/wallets"},
	{"Withdrawals", "/withdrawals"},
	{"Unattributed", "/unattributed"},
	{"Balances", "/balances"},
	{"Chains", "/chains"},
	{"Webhooks", "/webhooks"},
	{"Ledger", "/ledger"},
	{"Accounts", "/accounts"},
	{"Proposals", "/proposals"},
	{"Approvals", "/approvals"},
	{"People", "/people"},
	{"Audit", "/audit"},
	{"Settings", "/settings"},
}
