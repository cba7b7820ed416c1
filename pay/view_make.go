package pay

import (
	"fmt"
	"html/template"
	"net/mail"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/charge"
	"github.com/bursar/bursar/pay/qr"
)

// shop returns how an account shows itself.
func (h *Handler) shop(account bursar.ID) (name string, files assets) {
	if brand, own := h.Brands[account]; own {
		return brand.Name, h.own[account]
	}
	return h.Brand.Name, h.assets
}

// blank returns a page without a charge, of an account.
func (h *Handler) blank(a asked, locale string, account bursar.ID) Page {
	c := h.texts.pick(a.Language, locale, a.Accepted)
	name, files := h.shop(account)
	p := Page{Lang: c.Tag.String(), Dir: "ltr", Style: files.Style, Script: files.Script, Logo: files.Logo, Shop: name,
		texts: c, chosen: a.Language, account: account}
	if c.RTL {
		p.Dir = "rtl"
	}
	for _, other := range h.texts.list {
		to := a
		to.Language = other.Tag.String()
		p.Languages = append(p.Languages, Choice{Name: other.Name, Code: to.Language, URL: to.query(), Chosen: other == c})
	}
	return p
}

// pageOf draws the page of a charge at a time.
func (h *Handler) pageOf(d charge.Shown, a asked, now time.Time) Page {
	s := d.State(now)
	p := h.blank(a, d.Locale, d.AccountID)
	p.ID, p.Description, p.Contact, p.ContactURL = d.ID, d.Description, d.Contact, contactURL(d.Contact)
	p.Required = Money{d.Unit.Exact(d.Required), string(d.Unit.Code)}
	unit := func(amount bursar.Amount) string { return Money{d.Unit.Exact(amount), shortCode(d.Unit.Code)}.String() }
	p.Required.Currency = shortCode(d.Unit.Code)
	p.Figures = Figures{unit(s.Received), unit(s.Due), unit(d.Required), unit(s.Over)}
	if s.Received.IsZero() {
		p.Figures.Received = unit(s.Pending)
	}
	chosen := chosenOf(d.InvoiceDetail, a.Currency)
	p.Options = h.options(d.InvoiceDetail, s, a, now)
	p.State = stateOf(s, chosen, d.Unit.Fiat, len(p.Options) > 0, a.Choose, now)
	for _, label := range notices() {
		if slices.Contains(s.Labels, label) && !(label == bursar.LabelLate && p.State == Late) {
			p.Notices = append(p.Notices, "notice_"+string(label))
		}
	}
	h.addPayments(&p, s)
	p.Wrong, p.Token = a.Wrong, d.Token.String()
	if p.State == Late || p.State == ExpiredPartial || s.Attention && p.State == Paid {
		p.Refunds = h.refunds(d, s)
	}
	a.Wrong = false
	p.Seen.Record = bursar.InvoiceRecord{Version: d.Recorded.Version}
	p.Seen.Turns = s.TurnsAt
	if p.State == Waiting || p.State == Partial || p.State == RateEnded {
		h.addPayable(&p, d.InvoiceDetail, s, *chosen, a, now)
	}
	if p.State == Confirming {
		p.Progress = h.progress(&p.Seen, d, s)
	}
	p.Back = d.Failure
	if p.State == Paid || p.State == Confirming {
		p.Back = d.Success
	}
	p.Live = !p.State.ended()
	p.Path = "/pay/" + d.Token.String()
	part := a.query()
	if part == "" {
		part = "?"
	}
	p.Key = fmt.Sprintf("%d.%s", d.Version(now), p.State)
	if p.Progress != nil {
		p.Key += fmt.Sprintf(".%d", p.Progress.Done)
	}
	p.Events, p.Part = p.Path+"/events"+part+"&seen="+url.QueryEscape(p.Key), p.Path+part+"&fragment=1"
	p.Path += a.query()
	return p
}

