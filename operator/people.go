package operator

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// Verbs that are recorded in the log and that no role has: they are for the host, or for everybody.
const (
	verbInvite       Verb = "person.invite"
	verbRecover      Verb = "person.recover"
	verbPasskeyAdd   Verb = "passkey.add"
	verbSessionBegin Verb = "session.begin"
	verbSessionEnd   Verb = "session.end"
)

// inviteFor is how long an invitation may be used.
const inviteFor = 15 * time.Minute

// ErrName refuses a name of a person.
var ErrName = errors.New("a name has 1 to 64 characters, without control characters and space around it")

// personOf returns a person as of a time: a change whose time has come is in force.
func personOf(row store.Person, now time.Time) (Person, error) {
	if !row.ChangesAt.IsZero() && !now.Before(row.ChangesAt) {
		row.Roles, row.Accounts, row.NextRoles, row.NextAccounts = row.NextRoles, row.NextAccounts, nil, nil
		row.ChangesAt = time.Time{}
	}
	accounts, err := idsOf(row.Accounts)
	next, err2 := idsOf(row.NextAccounts)
	return Person{
		ID:           row.ID,
		Name:         row.Name,
		Roles:        rolesOf(row.Roles),
		Accounts:     accounts,
		NextRoles:    rolesOf(row.NextRoles),
		NextAccounts: next,
		ChangesAt:    row.ChangesAt,
		CreatedAt:    row.CreatedAt,
		RevokedAt:    row.RevokedAt,
	}, errors.Join(err, err2)
}

func (p Person) row() store.Person {
	return store.Person{
		ID:           p.ID,
		Name:         p.Name,
		Roles:        textsOf(p.Roles),
		Accounts:     idTexts(p.Accounts),
		NextRoles:    textsOf(p.NextRoles),
		NextAccounts: idTexts(p.NextAccounts),
		ChangesAt:    p.ChangesAt,
	}
}

func rolesOf(texts []string) (roles []Role) {
	for _, t := range texts {
		roles = append(roles, Role(t))
	}
	return roles
}

func textsOf(roles []Role) (texts []string) {
	for _, r := range roles {
		texts = append(texts, string(r))
	}
	return texts
}

func idsOf(texts []string) (ids []bursar.ID, err error) {
	for _, t := range texts {
		id, bad := bursar.ParseID(t)
		ids, err = append(ids, id), errors.Join(err, bad)
	}
	return ids, err
}

func idTexts(ids []bursar.ID) (texts []string) {
	for _, id := range ids {
		texts = append(texts, id.String())
	}
	return texts
}

// rights writes roles and accounts for the log.
func rights(roles []Role, accounts []bursar.ID) string {
	text := "roles " + strings.Join(textsOf(roles), ",")
	if len(accounts) > 0 {
		text += " of accounts " + strings.Join(idTexts(accounts), ",")
	}
	return text
}

// List returns everybody, by name, as of now.
func (s *Service) List(ctx context.Context) (people []Person, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		rows, err := tx.People().List(ctx)
		if err != nil {
			return err
		}
		for _, row := range rows {
			p, err := personOf(row, tx.Now())
			if err != nil {
				return err
			}
			people = append(people, p)
		}
		return nil
	})
	return people, err
}

// Invited is an invitation that was made. The token is shown once.
type Invited struct {
	Person  Person
	Link    string
	Expires time.Time
	New     bool // a new person; otherwise the invitation is a recovery, whose use ends earlier passkeys and sessions
}

// Invite makes a link with which somebody makes a passkey. A name that is new makes a person with roles and accounts,
// who may do something once the hold has passed; the first person at once. For a person who is there, roles must be
// empty: the link is a recovery, and the person's rights wait for the hold again once it is used. by is who invites.
func (s *Service) Invite(ctx context.Context, by Act, name string, roles []Role, accounts []bursar.ID) (Invited,
	error) {
	if !validName(name) {
		return Invited{}, ErrName
	}
	token := [2]bursar.ID{s.IDs.Token(), s.IDs.Token()}
	text := fmt.Sprintf("%x%x", token[0][:], token[1][:])
	invited := Invited{Link: s.URL + "/console/invited#" + text}
	err := s.DB.Do(ctx, func(tx *store.Tx) (err error) {
		if invited.Person, invited.New, err = s.invitee(ctx, tx, name, roles, accounts); err != nil {
			return err
		}
		invited.Expires = tx.Now().Add(inviteFor)
		err = tx.People().Invite(ctx, store.Invitation{
			Hash:     sha256.Sum256([]byte(text)),
			Person:   invited.Person.ID,
			Recovery: !invited.New,
			Expires:  invited.Expires,
		})
		if err != nil {
			return err
		}
		by.Verb, by.Object = verbInvite, "person "+invited.Person.ID.String()
		by.After = name
		if invited.New {
			by.After += ": " + rights(roles, accounts)
		} else {
			by.Verb = verbRecover
		}
		return Record(ctx, tx, by)
	})
	return invited, err
}

