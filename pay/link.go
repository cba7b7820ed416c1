package pay

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/charge"
)

// LinkPage is the page of a payment link: what a payer says before a charge is made for them.
type LinkPage struct {
	Page
	Fixed  string // what it costs; empty: the payer says how much
	Unit   string // in which
	Amount string // as the payer wrote it
	Fields []LinkField
	Closed bool // it makes no more charges
	Busy   bool // it makes none now
	Wrong  bool // what the payer wrote was not taken
}

// LinkField is something that the shop asks.
type LinkField struct{ Name, Value string }

// link answers GET and POST /pay/link/{token}. Only a form that is sent makes a charge, so that robots make none.
func (h *Handler) link(w http.ResponseWriter, r *http.Request, text string, client netip.Prefix) {
	token, err := bursar.ParseID(text)
	read := r.Method == http.MethodGet || r.Method == http.MethodHead
	if err != nil || r.URL.RawPath != "" || !read && r.Method != http.MethodPost {
		h.fail(w, r, bursar.ErrNotFound)
		return
	}
	if !read && !h.formOf(w, r, client) {
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), workTime)
	defer cancel()
	l, err := h.FindLink(ctx, token)
	if err != nil {
		h.fail(w, r, err)
		return
	}
	h.mayFrame(w, l.AccountID)
	p := h.linkPage(l, askedBy(r))
	if read || p.Closed {
		h.writeLink(w, http.StatusOK, p)
		return
	}
	h.visit(ctx, w, r, l, p, client)
}

// visit makes the charge that a payer asks for and leads to its page.
func (h *Handler) visit(
	ctx context.Context, w http.ResponseWriter, r *http.Request, l bursar.PaymentLink, p LinkPage, client netip.Prefix,
) {
	v := charge.Visit{Token: l.Token, Answers: map[string]string{}, From: client}
	if p.Fixed == "" {
		p.Amount = strings.TrimSpace(r.PostFormValue("amount"))
		v.Amount = strings.ReplaceAll(p.Amount, ",", ".") // a price of "9,50" has the same meaning in half of the world
	}
	for i := range p.Fields {
		f := &p.Fields[i]
		f.Value = strings.TrimSpace(r.PostFormValue("field-" + f.Name))
		v.Answers[f.Name] = f.Value
	}
	made, err := h.FromLink(ctx, v)
	var refusal *bursar.Error
	switch {
	case err == nil:
		asked := askedBy(r)
		http.Redirect(w, r, "/pay/"+made.Token.String()+asked.query(), http.StatusSeeOther)
		return
	case !errors.As(err, &refusal) || errors.Is(err, bursar.ErrNotFound):
		h.fail(w, r, err)
		return
	case refusal.Code == bursar.CodeChargeClosed:
		p.Closed = true
	case refusal.Code == bursar.CodeRateLimited || refusal.Code == bursar.CodeRateUnavailable ||
		refusal.Code == bursar.CodeUnavailable:
		p.Busy = true
	default:
		p.Wrong = true
	}
	h.writeLink(w, http.StatusUnprocessableEntity, p)
}

func (h *Handler) linkPage(l bursar.PaymentLink, a asked) LinkPage {
	p := LinkPage{
		Page:   h.blank(a, l.Terms.Locale, l.AccountID),
		Unit:   shortCode(l.Terms.Unit),
		Closed: !l.Takes(h.Now()),
	}
	p.Problem = "link"
	p.Description, p.Contact, p.ContactURL = l.Terms.Description, l.Terms.Contact, contactURL(l.Terms.Contact)
	p.Path = "/pay/link/" + l.Token.String() + a.query()
	if l.Terms.Amount != "" {
		p.Fixed = Money{l.Terms.Amount, p.Unit}.String()
	}
	for _, name := range l.Fields {
		p.Fields = append(p.Fields, LinkField{Name: name})
	}
	return p
}

func (h *Handler) writeLink(w http.ResponseWriter, status int, p LinkPage) {
	if p.Closed {
		p.Problem = "link_closed"
	}
	h.write(w, status, "link", p.Lang, p)
}
