package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/operator"
	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/store"
)

type operatorCommands struct {
	Invite   operatorInviteCommand   `cmd:"" help:"Print a link with which a new person, or one who lost theirs, makes a passkey."`
	List     operatorListCommand     `cmd:"" help:"List people, by name."`
	Roles    operatorRolesCommand    `cmd:"" help:"Set the roles of a person."`
	Revoke   operatorRevokeCommand   `cmd:"" help:"End a person's access permanently."`
	Sessions operatorSessionsCommand `cmd:"" help:"List the sessions of a person."`
}

// people opens the people of the console. The caller closes the database.
func (c *call) people(ctx context.Context) (*operator.Service, *store.DB, error) {
	db, cfg, err := c.database(ctx)
	if err != nil {
		return nil, nil, err
	}
	s, err := peopleOf(db, cfg)
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	return s, db, nil
}

func peopleOf(db *store.DB, cfg config.Config) (*operator.Service, error) {
	return operator.NewService(operator.Config{
		DB:   db,
		IDs:  bursar.NewIDs(db.Now, nil),
		URL:  consoleURL(cfg),
		Hold: cfg.Console.RoleHold,
	})
}

// consoleURL is where browsers open the console.
func consoleURL(cfg config.Config) string {
	return service.ConsoleURL(cfg.Console.URL, cfg.AdminListen, cfg.Admin.TLS != config.TLS{})
}

// everybody opens the people of the console for one look at all of them.
func (c *call) everybody(ctx context.Context, look func(*operator.Service, []operator.Person) error) error {
	s, db, err := c.people(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	all, err := s.List(ctx)
	if err != nil {
		return err
	}
	return look(s, all)
}

// here returns an act of the system user.
func here(reason string) operator.Act {
	return operator.Act{Person: operator.Person{Name: actorHere()}, Reason: reason}
}

// unknownPerson says which name is of nobody.
func unknownPerson(err error, name string) error {
	if errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("there is nobody named %s whose access could be changed", name)
	}
	return err
}

type operatorInviteCommand struct {
	Name     string      `arg:"" help:"Name of the person."`
	Roles    []string    `name:"role" placeholder:"ROLE" help:"Role of a new person: viewer, auditor, support, operator, approver or admin; may be repeated."`
	Accounts []bursar.ID `name:"account" type:"account" placeholder:"ACCOUNT" help:"Account to which a new person is restricted; may be repeated. Default: all accounts."`
	Reason   string      `placeholder:"TEXT" help:"Reason, for the record."`
	acting
}

// Help returns an example.
func (operatorInviteCommand) Help() string {
	return "The link works once, for 15 minutes. The first person may act at once; others once console.role_hold has " +
		"passed. Without --role it is for a person who is there and lost all passkeys: using it ends the earlier " +
		"ones.\n\nExample:\n\n" +
		"    bursar operator invite Ada --role admin"
}

