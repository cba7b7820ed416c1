package rpc

import (
	"context"
	"sync/atomic"
)

// meter counts the bytes of the answers that one item of a Fetch keeps.
type meter struct{ bytes atomic.Int64 }

func (m *meter) add(n int64) {
	if m != nil {
		m.bytes.Add(n)
	}
}

type meterKey struct{}

func withMeter(ctx context.Context, m *meter) context.Context {
	return context.WithValue(ctx, meterKey{}, m)
}

// meterOf returns the meter of the Fetch that runs in ctx, or nil.
func meterOf(ctx context.Context) *meter {
	m, _ := ctx.Value(meterKey{}).(*meter)
	return m
}
