package solana

import "slices"

// Legacy names transactions without a version for Refuse.
const Legacy = legacy

// Refuse makes the node and its blocks refuse transactions of these versions from now on, and accept all others:
// legacy ones and version 0 as SIMD-0646 proposes, version 1 as software from before SIMD-0385. Refused transactions
// that wait are dropped. A restart resets it.
func (n *Node) Refuse(versions ...int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.refused = slices.Clone(versions)
	n.pool.keep(func(t *transaction) bool { return !slices.Contains(versions, t.version) })
}

// admits is the refusal of a transaction's version (Agave: sanitize_transaction; solana-message before 4.0, for version
// 1).
func (n *Node) admits(t *transaction) error {
	switch {
	case !slices.Contains(n.refused, t.version):
		return nil
	case t.version == 1:
		return fail(codeParams,
			"failed to deserialize solana_transaction::versioned::VersionedTransaction: invalid value: integer `1`, expected "+
				"a valid transaction message version")
	}
	return fail(codeParams, "invalid transaction: Transaction version is unsupported")
}