// Run prints a link.
func (cmd *operatorInviteCommand) Run(ctx context.Context, c *call) error {
	var roles []operator.Role
	if len(cmd.Roles) > 0 {
		var err error
		if roles, err = operator.ParseRoles(cmd.Roles); err != nil {
			return wrong("--role: %v", err)
		}
	}
	s, db, err := c.people(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	invited, err := s.Invite(ctx, here(cmd.Reason), cmd.Name, roles, cmd.Accounts)
	if err != nil {
		return err
	}
	c.Note("The link is shown only once, and works once, until %s.", moment(invited.Expires))
	if at := invited.Person.ChangesAt; !at.IsZero() {
		c.Note("The roles count from %s.", moment(at))
	}
	return c.Done(actFacts{"link": invited.Link, "expires": invited.Expires}, "%s", invited.Link)
}

type operatorListCommand struct {
	JSON bool `name:"json" help:"Print a JSON array."`
}

type listedPerson struct {
	ID        bursar.ID       `json:"id"`
	Name      string          `json:"name"`
	Roles     []operator.Role `json:"roles"`
	Accounts  []bursar.ID     `json:"accounts"` // empty: all
	NextRoles []operator.Role `json:"nextRoles"`
	ChangesAt *time.Time      `json:"changesAt"`
	CreatedAt time.Time       `json:"createdAt"`
	RevokedAt *time.Time      `json:"revokedAt"`
}

// Help returns an example.
func (operatorListCommand) Help() string { return "Example:\n\n    bursar operator list --json" }

// Run lists people.
func (cmd *operatorListCommand) Run(ctx context.Context, c *call) error {
	var listed []listedPerson
	err := c.everybody(ctx, func(_ *operator.Service, all []operator.Person) error {
		listed = make([]listedPerson, len(all))
		for i, p := range all {
			listed[i] = listedPerson{p.ID, p.Name, p.Roles, p.Accounts, p.NextRoles, optional(p.ChangesAt), p.CreatedAt,
				optional(p.RevokedAt)}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return list(c, cmd.JSON, listed, "NAME ROLES ACCOUNTS NEXT FROM CREATED REVOKED", func(p listedPerson) []any {
		accounts := "all"
		if len(p.Accounts) > 0 {
			accounts = fmt.Sprint(p.Accounts)
		}
		from, revoked := time.Time{}, time.Time{}
		if p.ChangesAt != nil {
			from = *p.ChangesAt
		}
		if p.RevokedAt != nil {
			revoked = *p.RevokedAt
		}
		return []any{p.Name, fmt.Sprint(p.Roles), accounts, fmt.Sprint(p.NextRoles), from, p.CreatedAt, revoked}
	})
}

type operatorRolesCommand struct {
	Name     string      `arg:"" help:"Name of the person."`
	Roles    []string    `name:"role" required:"" placeholder:"ROLE" help:"Role that the person has from then on; may be repeated."`
	Accounts []bursar.ID `name:"account" type:"account" placeholder:"ACCOUNT" help:"Account to which the person is restricted; may be repeated. Default: all accounts."`
	Reason   string      `required:"" placeholder:"TEXT" help:"Reason, for the record."`
	acting
}

// Help returns an example.
func (operatorRolesCommand) Help() string {
	return "What is taken away ends immediately; what is added counts once console.role_hold has " +
		"passed.\n\nExample:\n\n    " +
		"bursar operator roles Ada --role viewer --role approver --reason 'Grace is on leave'"
}

// Run sets roles.
func (cmd *operatorRolesCommand) Run(ctx context.Context, c *call) error {
	roles, err := operator.ParseRoles(cmd.Roles)
	if err != nil {
		return wrong("--role: %v", err)
	}
	s, db, err := c.people(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	p, err := s.SetRoles(ctx, here(cmd.Reason), cmd.Name, roles, cmd.Accounts)
	if err != nil {
		return unknownPerson(err, cmd.Name)
	}
	if p.ChangesAt.IsZero() {
		return c.Say("%s has the roles %v", p.Name, p.Roles)
	}
	return c.Say("%s has the roles %v, and from %s on %v", p.Name, p.Roles, moment(p.ChangesAt), p.NextRoles)
}

type operatorRevokeCommand struct {
	Name   string `arg:"" help:"Name of the person."`
	Reason string `required:"" placeholder:"TEXT" help:"Reason, for the record."`
	final
}

// Help returns an example.
func (operatorRevokeCommand) Help() string {
	return "Ends every session and passkey of the person. The name cannot be used again.\n\nExample:\n\n" +
		"    bursar operator revoke Ada --reason 'left the company'"
}

// Run revokes a person.
func (cmd *operatorRevokeCommand) Run(ctx context.Context, c *call) error {
	s, db, err := c.people(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := s.Revoke(ctx, here(cmd.Reason), cmd.Name); err != nil {
		return unknownPerson(err, cmd.Name)
	}
	return c.Done(actFacts{"name": cmd.Name}, "%s is revoked", cmd.Name)
}

type operatorSessionsCommand struct {
	Name string `arg:"" help:"Name of the person."`
	JSON bool   `name:"json" help:"Print a JSON array."`
}

type listedSession struct {
	ID      bursar.ID `json:"id"`
	Address string    `json:"address"`
	Agent   string    `json:"agent"`
	Created time.Time `json:"createdAt"`
	Used    time.Time `json:"usedAt"`
}

// Help returns an example.
func (operatorSessionsCommand) Help() string { return "Example:\n\n    bursar operator sessions Ada" }

// Run lists sessions that run.
func (cmd *operatorSessionsCommand) Run(ctx context.Context, c *call) error {
	listed := []listedSession{}
	err := c.everybody(ctx, func(s *operator.Service, all []operator.Person) error {
		i := slices.IndexFunc(all, func(p operator.Person) bool { return p.Name == cmd.Name })
		if i < 0 {
			return fmt.Errorf("there is nobody named %s; `bursar operator list` lists people", cmd.Name)
		}
		sessions, err := s.Sessions(ctx, all[i].ID)
		for _, one := range sessions {
			listed = append(listed, listedSession{one.ID, one.Address, one.Agent, one.Created, one.Used})
		}
		return err
	})
	if err != nil {
		return err
	}
	return list(c, cmd.JSON, listed, "ID FROM BROWSER CREATED USED", func(l listedSession) []any {
		return []any{l.ID, l.Address, l.Agent, l.Created, l.Used}
	})
}
