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

// typedBack is how many characters of an address a payer types again: a copy that was exchanged on the way is noticed.
const typedBack = 6

// RefundForm asks where the payments of a currency are to be refunded to.
type RefundForm struct {
	Currency bursar.CurrencyCode
	Money    string // the currency as payers know it
	Network  string
	Tag      bool   // the currency's addresses may have a tag
	Named    string // what the payer has named; empty: nothing
	Locked   bool   // a refund was approved: nothing else is taken
}

// refunds returns the forms of a charge, one for each currency of which something can be refunded.
func (h *Handler) refunds(d charge.Shown, s bursar.InvoiceState) (list []RefundForm) {
	for _, code := range charge.Refundable(s) {
		c, err := h.Registry.Get(code)
		if err != nil {
			continue
		}
		form := RefundForm{Currency: code, Money: shortCode(code), Network: h.network(c), Tag: c.Memo != "",
			Locked: d.RefundLocked(code)}
		if named, is := d.Proposal(code); is {
			form.Named = named.Address.String()
		}
		list = append(list, form)
	}
	return list
}

// refund answers POST /pay/{token}/refund: it records where the payer wants to be refunded, and pays nothing.
func (h *Handler) refund(w http.ResponseWriter, r *http.Request, token bursar.ID, client netip.Prefix) {
	if !h.formOf(w, r, client) {
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), workTime)
	defer cancel()
	asked := askedBy(r)
	address := strings.TrimSpace(r.PostFormValue("address"))
	again := strings.TrimSpace(r.PostFormValue("again"))
	asked.Wrong = len(again) != typedBack || !strings.HasSuffix(address, again)
	if !asked.Wrong {
		err := h.propose(ctx, charge.Proposal{
			Token:    token,
			Currency: bursar.CurrencyCode(r.PostFormValue("currency")),
			Address:  address,
			Tag:      strings.TrimSpace(r.PostFormValue("tag")),
		})
		var refusal *bursar.Error
		if err != nil && (!errors.As(err, &refusal) || errors.Is(err, bursar.ErrNotFound)) {
			h.fail(w, r, err)
			return
		}
		asked.Wrong = err != nil
	}
	http.Redirect(w, r, "/pay/"+token.String()+asked.query(), http.StatusSeeOther)
}

// propose records an address. A payer who leaves the tag empty says that there is none, unless the address holds it.
func (h *Handler) propose(ctx context.Context, p charge.Proposal) error {
	_, err := h.Refund(ctx, p)
	var refusal *bursar.Error
	if p.Tag == "" && errors.As(err, &refusal) && refusal.Field == "tag" {
		p.NoTag = true
		_, err = h.Refund(ctx, p)
	}
	return err
}

// formOf reads a form, and answers one that may not be taken; then it returns false.
func (h *Handler) formOf(w http.ResponseWriter, r *http.Request, client netip.Prefix) bool {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if h.crossOrigin.Check(r) != nil || r.ParseForm() != nil {
		h.fail(w, r, errCrossOrigin)
		return false
	}
	if !h.choices.may(client, h.Now()) {
		w.Header().Set("Retry-After", "60")
		h.fail(w, r, errBusy)
		return false
	}
	return true
}
