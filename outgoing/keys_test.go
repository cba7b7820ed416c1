package outgoing_test

import (
	"sync"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/signer"
)

// knownKeys are the keys of every rig, whose seed is the same, with the public keys that were derived before: a service
// of wallets derives hundreds ahead, and each test starts several.
type knownKeys struct {
	*signer.Keys
	known *sync.Map // of chain.PublicKey by chain.KeyRef
}

var harnessKeys = sync.OnceValues(func() (knownKeys, error) {
	keys, err := signer.KeysFromSeed(make([]byte, 64), signer.Testnet)
	return knownKeys{keys, new(sync.Map)}, err
})

// Public is signer.Keys.Public.
func (k knownKeys) Public(ref chain.KeyRef) (chain.PublicKey, error) {
	if pub, known := k.known.Load(ref); known {
		return pub.(chain.PublicKey), nil
	}
	pub, err := k.Keys.Public(ref)
	if err == nil {
		k.known.Store(ref, pub)
	}
	return pub, err
}
