package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar/operator"
	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/store"
)

// invitation is a link with which somebody makes a passkey for the console.
type invitation struct {
	Name string `json:"name"`
	Link string `json:"link"`
}

// visitors are the two people of the console: what moves money takes two.
var visitors = []struct {
	name  string
	roles []operator.Role
}{{"Ada", operator.Roles()}, {"Grace", []operator.Role{operator.Viewer, operator.Approver}}}

// openPeople invites each of the two people who has no passkey yet.
func (s *environment) openPeople(ctx context.Context) error {
	if s.config.AdminListen == "" {
		return nil
	}
	people, err := s.service.People()
	if err != nil {
		return err
	}
	s.console = people.URL + "/console/"
	by := operator.Act{Person: operator.Person{Name: "sandbox"}, Reason: "the sandbox started"}
	for _, v := range visitors {
		roles, wanted, err := missing(ctx, s.service, v.name, v.roles)
		if err != nil {
			return fmt.Errorf("look for %s: %w", v.name, err)
		}
		if !wanted {
			continue
		}
		invited, err := people.Invite(ctx, by, v.name, roles, nil)
		if err != nil {
			return fmt.Errorf("invite %s: %w", v.name, err)
		}
		s.invitations = append(s.invitations, invitation{v.name, invited.Link})
	}
	return nil
}

// missing reports whether somebody has no passkey, and with which roles to invite them: those of a new person, none for
// a person whose invitation was not used. Who was revoked stays so.
func missing(
	ctx context.Context, of *service.Service, name string, roles []operator.Role,
) (with []operator.Role, wanted bool, err error) {
	err = of.DB.View(ctx, func(tx *store.Tx) error {
		row, err := tx.People().Named(ctx, name)
		if errors.Is(err, store.ErrNotFound) {
			with, wanted = roles, true
			return nil
		}
		if err != nil || !row.RevokedAt.IsZero() {
			return err
		}
		keys, err := tx.People().Passkeys(ctx, row.ID)
		wanted = len(keys) == 0
		return err
	})
	return with, wanted, err
}
