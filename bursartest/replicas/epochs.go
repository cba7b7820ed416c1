package replicas

import (
	"context"
	"encoding/hex"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/memory"
)

// LastEpoch is the last epoch that begins in a harness.
const LastEpoch chain.Epoch = 2

// keysOfEpochs are the keys of the same seeds in each epoch: at every index that epoch is in force.
func keysOfEpochs() (all []*bursartest.CachedKeys, err error) {
	for now := range LastEpoch + 1 {
		var keys *signer.Keys
		for e := range LastEpoch + 1 {
			seed := [64]byte{1, 2, 3, byte(e)}
			next, err := signer.KeysFromSeed(seed[:], signer.Testnet)
			if err != nil {
				return nil, err
			}
			if keys == nil {
				keys = next
			} else if err := keys.Add(next); err != nil {
				return nil, err
			}
		}
		if err := keys.Begin(now); err != nil {
			return nil, err
		}
		all = append(all, bursartest.NewCachedKeys(keys))
	}
	return all, nil
}

// BeginEpoch begins the next epoch, if there is one, at the signers that start from now on and at the remote signer,
// which is started again with what it remembers. A process hears of it when it starts.
func (w *Harness) BeginEpoch() (begun bool) {
	if w.epoch == LastEpoch {
		return false
	}
	w.epoch++
	w.keys, w.remoteSigner = w.Template.epochs[w.epoch], nil
	return true
}

// Epoch returns the epoch that is in force.
func (w *Harness) Epoch() chain.Epoch { return w.epoch }

// Heard reports whether a process has the keys of the epoch that is in force.
func (p *Process) Heard() bool { return p.keys.Epoch() == p.harness.epoch }

// newSigner makes a signer of a process, or the one that serves all. Where epochs begin, what it remembers outlives it,
// and all processes share it: what was signed before an epoch is replaced only by a signer that knows it.
func (w *Harness) newSigner() (*signer.Signer, error) {
	if !w.Rotates {
		return signer.New(w.keys.Keys, w.policies())
	}
	if w.memory == nil {
		w.memory = memory.NewRAM()
	}
	return signer.NewWithMemory(context.Background(), w.keys.Keys, w.policies(), w.memory)
}

// led notes that a process leads a chain: from then on people know the hot wallet of its epoch.
func (w *Harness) led(id bursar.ChainID, e chain.Epoch) error {
	c := w.Chain(id)
	at := chain.HotIn(c.Capabilities(), e)
	if at.Index <= w.hot[id].Key.Index {
		return nil
	}
	w.olds[id] = append(w.olds[id], w.hot[id].Base)
	var err error
	w.hot[id], err = w.hotAt(at, id)
	return err
}

// hotAt returns the hot wallet with a key.
func (w *Harness) hotAt(ref chain.KeyRef, id bursar.ChainID) (chain.Source, error) {
	pub, err := w.keys.Public(ref)
	if err != nil {
		return chain.Source{}, fmt.Errorf("derive the hot wallet key: %w", err)
	}
	address, err := w.Chain(id).Address(pub, 0)
	return chain.Source{Key: ref, Base: address.Base, Pub: hex.EncodeToString(pub)}, err
}

// Olds returns the hot wallets of a chain before the one that Hot returns.
func (w *Harness) Olds(id bursar.ChainID) []string { return w.olds[id] }
