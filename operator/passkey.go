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

// ceremony is a challenge that was given out. It is kept in memory: a ceremony ends at the process where it began.
type ceremony struct {
	data    webauthn.SessionData
	expires time.Time
	person  bursar.ID // whose passkey is made; zero: somebody signs in
	invited *[sha256.Size]byte
	session bursar.ID // in which another passkey is made; zero: it is made by an invitation
}

// Bounds of ceremonies.
const (
	ceremonyTime  = 5 * time.Minute
	maxCeremonies = 1024
)

// Begun is a ceremony as a browser takes it.
type Begun struct {
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

// keep gives out a ceremony. Where too many run, the oldest give way.
func (s *Service) keep(c ceremony) bursar.ID {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.DB.Now()
	var oldest bursar.ID
	for id, other := range s.ceremonies {
		if now.After(other.expires) {
			delete(s.ceremonies, id)
		} else if oldest.IsZero() || other.expires.Before(s.ceremonies[oldest].expires) {
			oldest = id
		}
	}
	if len(s.ceremonies) >= maxCeremonies {
		delete(s.ceremonies, oldest)
	}
	id := s.IDs.Token()
	c.expires = now.Add(ceremonyTime)
	s.ceremonies[id] = c
	return id
}

// taken returns a ceremony, which nobody can use again.
func (s *Service) taken(id bursar.ID) (ceremony, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, there := s.ceremonies[id]
	delete(s.ceremonies, id)
	if !there || s.DB.Now().After(c.expires) {
		return ceremony{}, ErrRefused
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

// BeginSignIn gives out a challenge for whatever passkey a browser has.
func (s *Service) BeginSignIn() (Begun, error) {
	options, data, err := s.passkeys.BeginDiscoverableLogin(
		webauthn.WithUserVerification(protocol.VerificationRequired))
	if err != nil {
		return Begun{}, err
	}
	return Begun{s.keep(ceremony{data: *data}), options.Response}, nil
}

// BeginInvited gives out a challenge for making the passkey of an invitation; ErrRefused for one that may not be used.
func (s *Service) BeginInvited(ctx context.Context, token string) (Begun, error) {
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
		return Begun{}, ErrRefused
	}
	if err != nil {
		return Begun{}, err
	}
	return s.beginMaking(u, ceremony{invited: &hash})
}

// BeginAnother gives out a challenge for another passkey of somebody who has signed in and confirms it with one that
// they have: the response is to a challenge of BeginSignIn. A session alone adds no passkey, which would approve;
// ErrRefused.
func (s *Service) BeginAnother(ctx context.Context, session Session, id bursar.ID, response []byte) (Begun, error) {
	c, err := s.taken(id)
	if err != nil || !c.person.IsZero() {
		return Begun{}, ErrRefused
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes(response)
	if err != nil {
		return Begun{}, ErrRefused
	}
	var u user
	err = s.DB.Do(ctx, func(tx *store.Tx) (err error) {
		if u, err = s.judge(ctx, tx, c.data, parsed); err == nil && u.ID != session.Person {
			err = ErrRefused
		}
		return err
	})
	if err != nil {
		return Begun{}, err
	}
	return s.beginMaking(u, ceremony{session: session.ID})
}

func (s *Service) beginMaking(u user, c ceremony) (Begun, error) {
	options, data, err := s.passkeys.BeginRegistration(u,
		webauthn.WithAuthenticatorSelection(protocol.AuthenticatorSelection{
			ResidentKey:        protocol.ResidentKeyRequirementRequired,
			RequireResidentKey: protocol.ResidentKeyRequired(),
			UserVerification:   protocol.VerificationRequired,
		}),
		webauthn.WithExclusions(webauthn.Credentials(u.keys).CredentialDescriptors()),
		webauthn.WithConveyancePreference(protocol.PreferNoAttestation))
	if err != nil {
		return Begun{}, err
	}
	c.data, c.person = *data, u.ID
	return Begun{s.keep(c), options.Response}, nil
}

// FinishMaking stores the passkey that a browser made, and returns whose it is. A recovery ends the earlier passkeys
// and sessions of the person, whose rights wait for the hold again unless nobody else is there.
func (s *Service) FinishMaking(ctx context.Context, by Act, id bursar.ID, response []byte) (Person, error) {
	c, err := s.taken(id)
	if err != nil || c.person.IsZero() {
		return Person{}, ErrRefused
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
// or changes them waits. What was begun in a session that has ended since, as by a recovery, is refused.
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

// FinishSignIn checks what a browser's passkey signed, and begins a session. cookie opens it and is stored nowhere. The
// error is ErrRefused whatever is wrong with it.
func (s *Service) FinishSignIn(ctx context.Context, by Act, agent string, id bursar.ID,
	response []byte) (cookie string, session Session, err error) {
	c, err := s.taken(id)
	if err != nil || !c.person.IsZero() {
		return "", session, ErrRefused
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes(response)
	if err != nil {
		return "", session, ErrRefused
	}
	cookie, hash := s.cookie()
	err = s.DB.Do(ctx, func(tx *store.Tx) error {
		u, err := s.judge(ctx, tx, c.data, parsed)
		if err != nil {
			return err
		}
		session = Session{ID: s.IDs.Next(), Person: u.ID, Address: by.From.String(), Agent: bounded(agent), Created: tx.Now(),
			Used: tx.Now()}
		err = tx.People().AddSession(ctx, store.ConsoleSession{
			ID:      session.ID,
			Hash:    hash,
			Person:  u.ID,
			Address: session.Address,
			Agent:   session.Agent,
		})
		if err != nil {
			return err
		}
		by.Person, by.Session, by.Verb, by.Object = u.Person, session.ID, verbSessionBegin, "session "+session.ID.String()
		return Record(ctx, tx, by)
	})
	return cookie, session, err
}

// judge checks an assertion and notes that its passkey was used. A counter that went back is that of a copy.
func (s *Service) judge(ctx context.Context, tx *store.Tx, data webauthn.SessionData,
	parsed *protocol.ParsedCredentialAssertionData) (u user, err error) {
	var failed error // of the database, which is no refusal
	_, key, err := s.passkeys.ValidatePasskeyLogin(func(_, handle []byte) (webauthn.User, error) {
		var id bursar.ID
		if len(handle) != len(id) {
			return nil, ErrRefused
		}
		copy(id[:], handle)
		u, failed = userOf(ctx, tx, id)
		return u, failed
	}, data, parsed)
	if failed != nil && !errors.Is(failed, store.ErrNotFound) {
		return u, failed
	}
	if err != nil || key.Authenticator.CloneWarning {
		return u, ErrRefused
	}
	text, err := json.Marshal(key)
	if err != nil {
		return u, err
	}
	err = tx.People().UsePasskey(ctx, store.Passkey{ID: key.ID, Person: u.ID, Credential: string(text)})
	if errors.Is(err, store.ErrNotFound) {
		err = ErrRefused // it was removed in this very moment
	}
	return u, err
}
