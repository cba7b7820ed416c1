package netpolicy

import (
	"errors"
	"net/url"
)

// WithoutURL returns what went wrong with a request, without the request's URL: that may have a key or a token in its
// path or query, and the error is logged. Any other error is returned as it is.
func WithoutURL(err error) error {
	var named *url.Error
	if errors.As(err, &named) {
		return named.Err
	}
	return err
}
