package operator

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// ceremony is a challenge to make a passkey that was given out, until it is answered.
type ceremony struct {
	data    webauthn.SessionData
	person  bursar.ID // whose passkey is made
	invited *[sha256.Size]byte
	session bursar.ID // in which another passkey is made; zero: it is made by an invitation
}

// ceremonyTime is how long a challenge may be answered.
const ceremonyTime = 5 * time.Minute

// Challenge is what a browser has a passkey sign. Any process of the service takes the answer.
type Challenge struct {
	Ceremony bursar.ID `json:"ceremony"`
	Options  any       `json:"options"` // of navigator.credentials
}

// user is a person as the library of passkeys sees one.
type user struct {
	Person
	keys []webauthn.Credential
}

func (u user) WebAuthnID() []byte                         { return u.ID[:] }
func (u user) WebAuthnName() string                       { return u.Name }
func (u user) WebAuthnDisplayName() string                { return u.Name }
func (u user) WebAuthnCredentials() []webauthn.Credential { return u.keys }

// keep stores a challenge that is given out, in the database: whichever process the answer reaches finds it.
func (s *Service) keep(ctx context.Context, c ceremony) (bursar.ID, error) {
	data, err := json.Marshal(c.data)
	if err != nil {
		return bursar.ID{}, fmt.Errorf("write challenge: %w", err)
	}
	row := store.PasskeyChallenge{ID: s.IDs.Token(), Data: string(data), Person: c.person, Session: c.session}
	if c.invited != nil {
		row.Invitation = c.invited[:]
	}
	err = s.DB.Do(ctx, func(tx *store.Tx) error {
		row.Expires = tx.Now().Add(ceremonyTime)
		return tx.People().AddChallenge(ctx, row)
	})
	return row.ID, err
}

