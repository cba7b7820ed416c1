package service

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// A command beside a running service cannot sign.
func TestACommandSignsNothing(t *testing.T) {
	t.Parallel()
	if tx, err := (noSigner{}).Sign(t.Context(), bursar.Bitcoin, chain.TxRequest{}, chain.UnsignedTx{}); err == nil {
		t.Errorf("it signs %+v, want an error", tx)
	}
}
