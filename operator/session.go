package operator

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// How long a session lasts, and how long it may rest.
const (
	SessionTime = 12 * time.Hour
	SessionIdle = 30 * time.Minute
)

// Session is one sign-in of a person.
type Session struct {
	ID      bursar.ID
	Person  bursar.ID
	Address string // of the client that signed in
	Agent   string // its User-Agent
	Created time.Time
	Used    time.Time
}

// cookie makes the text that opens a session, and its hash.
func (s *Service) cookie() (text string, hash [sha256.Size]byte) {
	a, b := s.IDs.Token(), s.IDs.Token()
	text = fmt.Sprintf("%x%x", a[:], b[:])
	return text, sha256.Sum256([]byte(text))
}

// bounded keeps the beginning of a text that a browser sent.
func bounded(text string) string {
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "")
	if runes := []rune(text); len(runes) > 200 {
		text = string(runes[:200])
	}
	return text
}

// SignedIn returns whose session a cookie opens; ErrSignedOut where it opens none. The use of a session is noted once a
// minute.
func (s *Service) SignedIn(ctx context.Context, cookie string) (p Person, session Session, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		row, err := tx.People().Session(ctx, sha256.Sum256([]byte(cookie)))
		if err != nil {
			return err
		}
		if tx.Now().Sub(row.Created) >= SessionTime || tx.Now().Sub(row.Used) >= SessionIdle {
			return ErrSignedOut
		}
		who, err := tx.People().Get(ctx, row.Person)
		if err != nil {
			return err
		}
		session = sessionOf(row)
		p, err = personOf(who, tx.Now())
		if err == nil && !p.RevokedAt.IsZero() {
			err = ErrSignedOut
		}
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		err = ErrSignedOut
	}
	if err != nil || s.DB.Now().Sub(session.Used) < time.Minute {
		return p, session, err
	}
	return p, session, s.DB.Do(ctx, func(tx *store.Tx) error { return tx.People().UseSession(ctx, session.ID) })
}

func sessionOf(row store.ConsoleSession) Session {
	return Session{
		ID:      row.ID,
		Person:  row.Person,
		Address: row.Address,
		Agent:   row.Agent,
		Created: row.Created,
		Used:    row.Used,
	}
}

// Sessions returns the sessions of a person that run, newest first.
func (s *Service) Sessions(ctx context.Context, person bursar.ID) (list []Session, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		rows, err := tx.People().Sessions(ctx, person, tx.Now().Add(-SessionTime))
		for _, row := range rows {
			if tx.Now().Sub(row.Used) < SessionIdle {
				list = append(list, sessionOf(row))
			}
		}
		return err
	})
	return list, err
}

// EndSession ends a session of a person.
func (s *Service) EndSession(ctx context.Context, by Act, person, id bursar.ID) error {
	return s.DB.Do(ctx, func(tx *store.Tx) error {
		if err := tx.People().EndSession(ctx, person, id); err != nil {
			return err
		}
		by.Verb, by.Object = verbSessionEnd, "session "+id.String()
		return Record(ctx, tx, by)
	})
}
