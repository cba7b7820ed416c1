package operator

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"slices"

	"github.com/go-webauthn/webauthn/protocol/webauthncose"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/passkey"
	"github.com/bursar/bursar/store"
)

// PublicKeys returns the public keys of a person's passkeys, as this service recorded them, without those of kinds that
// a signer does not count. They prove nothing to a signer.
func (s *Service) PublicKeys(ctx context.Context, tx *store.Tx, person bursar.ID) (list []passkey.Key, err error) {
	u, err := userOf(ctx, tx, person)
	if err != nil {
		return nil, err
	}
	for _, one := range u.keys {
		parsed, err := webauthncose.ParsePublicKey(one.PublicKey)
		if err != nil {
			continue // it would not have been recorded
		}
		if key, err := passkey.NewKey(publicOf(parsed)); err == nil {
			list = append(list, key)
		}
	}
	return list, nil
}

// publicOf returns a key as the standard library has it; nil for other kinds.
func publicOf(parsed any) crypto.PublicKey {
	switch key := parsed.(type) {
	case webauthncose.EC2PublicKeyData:
		public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), slices.Concat([]byte{4}, key.XCoord, key.YCoord))
		if err != nil {
			return nil // of another curve
		}
		return public
	case webauthncose.OKPPublicKeyData:
		return ed25519.PublicKey(key.XCoord)
	}
	return nil
}
