package sim

import (
	"sync"

	"github.com/bursar/bursar/chain"
)

// recovered remembers whose signatures were valid. Each is looked at when it is added to its transaction and whenever
// that is sent, and to recover a key takes longer than all else that a simulated chain does with a transaction.
var recovered = keys{known: map[string]chain.PublicKey{}}

// keys are public keys by a signature and what it signs.
type keys struct {
	mu    sync.Mutex
	known map[string]chain.PublicKey
}

const mostKnown = 1 << 12 // where it begins again

func (k *keys) key(signature, digest []byte) (chain.PublicKey, error) {
	of := string(digest) + string(signature)
	k.mu.Lock()
	pub, is := k.known[of]
	k.mu.Unlock()
	if is {
		return pub, nil
	}
	pub, err := recoverKey(signature, digest)
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.known) >= mostKnown {
		clear(k.known)
	}
	k.known[of] = pub
	return pub, nil
}