// taken returns a ceremony, which nobody can use again, whatever comes of the answer: it is committed before that is
// evaluated. ErrRefused, or an error of the database.
func (s *Service) taken(ctx context.Context, id bursar.ID) (c ceremony, err error) {
	var row store.PasskeyChallenge
	err = s.DB.Do(ctx, func(tx *store.Tx) error {
		row, err = tx.People().TakeChallenge(ctx, id)
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return c, ErrRefused
	}
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal([]byte(row.Data), &c.data); err != nil {
		return c, fmt.Errorf("read challenge: %w", err)
	}
	c.person, c.session = row.Person, row.Session
	if len(row.Invitation) == sha256.Size {
		c.invited = (*[sha256.Size]byte)(row.Invitation)
	}
	return c, nil
}

// userOf reads a person with passkeys. A person who was revoked is refused.
func userOf(ctx context.Context, tx *store.Tx, id bursar.ID) (u user, err error) {
	row, err := tx.People().Get(ctx, id)
	if err != nil {
		return u, err
	}
	if u.Person, err = personOf(row, tx.Now()); err != nil {
		return u, err
	}
	if !u.RevokedAt.IsZero() {
		return u, ErrRefused
	}
	keys, err := tx.People().Passkeys(ctx, id)
	for _, k := range keys {
		var c webauthn.Credential
		if err := json.Unmarshal([]byte(k.Credential), &c); err != nil {
			return u, fmt.Errorf("read passkey: %w", err)
		}
		u.keys = append(u.keys, c)
	}
	return u, err
}

// BeginInvited gives out a challenge for making the passkey of an invitation; ErrRefused for one that may not be used.
func (s *Service) BeginInvited(ctx context.Context, token string) (Challenge, error) {
	hash := sha256.Sum256([]byte(token))
	var u user
	err := s.DB.View(ctx, func(tx *store.Tx) error {
		invitation, err := tx.People().Invitation(ctx, hash)
		if err != nil {
			return err
		}
		u, err = userOf(ctx, tx, invitation.Person)
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return Challenge{}, ErrRefused
	}
	if err != nil {
		return Challenge{}, err
	}
	return s.beginMaking(ctx, u, ceremony{invited: &hash})
}

// BeginAnother gives out a challenge for another passkey of somebody who has signed in and confirms it with one that
// they have: the response is to a challenge of BeginSignIn. A session alone adds no passkey, which would approve;
// ErrRefused.
func (s *Service) BeginAnother(ctx context.Context, session Session, id bursar.ID, response []byte) (Challenge, error) {
	parsed, err := protocol.ParseCredentialRequestResponseBytes(response)
	if err != nil {
		return Challenge{}, ErrRefused
	}
	data, end, err := s.answered(ctx, id, parsed)
	if err != nil {
		return Challenge{}, err
	}
	var u user
	err = s.DB.Do(ctx, func(tx *store.Tx) (err error) {
		if u, err = s.signed(ctx, tx, id, data, end, parsed); err == nil && u.ID != session.Person {
			err = ErrRefused
		}
		return err
	})
	if err != nil {
		return Challenge{}, err
	}
	return s.beginMaking(ctx, u, ceremony{session: session.ID})
}

func (s *Service) beginMaking(ctx context.Context, u user, c ceremony) (Challenge, error) {
	options, data, err := s.passkeys.BeginRegistration(u,
		webauthn.WithAuthenticatorSelection(protocol.AuthenticatorSelection{
			ResidentKey:        protocol.ResidentKeyRequirementRequired,
			RequireResidentKey: protocol.ResidentKeyRequired(),
			UserVerification:   protocol.VerificationRequired,
		}),
		webauthn.WithExclusions(webauthn.Credentials(u.keys).CredentialDescriptors()),
		webauthn.WithConveyancePreference(protocol.PreferNoAttestation))
	if err != nil {
		return Challenge{}, err
	}
	c.data, c.person = *data, u.ID
	id, err := s.keep(ctx, c)
	return Challenge{id, options.Response}, err
}

// FinishMaking stores the passkey that a browser made, and returns whose it is. A recovery ends the earlier passkeys
// and sessions of the person, whose rights wait for the hold again unless nobody else is there.
func (s *Service) FinishMaking(ctx context.Context, by Act, id bursar.ID, response []byte) (Person, error) {
	c, err := s.taken(ctx, id)
	if err != nil {
		return Person{}, err
	}
	if c.person.IsZero() {
		return Person{}, ErrRefused // it was used to sign in
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes(response)
	if err != nil {
		return Person{}, ErrRefused
	}
	var u user
	err = s.DB.Do(ctx, func(tx *store.Tx) error {
		if u, err = s.maker(ctx, tx, c); err != nil {
			return err
		}
		key, err := s.passkeys.CreateCredential(u, c.data, parsed)
		if err != nil {
			return ErrRefused
		}
		if c.invited != nil {
			if err := s.useInvitation(ctx, tx, u.Person, *c.invited); err != nil {
				return err
			}
		}
		text, err := json.Marshal(key)
		if err != nil {
			return err
		}
		if err := tx.People().AddPasskey(ctx, store.Passkey{ID: key.ID, Person: u.ID, Credential: string(text)}); err != nil {
			return err
		}
		by.Person, by.Verb, by.Object, by.After = u.Person, verbPasskeyAdd, "person "+u.ID.String(), fmt.Sprintf("%x", key.ID)
		return Record(ctx, tx, by)
	})
	if errors.Is(err, store.ErrNotFound) {
		err = ErrRefused
	}
	return u.Person, err
}

// maker reads who makes a passkey, and keeps them as they are until the transaction ends: anybody who recovers, revokes
// or changes them waits. What was started in a session that has ended since, as by a recovery, is refused.
func (s *Service) maker(ctx context.Context, tx *store.Tx, c ceremony) (u user, err error) {
	if err := tx.People().Lock(ctx, c.person); err != nil {
		return u, err
	}
	if u, err = userOf(ctx, tx, c.person); err != nil || c.invited != nil {
		return u, err
	}
	running, err := tx.People().Sessions(ctx, c.person, tx.Now().Add(-SessionTime))
	is := func(one store.ConsoleSession) bool { return one.ID == c.session }
	if err == nil && !slices.ContainsFunc(running, is) {
		err = ErrRefused
	}
	return u, err
}

// useInvitation ends an invitation, and with a recovery what the person had before.
func (s *Service) useInvitation(ctx context.Context, tx *store.Tx, p Person, hash [sha256.Size]byte) error {
	invitation, err := tx.People().Invitation(ctx, hash)
	if err != nil {
		return err
	}
	if err := tx.People().UseInvitation(ctx, hash); err != nil || !invitation.Recovery {
		return err
	}
	if err := tx.People().RemovePasskeys(ctx, p.ID); err != nil {
		return err
	}
	if _, err := tx.People().EndSessions(ctx, p.ID); err != nil {
		return err
	}
	others, err := tx.People().List(ctx)
	if err != nil || len(others) == 1 {
		return err
	}
	at := tx.Now().Add(s.Hold)
	if p.ChangesAt.IsZero() {
		p.NextRoles, p.NextAccounts = p.Roles, p.Accounts
	}
	p.Roles, p.ChangesAt = nil, at
	return tx.People().SetRoles(ctx, p.row())
}
