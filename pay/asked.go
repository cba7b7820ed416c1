package pay

import (
	"net/http"
	"net/url"

	"github.com/bursar/bursar"
)

// asked is what a payer's request says about how the page is to be shown.
type asked struct {
	Language string // the payer's choice; empty: none
	Accepted string // Accept-Language
	Currency bursar.CurrencyCode
	Form     string // of the QR code: "address" or "link"; empty: the usual one
	Choose   bool   // all currencies are to be shown
	Wrong    bool   // the address for a refund was not taken
}

func askedBy(r *http.Request) asked {
	q := r.URL.Query()
	a := asked{
		Language: q.Get("lang"),
		Accepted: r.Header.Get("Accept-Language"),
		Currency: bursar.CurrencyCode(q.Get("currency")),
		Form:     q.Get("form"),
		Choose:   q.Get("choose") == "1",
		Wrong:    q.Get("refund") == "wrong",
	}
	if a.Form != formAddress && a.Form != formLink {
		a.Form = ""
	}
	return a
}

// The forms of a QR code.
const (
	formAddress = "address"
	formLink    = "link"
)

// query returns the query of a link that shows the page in this way, with its question mark, or "".
func (a asked) query() string {
	q := url.Values{}
	for name, value := range map[string]string{"lang": a.Language, "currency": string(a.Currency), "form": a.Form} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if a.Choose {
		q.Set("choose", "1")
	}
	if a.Wrong {
		q.Set("refund", "wrong")
	}
	if len(q) == 0 {
		return ""
	}
	return "?" + q.Encode()
}
