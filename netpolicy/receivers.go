package netpolicy

import (
	"net/netip"
	"net/url"
)

// Receivers is which URLs may be named as a webhook from now on. What was named before is still sent to. The zero
// Receivers is every public address.
type Receivers struct {
	Networks  []netip.Prefix // networks besides public addresses
	HTTPSOnly bool           // anyone in between reads what is sent over http
}

// Check is CheckWebhookURL for these receivers.
func (p Receivers) Check(raw string) error {
	if err := CheckWebhookURL(raw, p.Networks); err != nil {
		return err
	}
	if u, err := url.Parse(raw); p.HTTPSOnly && (err != nil || u.Scheme != "https") {
		return badWebhook("only https is allowed")
	}
	return nil
}
