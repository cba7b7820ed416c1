package bursartest

import (
	"sync"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/signer"
)

// CachedKeys remembers public keys and addresses: deriving one costs more than all uses of it. It may be used
// concurrently.
type CachedKeys struct {
	*signer.Keys
	mu        sync.Mutex
	known     map[chain.KeyRef]chain.PublicKey
	addresses map[owned]bursar.Address
}

// owned is what an address is derived from.
type owned struct {
	chain bursar.ChainID
	pub   string
	memo  uint32
}

// NewCachedKeys returns keys that remember nothing yet.
func NewCachedKeys(keys *signer.Keys) *CachedKeys {
	return &CachedKeys{Keys: keys, known: map[chain.KeyRef]chain.PublicKey{}, addresses: map[owned]bursar.Address{}}
}

// Public implements signer.Keys.
func (c *CachedKeys) Public(ref chain.KeyRef) (chain.PublicKey, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if pub, known := c.known[ref]; known {
		return pub, nil
	}
	pub, err := c.Keys.Public(ref)
	if err == nil {
		c.known[ref] = pub
	}
	return pub, err
}

// Publics implements signer.Keys. Each key is remembered, as others derive the same ones.
func (c *CachedKeys) Publics(first chain.KeyRef, n int) (list []chain.PublicKey, err error) {
	for range n {
		pub, err := c.Public(first)
		if err != nil {
			return nil, err
		}
		list, first.Index = append(list, pub), first.Index+1
	}
	return list, nil
}

// Address returns what the chain's Address returns.
func (c *CachedKeys) Address(of *sim.Chain, pub chain.PublicKey, memo uint32) (bursar.Address, error) {
	k := owned{of.Capabilities().ID, string(pub), memo}
	c.mu.Lock()
	known, is := c.addresses[k]
	c.mu.Unlock()
	if is {
		return known, nil
	}
	address, err := of.Address(pub, memo)
	if err == nil {
		c.mu.Lock()
		c.addresses[k] = address
		c.mu.Unlock()
	}
	return address, err
}
