package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/bursar/bursar"
)

// PutSharing halts a chain whose key may be in other hands, and every other chain that shares the key. Each reason names the
// others; it returns the chain's own.
func (tx Halts) PutSharing(ctx context.Context, id bursar.ChainID, h Halt, kin []bursar.ChainID) (reason string, err error) {
	cause := h.Reason
	for _, other := range kin {
		h.Scope, h.Reason = HaltChain(other), fmt.Sprintf("%s shares its keys with %s: %s", other, id, cause)
		if err := tx.Put(ctx, h); err != nil {
			return "", err
		}
	}
	h.Scope, h.Reason = HaltChain(id), cause
	if len(kin) > 0 {
		names := make([]string, len(kin))
		for i, other := range kin {
			names[i] = string(other)
		}
		h.Reason += "; halted with it, for they share the key: " + strings.Join(names, ", ")
	}
	return h.Reason, tx.Put(ctx, h)
}

// Forget has the next draft from an address ask the chain for its nonce, because the books' is wrong. It does nothing, and
// reports false, while a transaction of ours from there is reserved, signed or sent and in no block: its nonce is the books'.
func (tx Nonces) Forget(ctx context.Context, chain bursar.ChainID, base string) (forgotten bool, err error) {
	const unlessOpen = ` AND NOT EXISTS (SELECT 1 FROM outgoing_txs s WHERE s.chain = $1 AND s.base = $2 AND s.height = 0 AND s.status IN ('claimed', 'signed', 'sent'))`
	n, err := tx.exec(ctx, "forget nonce", `DELETE FROM nonces WHERE chain = $1 AND base = $2`+unlessOpen, string(chain), base)
	if err != nil || n == 0 {
		return false, err
	}
	_, err = tx.exec(ctx, "forget free nonces", `DELETE FROM free_nonces WHERE chain = $1 AND base = $2`, string(chain), base)
	return err == nil, err
}