// chosenOf returns the currency that is shown: the one that the payer asks for, or else the only one with an address.
func chosenOf(d bursar.InvoiceDetail, code bursar.CurrencyCode) *bursar.InvoiceOption {
	if o := d.Option(code); o != nil {
		return o
	}
	var only *bursar.InvoiceOption
	for i := range d.Options {
		if d.Options[i].Wallet == 0 {
			continue
		}
		if only != nil {
			return nil
		}
		only = &d.Options[i]
	}
	return only
}

// shortCode is a currency as payers know it: the network is said apart.
func shortCode(code bursar.CurrencyCode) string {
	short, _, _ := strings.Cut(string(code), "-")
	return short
}

// network is a currency's network in payers' words: "Tron (TRC-20)".
func (h *Handler) network(c bursar.Currency) string {
	n := h.Networks[c.Chain]
	if n.Name == "" {
		n.Name = string(c.Chain)
	}
	if c.IsToken() && n.Standard != "" {
		return n.Name + " (" + n.Standard + ")"
	}
	return n.Name
}

// rateOf returns what a currency counts now: its locked rate, or else that of today.
func (h *Handler) rateOf(d bursar.InvoiceDetail, o bursar.InvoiceOption, now time.Time) bursar.Rate {
	if q := o.Quoted(); q.Locked(now) {
		return q.Rate
	}
	if h.Prices == nil || !d.Unit.Fiat {
		return bursar.Rate{}
	}
	return h.Prices(o.Currency, d.Unit).Rate
}

func (h *Handler) options(d bursar.InvoiceDetail, s bursar.InvoiceState, a asked, now time.Time) (list []Option) {
	for _, o := range d.Options {
		c, err := h.Registry.Get(o.Currency)
		rate := h.rateOf(d, o, now)
		if err != nil || !rate.IsKnown() && o.Wallet == 0 {
			continue
		}
		a.Currency, a.Choose = o.Currency, false
		option := Option{Code: c.Code, Network: h.network(c), URL: a.query(), HasQuote: o.Quoted().Locked(now)}
		option.Money = Money{"", shortCode(c.Code)}
		if due, err := bursar.OptionDue(rate, s.Due, d.Unit, c); err == nil && rate.IsKnown() {
			option.Money.Amount, option.Minimum = plain(c, due), due == c.Minimum
		}
		list = append(list, option)
	}
	return list
}

// plain writes an amount with a point and without grouping, as wallets read it.
func plain(c bursar.Currency, a bursar.Amount) string { return a.Decimal(c.Decimals, 0) }

func (h *Handler) addPayable(
	p *Page, d bursar.InvoiceDetail, s bursar.InvoiceState, o bursar.InvoiceOption, a asked, now time.Time,
) {
	c, err := h.Registry.Get(o.Currency)
	if err != nil {
		p.State = NoRate // it is not configured any more
		return
	}
	to := &Payable{Currency: c.Code, Money: Money{"", shortCode(c.Code)}, Network: h.network(c), Address: o.Address.Base,
		Tag: o.Address.Tag(), Until: d.Expires}
	p.Pay = to
	if len(d.Options) > 1 {
		others := a
		others.Choose, others.Currency = true, ""
		to.Others = others.query()
	}
	if p.State == RateEnded {
		return
	}
	if until := o.Quoted().Until; !until.IsZero() && until.Before(to.Until) {
		to.Until = until
		p.Seen.Turns = until
	}
	to.Left = int(to.Until.Sub(now) / time.Minute)
	due, err := bursar.OptionDue(o.Quoted().Rate, s.Due, d.Unit, c)
	if err != nil {
		p.State, p.Pay = NoRate, nil
		return
	}
	to.Money.Amount = plain(c, due)
	to.URI = c.PaymentURI(o.Address, due, h.Checkout.Shop(d.AccountID))
	if slices.Contains(h.Apps, c.Link.App.Key) {
		to.App, to.AppURL = c.Link.App.Name, c.AppURI(o.Address, due, h.Checkout.Shop(d.AccountID))
	}
	to.draw(c, d.LinkFormat, a)
}

