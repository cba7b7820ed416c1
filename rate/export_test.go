package rate

import (
	"net/http"

	"github.com/bursar/bursar"
)

// SetTransport has a Feed ask through something else than the network.
func (f *Feed) SetTransport(t http.RoundTripper) { f.client.Transport = t }

// RateOf reads a number of an answer.
func RateOf(text string) (bursar.Rate, bool) { return rateOf(text) }
