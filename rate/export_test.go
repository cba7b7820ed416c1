package rate

import (
	"net/http"

	"github.com/bursar/bursar"
)

// SetTransport makes a Feed ask through something else than the network.
func (f *Feed) SetTransport(t http.RoundTripper) { f.client.Transport = t }

// RateOf reads a number of a response.
func RateOf(text string) (bursar.Rate, bool) { return rateOf(text) }
