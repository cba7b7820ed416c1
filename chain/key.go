package chain

import "github.com/bursar/bursar"

// KeyRef names a key of one of the seeds, below a family's account key, at the path <account>/<Branch>/<index in its
// epoch>.
type KeyRef struct {
	Family bursar.Family `json:"family"`
	Branch uint32        `json:"branch"`
	// Index has the epoch of the seed in its upper bits, so that a number that was ever stored or sent names the same
	// key for ever: one below EpochIndexes is of the first seed. Epoch and Place take it apart.
	Index uint32 `json:"index"`
}

// Branches of a family's account key, after BIP 44's external and internal chains.
const (
	DepositBranch uint32 = 0 // one key for each wallet
	OwnBranch     uint32 = 1 // index 0 is the hot key: change, sweeps and operator funds
)

// Epoch numbers the seeds of an instance. The first is 0; each one that follows takes over all new addresses and the
// hot wallet, and no earlier one is ever thrown away.
type Epoch uint32

// Bounds of epochs. The indexes of all epochs stay below 2^31, which is what BIP 32 has.
const (
	EpochIndexes uint32 = 1 << 26 // how many indexes a family has in one epoch
	MaxEpoch     Epoch  = 1<<31/Epoch(EpochIndexes) - 1
)

// First returns the first index of an epoch.
func (e Epoch) First() uint32 { return uint32(e) * EpochIndexes }

// EpochOf returns the epoch to which an index belongs.
func EpochOf(index uint32) Epoch { return Epoch(index / EpochIndexes) }

// Epoch returns the epoch of the key's seed.
func (r KeyRef) Epoch() Epoch { return EpochOf(r.Index) }

// Place returns the key as its own seed names it.
func (r KeyRef) Place() KeyRef {
	r.Index %= EpochIndexes
	return r
}

// In returns the key at the same place of another epoch's seed.
func (r KeyRef) In(e Epoch) KeyRef {
	r.Index = e.First() + r.Index%EpochIndexes
	return r
}

// Hot returns the family's hot key of the first seed.
func Hot(family bursar.Family) KeyRef { return KeyRef{Family: family, Branch: OwnBranch} }

// HotIn returns the hot key of a chain in an epoch. Where all wallets share the hot wallet's address, that is and stays
// the key of the first seed.
func HotIn(capabilities Capabilities, e Epoch) KeyRef {
	if capabilities.SharedAddress {
		e = 0
	}
	return Hot(capabilities.Family).In(e)
}
