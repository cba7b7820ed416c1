package evm

import (
	"context"
	"strings"
	"testing"

	"github.com/bursar/bursar/chain"
)

// panicking is a watch that panics, as code does in an unforeseen case.
type panicking struct{ chain.Watch }

func (panicking) Sync(context.Context) error { return nil }

func (panicking) Pays(string) bool { panic("an unforeseen block") }

// Blocks for which balances are requested are evaluated in the adapter's own goroutines. A panic there is an error of
// the chain.
func TestAPanicInAScanIsAnError(t *testing.T) {
	t.Parallel()
	d := &delivered{untraced: span{0, 1}, block: block{Txs: make([]transaction, 1)}, receipts: make([]receipt, 1)}
	_, err := (&Chain{}).scanAll(t.Context(), source{}, []*delivered{d, d}, panicking{})
	if err == nil || !strings.Contains(err.Error(), "panicked") {
		t.Errorf("the error is %v, want an error and %q in it", err, "panicked")
	}
}
