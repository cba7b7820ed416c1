package bursar

import "context"

// requestKey is that of a request's ID in a context.
type requestKey struct{}

// WithRequest returns a context of a request, by which the log lines that it causes name it: the X-Request-ID of its
// answer. What a request only leaves behind, such as a payment that is sent later, names no request.
func WithRequest(ctx context.Context, id string) context.Context {
	if id == "" {
		return ctx
	}
	return context.WithValue(ctx, requestKey{}, id)
}

// RequestOf returns the ID of the request that a context is of; empty: it is of none.
func RequestOf(ctx context.Context) string {
	id, _ := ctx.Value(requestKey{}).(string)
	return id
}
