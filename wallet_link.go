package bursar

import (
	"net/url"
	"strings"
)

// WalletLink is the form of the URIs that say to a wallet what to pay, with names in braces for its
// parts: {address}, {tag}, {contract}, {amount} as a decimal of whole units, {units} of the smallest unit, and {label},
// the receiver's name. A parameter of the query without a value is left out. The zero WalletLink is none.
type WalletLink struct {
	Form string
	// Usual says that wallets in general read the link from a QR code; otherwise a code holds the bare address unless
	// the payer asks for the link.
	Usual bool
	App   WalletApp // opens by a web address too; the zero one is none
}

// WalletApp is a wallet of the main network that opens by an address of its maker's website. Where it is not installed
// that site opens, and learns who asks for which payment: operators choose whether payers are offered it.
type WalletApp struct {
	Key  string // in the configuration, such as "xaman"
	Name string // as payers know it
	Form string // as of a WalletLink
}

// PaymentURI returns the URI of a payment of an amount of the currency, "" where the currency's chain has none. The
// amount of zero is left out: the payer's wallet asks for it. The label may be empty.
func (c Currency) PaymentURI(to Address, amount Amount, label string) string {
	return c.filled(c.Link.Form, to, amount, label)
}

// AppURI is PaymentURI by the web address of a wallet, "" where the currency's chain has none.
func (c Currency) AppURI(to Address, amount Amount, label string) string {
	return c.filled(c.Link.App.Form, to, amount, label)
}

func (c Currency) filled(form string, to Address, amount Amount, label string) string {
	base, query, asked := strings.Cut(form, "?")
	if base == "" || to.Base == "" {
		return ""
	}
	whole, units := "", ""
	if !amount.IsZero() {
		whole, units = amount.Decimal(c.Decimals, 0), amount.String()
	}
	fill := strings.NewReplacer("{address}", url.PathEscape(to.Base), "{tag}", url.QueryEscape(to.Tag()), "{contract}",
		url.PathEscape(c.Contract), "{amount}", whole, "{units}", units, "{label}", escaped(label))
	if !asked {
		return fill.Replace(base)
	}
	var parts []string
	for part := range strings.SplitSeq(query, "&") {
		if name, value, _ := strings.Cut(fill.Replace(part), "="); value != "" {
			parts = append(parts, name+"="+value)
		}
	}
	if len(parts) == 0 {
		return fill.Replace(base)
	}
	return fill.Replace(base) + "?" + strings.Join(parts, "&")
}

// escaped escapes a value of a query with %20 for a space: in a BIP 21 URI a + is a plus.
func escaped(value string) string { return strings.ReplaceAll(url.QueryEscape(value), "+", "%20") }
