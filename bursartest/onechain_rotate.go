package bursartest

import (
	"bytes"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
)

// Rotate begins the next epoch and starts another process in it; what the signer remembers stays.
func (r *OneChain) Rotate() {
	r.T.Helper()
	capabilities, e := r.Chain.Capabilities(), r.Keys.Epoch()+1
	keys, err := signer.KeysFromSeed(make([]byte, 64), signer.Testnet)
	r.Must(err)
	for n := range e {
		next, err := signer.KeysFromSeed(bytes.Repeat([]byte{byte(n + 1)}, 64), signer.Testnet)
		r.Must(err)
		r.Must(keys.Add(next))
	}
	r.Must(keys.Begin(e))
	r.Keys, r.Old = NewCachedKeys(keys), append(r.Old, r.Hot)
	key := chain.HotIn(capabilities, e)
	pub, err := keys.Public(key)
	r.Must(err)
	address, err := r.Chain.Address(pub, 0)
	r.Must(err)
	r.Hot = chain.Source{Key: key, Base: address.Base}
	r.startSigner()
	r.Do(func(tx *store.Tx) error { return tx.KeyIndexes().Skip(ctx, capabilities.Family, int64(e.First())) })
	r.Restart()
}

func (r *OneChain) oldBases() (bases []string) {
	for _, one := range r.Old {
		bases = append(bases, one.Base)
	}
	return bases
}