// invitee returns the person of a name, who is new or is to be recovered.
func (s *Service) invitee(ctx context.Context, tx *store.Tx, name string, roles []Role,
	accounts []bursar.ID) (p Person, isNew bool, err error) {
	row, err := tx.People().Named(ctx, name)
	if err == nil {
		switch {
		case !row.RevokedAt.IsZero():
			return p, false, fmt.Errorf("%s was revoked, which cannot be undone: invite another name", name)
		case len(roles) > 0 || len(accounts) > 0:
			return p, false, fmt.Errorf("%s is there already: leave out --role and --account to recover the person, or set "+
				"the roles with `bursar operator roles`", name)
		}
		p, err = personOf(row, tx.Now())
		return p, false, err
	}
	if !errors.Is(err, store.ErrNotFound) {
		return p, false, err
	}
	if len(roles) == 0 {
		return p, false, fmt.Errorf("there is nobody named %s: give a new person a role", name)
	}
	others, err := tx.People().List(ctx)
	if err != nil {
		return p, false, err
	}
	p = Person{ID: s.IDs.Next(), Name: name, NextRoles: roles, NextAccounts: accounts, ChangesAt: tx.Now().Add(s.Hold)}
	if len(others) == 0 { // nobody is there who could notice, or object
		p = Person{ID: p.ID, Name: name, Roles: roles, Accounts: accounts}
	}
	return p, true, tx.People().Insert(ctx, p.row())
}

func validName(name string) bool {
	return name != "" && len([]rune(name)) <= 64 && strings.TrimSpace(name) == name &&
		!strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f || r >= 0x202a && r <= 0x202e })
}

// SetRoles changes what a person may do. What is taken away ends at once; what is added waits for the hold.
func (s *Service) SetRoles(ctx context.Context, by Act, name string, roles []Role, accounts []bursar.ID) (Person,
	error) {
	var p Person
	err := s.DB.Do(ctx, func(tx *store.Tx) error {
		row, err := tx.People().Named(ctx, name)
		if err != nil {
			return err
		}
		if p, err = personOf(row, tx.Now()); err != nil {
			return err
		}
		if !p.RevokedAt.IsZero() {
			return fmt.Errorf("%s was revoked, which cannot be undone", name)
		}
		by.Before, by.After = rights(p.Roles, p.Accounts), rights(roles, accounts)
		p = p.changed(roles, accounts, tx.Now().Add(s.Hold))
		if err := tx.People().SetRoles(ctx, p.row()); err != nil {
			return err
		}
		by.Verb, by.Object = VerbPeople, "person "+p.ID.String()
		return Record(ctx, tx, by)
	})
	return p, err
}

// changed returns a person whose rights shrink now and grow at a time.
func (p Person) changed(roles []Role, accounts []bursar.ID, at time.Time) Person {
	kept := slices.DeleteFunc(slices.Clone(p.Roles), func(r Role) bool { return !slices.Contains(roles, r) })
	narrower := len(p.Accounts) == 0 || len(accounts) > 0 &&
		!slices.ContainsFunc(accounts, func(id bursar.ID) bool { return !slices.Contains(p.Accounts, id) })
	if narrower {
		p.Accounts = accounts
	} else if len(accounts) > 0 {
		p.Accounts = slices.DeleteFunc(slices.Clone(p.Accounts), func(id bursar.ID) bool {
			return !slices.Contains(accounts, id)
		})
		if len(p.Accounts) == 0 { // no accounts would be all of them
			kept, p.Accounts = nil, accounts
		}
	}
	p.Roles, p.NextRoles, p.NextAccounts, p.ChangesAt = kept, nil, nil, time.Time{}
	if !narrower || len(kept) < len(roles) {
		p.NextRoles, p.NextAccounts, p.ChangesAt = roles, accounts, at
	}
	return p
}

// Revoke ends a person's access for good, with all sessions and passkeys.
func (s *Service) Revoke(ctx context.Context, by Act, name string) error {
	return s.DB.Do(ctx, func(tx *store.Tx) error {
		row, err := tx.People().Named(ctx, name)
		if err != nil {
			return err
		}
		if err := tx.People().Revoke(ctx, row.ID); err != nil {
			return err
		}
		if err := tx.People().RemovePasskeys(ctx, row.ID); err != nil {
			return err
		}
		if _, err := tx.People().EndSessions(ctx, row.ID); err != nil {
			return err
		}
		by.Verb, by.Object, by.Before, by.After = VerbPeople, "person "+row.ID.String(), name, "revoked"
		return Record(ctx, tx, by)
	})
}
