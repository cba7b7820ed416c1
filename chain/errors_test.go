package chain_test

import (
	"errors"
	"testing"

	"github.com/bursar/bursar/chain"
)

func TestWrapKeepsTheError(t *testing.T) {
	t.Parallel()
	ask := func(answer error) (err error) {
		defer chain.Wrap(&err, "block %d", 7)
		return answer
	}
	if err := ask(nil); err != nil {
		t.Errorf("got %v, want no error", err)
	}
	if err := ask(chain.ErrNoBlock); !errors.Is(err, chain.ErrNoBlock) ||
		err.Error() != "block 7: "+chain.ErrNoBlock.Error() {
		t.Errorf("got %v, want chain.ErrNoBlock after what was asked", err)
	}
}
