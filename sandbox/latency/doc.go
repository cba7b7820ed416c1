// Package latency measures the time from a node's announcement of a block to the first byte of the webhook of a
// credit.
//
// It owns nothing but a benchmark: a chain of the sandbox whose node announces its blocks, the service as `bursar
// serve` assembles it, a database, and a receiver over HTTP. The service polls so rarely that only announcements can
// be in time.
package latency
