package chains_test

import (
	"slices"
	"testing"

	"github.com/bursar/bursar/chain/registry"
	"github.com/bursar/bursar/sandbox/chains"
)

// The sandbox runs every chain that there is, in the same order.
func TestTheSandboxRunsEveryChain(t *testing.T) {
	t.Parallel()
	if got, want := chains.Available(), registry.IDs(); !slices.Equal(got, want) {
		t.Errorf("it runs %q, there are %q", got, want)
	}
}
