package bursartest

import (
	"github.com/bursar/bursar"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/memory"
)

// newSigner makes a signer that knows the cold wallets of r.Cold and remembers nothing.
func (r *OneChain) newSigner() {
	r.T.Helper()
	r.memory = memory.NewRAM()
	r.startSigner()
}

// startSigner makes a signer that knows the cold wallets of r.Cold and remembers what the one before did.
func (r *OneChain) startSigner() {
	r.T.Helper()
	capabilities := r.Chain.Capabilities()
	var err error
	r.Signer, err = signer.NewWithMemory(ctx, r.Keys.Keys, map[bursar.ChainID]signer.Bounds{capabilities.ID: {
		Capabilities: capabilities,
		Signable:     r.Chain,
		MaxFee:       bursar.Units(1 << 30),
		Cold:         bursar.ColdBases(r.Cold),
	}}, r.memory)
	r.Must(err)
}

// Vault gives the service and its signer a cold wallet with some addresses, and COIN a ceiling and a target, both zero
// for none. It starts another process with that.
func (r *OneChain) Vault(ceiling, target uint64, bases ...string) {
	r.T.Helper()
	w := bursar.ColdWallet{Chain: r.Chain.Capabilities().ID, Name: "vault", Kind: bursar.ColdAddress, Addresses: bases}
	if len(bases) > 1 {
		w.Kind, w.Descriptor = bursar.ColdDescriptor, "wsh(sortedmulti(2,A,B,C))"
	}
	r.Cold = []bursar.ColdWallet{w}
	r.newSigner()
	r.Currency.HotCeiling, r.Currency.HotTarget = bursar.Units(ceiling), bursar.Units(target)
	r.Reconfigure()
}

// SignerMemory returns what the signer remembers, with its log.
func (r *OneChain) SignerMemory() memory.Keeper { return r.memory }
