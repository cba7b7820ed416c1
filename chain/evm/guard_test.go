package evm

import (
	"context"
	"strings"
	"testing"

	"github.com/bursar/bursar/chain"
)

// bewildered is a watch that panics, as code does that meets what it does not foresee.
type bewildered struct{ chain.Watch }

func (bewildered) Sync(context.Context) error { return nil }

func (bewildered) Pays(string) bool { panic("an unforeseen block") }

// Blocks that ask for balances are judged in goroutines of the adapter's own. A panic there is an error of the chain.
func TestAPanicWhileBlocksAreJudgedIsAnError(t *testing.T) {
	t.Parallel()
	d := &delivered{untraced: span{0, 1}, block: block{Txs: make([]transaction, 1)}, receipts: make([]receipt, 1)}
	_, err := (&Chain{}).scanAll(t.Context(), source{}, []*delivered{d, d}, bewildered{})
	if err == nil || !strings.Contains(err.Error(), "panicked") {
		t.Errorf("the error is %v", err)
	}
}
