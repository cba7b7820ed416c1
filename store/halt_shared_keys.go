package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/bursar/bursar"
)

// PutSharing halts a chain whose key may be in other hands, and every other chain that shares the key. Each reason
// names the others; it returns the chain's own.
func (tx Halts) PutSharing(ctx context.Context, id bursar.ChainID, h Halt,
	others []bursar.ChainID) (reason string, err error) {
	cause := h.Reason
	for _, other := range others {
		h.Scope, h.Reason = HaltChain(other), fmt.Sprintf("%s shares its keys with %s: %s", other, id, cause)
		if err := tx.Put(ctx, h); err != nil {
			return "", err
		}
	}
	h.Scope, h.Reason = HaltChain(id), cause
	if len(others) > 0 {
		names := make([]string, len(others))
		for i, other := range others {
			names[i] = string(other)
		}
		h.Reason += "; halted with it, for they share the key: " + strings.Join(names, ", ")
	}
	return h.Reason, tx.Put(ctx, h)
}
