package evm

import (
	"errors"
	"testing"

	"github.com/bursar/bursar/chain"
)

// Native value leaves a Safe within a call. Where nothing traces, nothing would show that, and the cold wallet's
// account would keep what is gone; a token's transfer stands in the log of every node.
func TestNativeMoneyOfASafeNeedsATrace(t *testing.T) {
	t.Parallel()
	refused := func(methods ...string) func(*fake) {
		return func(f *fake) {
			for _, method := range methods {
				f.script[method] = func([]any) (any, error) { return nil, errNoMethod }
			}
		}
	}
	for name, test := range map[string]struct {
		spoil    func(f *fake)
		trace    Tracing
		contract string
		want     error
	}{
		"a node that traces":                {refused(), TraceAuto, "", nil},
		"by one of two methods":             {refused("debug_traceBlockByHash"), TraceAuto, "", nil},
		"a node that does not":              {refused("debug_traceBlockByHash", "trace_block"), TraceAuto, "", errUnseen},
		"another method than is configured": {refused("debug_traceBlockByHash"), TraceGeth, "", errUnseen},
		"tracing is off":                    {refused(), TraceNone, "", errUnseen},
		"a token where tracing is off":      {refused(), TraceNone, fakeToken, nil},
		"a token on a node that does not trace": {refused("debug_traceBlockByHash", "trace_block"), TraceAuto,
			fakeToken, nil},
	} {
		f := newFake(t)
		test.spoil(f)
		c := f.open(t, func(cfg *Config) { cfg.Trace = test.trace })
		s, err := c.nodes.Pin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := c.seesCalls(t.Context(), s, chain.Payment{Contract: test.contract}); !errors.Is(err, test.want) {
			t.Errorf("%s: got %v, want %v", name, err, test.want)
		}
	}
}
