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
}

// PaymentURI returns the URI of a payment of an amount of the currency, "" where the currency's chain has none. The
// amount of zero is left out: the payer's wallet asks for it. The label may be empty.
func (c Currency) PaymentURI(to Address, amount Amount, label string) string {
	base, query, asked := strings.Cut(c.Link.Form, "?")
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
