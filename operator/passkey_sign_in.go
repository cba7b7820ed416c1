package operator

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// FinishSignIn checks what a browser's passkey signed, and begins a session. cookie opens it and is stored nowhere. The
// error is ErrRefused whatever is wrong with it.
func (s *Service) FinishSignIn(ctx context.Context, by Act, agent string, id bursar.ID,
	response []byte) (cookie string, session Session, err error) {
	parsed, err := protocol.ParseCredentialRequestResponseBytes(response)
	if err != nil {
		return "", session, ErrRefused
	}
	data, end, err := s.answered(ctx, id, parsed)
	if err != nil {
		return "", session, err
	}
	cookie, hash := s.cookie()
	err = s.DB.Do(ctx, func(tx *store.Tx) error {
		u, err := s.signed(ctx, tx, id, data, end, parsed)
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

// evaluate checks an assertion and notes that its passkey was used. A counter that went back is that of a copy.
func (s *Service) evaluate(ctx context.Context, tx *store.Tx, data webauthn.SessionData,
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
