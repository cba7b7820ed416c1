package operator

import (
	"context"
	"encoding/base64"
	"errors"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// maxAssertion bounds the JSON of an assertion, in bytes.
const maxAssertion = 16 << 10

// At returns a person as of a transaction, or store.ErrNotFound.
func (s *Service) At(ctx context.Context, tx *store.Tx, id bursar.ID) (p Person, err error) {
	row, err := tx.People().Get(ctx, id)
	if err != nil {
		return p, err
	}
	return personOf(row, tx.Now())
}

// Confirmed returns nil where one of a person's passkeys signed a challenge for this console, touched by somebody whom
// it verified; otherwise ErrRefused, or an error of the database. The challenge identifies what is confirmed: anybody
// who checks it again later gets the same answer, as long as the person has the passkey. The counter is not looked at:
// an authenticator that synchronises has none.
func (s *Service) Confirmed(
	ctx context.Context, tx *store.Tx, person bursar.ID, challenge [32]byte, response string,
) error {
	if len(response) > maxAssertion {
		return ErrRefused
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes([]byte(response))
	if err != nil {
		return ErrRefused
	}
	u, err := userOf(ctx, tx, person)
	if errors.Is(err, store.ErrNotFound) {
		return ErrRefused
	}
	if err != nil {
		return err
	}
	_, err = s.passkeys.ValidateLogin(u, webauthn.SessionData{
		Challenge:        base64.RawURLEncoding.EncodeToString(challenge[:]),
		RelyingPartyID:   s.passkeys.Config.RPID,
		UserID:           u.WebAuthnID(),
		UserVerification: protocol.VerificationRequired,
	}, parsed)
	if err != nil {
		return ErrRefused
	}
	return nil
}