// draw adds the QR code, and the switch between its forms where there are two.
func (to *Payable) draw(c bursar.Currency, usual string, a asked) {
	to.Form = a.Form
	if to.Form == "" {
		to.Form = usual
	}
	if to.Form == "" && c.Link.Usual {
		to.Form = formLink
	}
	if to.URI == "" || to.Form != formLink {
		to.Form = formAddress
	}
	text := to.Address
	if to.Form == formLink {
		text = to.URI
	}
	image, err := qr.SVG(text)
	if err != nil {
		image = "" // a name that is too long for a code; the address stands beside it
	}
	to.Image = template.HTML(image) //nolint:gosec // it holds rectangles only
	if to.URI == "" {
		return
	}
	for _, form := range []string{formAddress, formLink} {
		other := a
		other.Form, other.Currency = form, to.Currency
		to.Forms = append(to.Forms, Choice{Name: "qr_" + form, URL: other.query(), Chosen: to.Form == form})
	}
}

// progress returns how far the slowest pending payment is, and notes on which heights that depends.
func (h *Handler) progress(seen *Seen, d charge.Shown, s bursar.InvoiceState) *Progress {
	seen.Heights = map[bursar.ChainID]uint64{}
	slowest := &Progress{}
	for _, pay := range s.Payments {
		if pay.Deposit.Status != bursar.DepositPending {
			continue
		}
		n := h.Networks[pay.Deposit.Chain]
		of := max(int(pay.Deposit.Required), n.Confirmations)
		seen.Heights[pay.Deposit.Chain] = d.Heights[pay.Deposit.Chain]
		done := min(int(min(pay.Deposit.Confirmations(d.Heights[pay.Deposit.Chain]), 1<<20)), of)
		minutes := int((time.Duration(of-done)*n.BlockTime + time.Minute - 1) / time.Minute)
		if of > 0 && (slowest.Of == 0 || minutes > slowest.Minutes) {
			*slowest = Progress{Of: of, Done: done, Minutes: minutes}
		}
	}
	return slowest
}

func (h *Handler) addPayments(p *Page, s bursar.InvoiceState) {
	const most = 20 // anybody may pay any number of times
	for _, pay := range s.Payments[max(0, len(s.Payments)-most):] {
		c, err := h.Registry.Get(pay.Deposit.Currency)
		if err != nil {
			continue
		}
		view := Received{Money: Money{plain(c, pay.Deposit.Amount), shortCode(c.Code)}, Network: h.network(c),
			At: pay.Deposit.SeenAt.UTC(), TxID: pay.Deposit.TxID, State: "payment_" + string(pay.Deposit.Status)}
		if link := h.Networks[pay.Deposit.Chain].Explorer; link != "" && pay.Deposit.Height > 0 {
			view.URL = strings.ReplaceAll(link, "{tx}", url.PathEscape(pay.Deposit.TxID))
		}
		p.Payments = append(p.Payments, view)
	}
}

// contactURL returns a link for a contact that is an address of mail or of a page, and "" for any other text.
func contactURL(contact string) string {
	if a, err := mail.ParseAddress(contact); err == nil && a.Address == contact {
		return "mailto:" + contact
	}
	if u, err := url.Parse(contact); err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" {
		return contact
	}
	return ""
}

// Wallet returns the payment URI as a link. Its scheme is one of the chains', and its parts are escaped.
func (p Page) Wallet() template.URL { return template.URL(p.Pay.URI) } //nolint:gosec // see above

// Query is what a form's path ends with, so that the page is shown in the same way after it.
func (p Page) Query() string {
	if p.chosen == "" {
		return ""
	}
	return "?lang=" + url.QueryEscape(p.chosen)
}
