package operator

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// A challenge to sign in proves itself: it is the ceremony's ID, which is random, the second in which it ends, and a
// MAC of both. Nothing is stored when one is given out, so nobody who begins any number of sign-ins takes a place from
// anybody. One that a person answered is noted until it ends, and counts once.
const (
	challengeEnd  = 16 // where its end is written, behind the ID
	challengeMAC  = challengeEnd + 8
	challengeSize = challengeMAC + sha256.Size
)

// signInKeySetting is where the key of the MACs is, for every process of the service. Who has it can sign nobody in: an
// answer is a passkey's signature.
const signInKeySetting = "console_sign_in_key"

// challengeKey returns the key of the MACs. The first process makes it.
func (s *Service) challengeKey(ctx context.Context) ([]byte, error) {
	s.keyLock.Lock()
	defer s.keyLock.Unlock()
	if s.macKey != nil {
		return s.macKey, nil
	}
	fresh := make([]byte, sha256.Size)
	_, _ = rand.Read(fresh) // it never fails (crypto/rand, Go 1.24)
	text := ""
	err := s.DB.Do(ctx, func(tx *store.Tx) (err error) {
		text, err = tx.Settings().Keep(ctx, signInKeySetting, hex.EncodeToString(fresh))
		return err
	})
	if err != nil {
		return nil, err
	}
	key, err := hex.DecodeString(text)
	if err != nil || len(key) != sha256.Size {
		return nil, fmt.Errorf("the setting %s is no key", signInKeySetting)
	}
	s.macKey = key
	return key, nil
}

// challengeOf writes the challenge of a ceremony that ends at an instant.
func challengeOf(key []byte, id bursar.ID, end time.Time) []byte {
	text := append(make([]byte, 0, challengeSize), id[:]...)
	text = binary.BigEndian.AppendUint64(text, uint64(end.Unix()))
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("bursar sign-in 1\x00"))
	mac.Write(text)
	return mac.Sum(text)
}

// BeginSignIn gives out a challenge for whatever passkey a browser has.
func (s *Service) BeginSignIn(ctx context.Context) (Challenge, error) {
	key, err := s.challengeKey(ctx)
	if err != nil {
		return Challenge{}, err
	}
	options, _, err := s.passkeys.BeginDiscoverableLogin(
		webauthn.WithUserVerification(protocol.VerificationRequired))
	if err != nil {
		return Challenge{}, err
	}
	id := s.IDs.Token()
	options.Response.Challenge = challengeOf(key, id, s.DB.Now().Add(ceremonyTime))
	return Challenge{id, options.Response}, nil
}

// answered returns what the answer to a challenge to sign in is evaluated by, and when the challenge ends. ErrRefused
// where it is of another ceremony, over, or none of ours.
func (s *Service) answered(
	ctx context.Context, id bursar.ID, parsed *protocol.ParsedCredentialAssertionData,
) (data webauthn.SessionData, end time.Time, err error) {
	key, err := s.challengeKey(ctx)
	if err != nil {
		return data, end, err
	}
	text := parsed.Response.CollectedClientData.Challenge
	sent, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(sent) != challengeSize {
		return data, end, ErrRefused
	}
	end = time.Unix(int64(binary.BigEndian.Uint64(sent[challengeEnd:challengeMAC])), 0).UTC()
	if !hmac.Equal(sent, challengeOf(key, id, end)) || !s.DB.Now().Before(end) {
		return data, end, ErrRefused
	}
	return webauthn.SessionData{
		Challenge:        text,
		RelyingPartyID:   s.passkeys.Config.RPID,
		UserVerification: protocol.VerificationRequired,
	}, end, nil
}

// signed evaluates the answer to a challenge to sign in, and uses the challenge up: of two transactions with one
// answer, one gets the person.
func (s *Service) signed(ctx context.Context, tx *store.Tx, id bursar.ID, data webauthn.SessionData, end time.Time,
	parsed *protocol.ParsedCredentialAssertionData) (user, error) {
	if !tx.Now().Before(end) { // what was noted of it may be forgotten
		return user{}, ErrRefused
	}
	u, err := s.evaluate(ctx, tx, data, parsed)
	if err != nil {
		return u, err
	}
	err = tx.People().UseChallenge(ctx, store.PasskeyChallenge{ID: id, Data: "{}", Expires: end})
	if errors.Is(err, store.ErrNotFound) {
		err = ErrRefused
	}
	return u, err
}
