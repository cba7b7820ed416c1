package chains_test

import (
	"slices"
	"testing"

	"github.com/bursar/bursar/chain/registry"
	"github.com/bursar/bursar/sandbox/chains"
)

// TestTheSandboxRunsEveryChain checks that the sandbox runs every registered chain, in the same order.
func TestTheSandboxRunsEveryChain(t *testing.T) {
	t.Parallel()
	if got, want := chains.Available(), registry.IDs(); !slices.Equal(got, want) {
		t.Errorf("the sandbox runs %q, want %q", got, want)
	}
}
