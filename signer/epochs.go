package signer

import (
	"errors"
	"fmt"

	"github.com/bursar/bursar/chain"
)

// Errors of epochs.
var (
	// ErrNoEpoch is returned for a key of an epoch whose seed is not open here.
	ErrNoEpoch = errors.New("the seed of that epoch is not open here")
	// ErrEpoch is returned for an epoch that does not follow the others, or for two with one seed.
	ErrEpoch = errors.New("the epochs do not follow each other")
)

// Add adds the keys of the seed of the next epoch, which this one then owns: Wipe wipes them too. They are used for
// nothing new before Begin. It is called before the keys are used. The error is ErrEpoch.
func (k *Keys) Add(next *Keys) error {
	switch number := len(k.later) + 1; {
	case number > int(chain.MaxEpoch):
		return fmt.Errorf("%w: %d is more than %d", ErrEpoch, number, chain.MaxEpoch)
	case len(next.later) > 0 || next.public.network != k.public.network:
		return fmt.Errorf("%w: the keys of epoch %d are for %s or have epochs of their own", ErrEpoch, number,
			next.public.network)
	}
	for e, one := range k.all() {
		if one.Fingerprint() == next.Fingerprint() {
			return fmt.Errorf("%w: the seed of epoch %d is that of epoch %d", ErrEpoch, len(k.later)+1, e)
		}
	}
	k.later = append(k.later, next)
	return nil
}

// Begin says which epoch has the hot wallet and all new addresses. It is called before the keys are used. The error is
// ErrNoEpoch, or ErrEpoch for one before the present one.
func (k *Keys) Begin(e chain.Epoch) error {
	if int(e) > len(k.later) {
		return fmt.Errorf("epoch %d has begun: %w", e, ErrNoEpoch)
	}
	if e < k.epoch {
		return fmt.Errorf("%w: epoch %d has begun, and none goes back to %d", ErrEpoch, k.epoch, e)
	}
	k.epoch = e
	return nil
}

// Epoch returns the epoch that has the hot wallet and all new addresses.
func (k *Keys) Epoch() chain.Epoch { return k.epoch }

// Newest returns the newest epoch whose seed is open. It may be later than the one that has begun.
func (k *Keys) Newest() chain.Epoch { return chain.Epoch(len(k.later)) }

// FingerprintOf is Fingerprint of the seed of an epoch. The error is ErrNoEpoch.
func (k *Keys) FingerprintOf(e chain.Epoch) (string, error) {
	if int(e) > len(k.later) {
		return "", fmt.Errorf("epoch %d: %w", e, ErrNoEpoch)
	}
	return k.all()[e].Fingerprint(), nil
}

// all returns the keys of every epoch, by its number.
func (k *Keys) all() []*Keys { return append([]*Keys{k}, k.later...) }

// of returns the keys of a key's epoch, and the key as that epoch's seed names it. The error is ErrNoEpoch.
func (k *Keys) of(ref chain.KeyRef) (*Keys, chain.KeyRef, error) {
	e := ref.Epoch()
	if e == 0 {
		return k, ref, nil
	}
	if int(e) > len(k.later) {
		return nil, ref, fmt.Errorf("%w: epoch %d: %w", ErrBadKeyRef, e, ErrNoEpoch)
	}
	return k.later[e-1], ref.Place(), nil
}

// of is Keys.of.
func (d *Deriver) of(ref chain.KeyRef) (*Deriver, chain.KeyRef, error) {
	e := ref.Epoch()
	if e == 0 {
		return d, ref, nil
	}
	if int(e) > len(d.later) {
		return nil, ref, fmt.Errorf("%w: epoch %d: %w", ErrBadKeyRef, e, ErrNoEpoch)
	}
	return d.later[e-1], ref.Place(), nil
}

// Epoch is Keys.Epoch.
func (d *Deriver) Epoch() chain.Epoch { return d.epoch }

// Epoch is Keys.Epoch.
func (s *WatchOnly) Epoch() chain.Epoch { return s.public.epoch }

// addLater adds the exported keys of later epochs.
func (d *Deriver) addLater(exported PublicKeys) error {
	for i, one := range exported.Later {
		if len(one.Later) > 0 || one.Epoch != 0 || one.Network != exported.Network || i >= int(chain.MaxEpoch) {
			return fmt.Errorf("%w: the keys of epoch %d", ErrBadPublicKeys, i+1)
		}
		later, err := FromPublic(one)
		if err != nil {
			return err
		}
		d.later = append(d.later, later)
	}
	if int(exported.Epoch) > len(d.later) {
		return fmt.Errorf("%w: epoch %d has begun, and its keys are missing", ErrBadPublicKeys, exported.Epoch)
	}
	d.epoch = exported.Epoch
	return nil
}
