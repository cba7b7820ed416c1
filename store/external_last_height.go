package store

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"

	"github.com/bursar/bursar"
)

// sealLastHeight returns the code that goes with the last height at which a transaction can be included. A
// transaction's hash covers that height, so the code says something that is true of the transaction for ever, whatever
// becomes of the row.
func (k sealKey) sealLastHeight(chain bursar.ChainID, txID string, last uint64) []byte {
	f := k.sum("bursar last height v1")
	f.text(string(chain))
	f.text(txID)
	f.number(int64(last))
	return f.Sum([]byte(k.id))
}

// LastHeight returns the last height at which an external spend can be included, as a block showed it: once the chain
// is past that, what the spend reserves is free again. It is 0 where none is known, also in a process that cannot
// evaluate the seal; the error is ErrAltered where somebody without the key of the books wrote it.
func (tx ExternalSpends) LastHeight(x ExternalSpend) (uint64, error) {
	switch {
	case x.LastHeight == 0 || tx.seal.id == "" && len(x.lastSeal) > sha256.Size:
		return 0, nil
	case !hmac.Equal(x.lastSeal, tx.seal.sealLastHeight(x.Chain, x.TxID, x.LastHeight)):
		return 0, fmt.Errorf("the last height of external spend %s: %w", x.TxID, ErrAltered)
	}
	return x.LastHeight, nil
}
