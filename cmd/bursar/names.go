package main

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/treasury"
)

// treasuryName names the operator's own account, which is in no list of accounts.
const treasuryName = "treasury"

// accountNames are the accounts that a command line names by their names, and where their IDs go.
type accountNames struct {
	named []namedAccount
}

type namedAccount struct {
	name string
	set  func(bursar.ID)
}

// Decode reads an account's ID, or keeps its name until resolve: the database is opened only for a name.
func (n *accountNames) Decode(ctx *kong.DecodeContext, target reflect.Value) error {
	var text string
	if err := ctx.Scan.PopValueInto("account", &text); err != nil {
		return err
	}
	id, err := bursar.ParseID(text)
	field := ctx.Value.Target // target is what kong copies there once everything is parsed
	set := func(id bursar.ID) { field.Set(reflect.ValueOf(id)) }
	if target.Kind() == reflect.Slice {
		at := target.Len()
		target.Set(reflect.Append(target, reflect.ValueOf(id)))
		set = func(id bursar.ID) { field.Index(at).Set(reflect.ValueOf(id)) }
	} else {
		target.Set(reflect.ValueOf(id))
	}
	if err == nil {
		return nil
	}
	if strings.TrimSpace(text) == "" {
		return fmt.Errorf("an account is named by its ID or its name, and this is empty")
	}
	n.named = append(n.named, namedAccount{text, set})
	return nil
}

// resolve looks the names up.
func (n *accountNames) resolve(ctx context.Context, c *call) error {
	if len(n.named) == 0 {
		return nil
	}
	db, _, err := c.database(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	return db.View(ctx, func(tx *store.Tx) error {
		all, err := tx.Accounts().All(ctx)
		if err != nil {
			return err
		}
		for _, named := range n.named {
			id, err := accountNamed(all, named.name)
			if err != nil {
				return err
			}
			named.set(id)
		}
		return nil
	})
}

// accountNamed returns the one account of a name. A name that several have names none of them: what is meant for one
// must never reach another.
func accountNamed(all []bursar.Account, name string) (id bursar.ID, err error) {
	var found []string
	for _, a := range all {
		if a.Name == name {
			id, found = a.ID, append(found, a.ID.String())
		}
	}
	switch {
	case len(found) == 1:
		return id, nil
	case len(found) > 1:
		slices.Sort(found)
		return bursar.ID{}, fmt.Errorf("%d accounts are named %q: use the ID of one of them: %s", len(found), name,
			strings.Join(found, ", "))
	case name == treasuryName:
		return treasury.Account, nil
	}
	return bursar.ID{}, fmt.Errorf("there is no account %q: see `bursar account list`", name)
}
