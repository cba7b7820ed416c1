package api_test

import (
	"net/netip"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/account"
	"github.com/bursar/bursar/destination"
	"github.com/bursar/bursar/store"
)

// rule changes what keys and accounts may do; see play.
func (c *script) rule(args []string) {
	c.Helper()
	var err error
	switch args[0] {
	case "allow":
		change := account.NetworkChange{Clear: true}
		for _, text := range args[2:] {
			change.Add = append(change.Add, netip.MustParsePrefix(text))
		}
		_, err = c.accounts.SetNetworks(c.Context(), c.id(args[1]+".keyID"), change)
	case "scopes":
		var scopes []bursar.Scope
		for _, text := range args[2:] {
			scopes = append(scopes, bursar.Scope(text))
		}
		err = c.accounts.SetScopes(c.Context(), c.id(args[1]+".keyID"), scopes)
	case "list":
		n := destination.New{Account: c.id(args[1]), Address: args[3], Label: "treasury"}
		if n.Currency = bursar.CurrencyCode(args[2]); strings.ToLower(args[2]) == args[2] {
			n.Currency, n.Family = "", bursar.Family(args[2])
		}
		var d bursar.Destination
		d, _, err = c.config.Destinations.Add(c.Context(), n)
		c.names["listed."+args[3]] = d.ID.String()
	case "instance":
		err = c.config.DB.Do(c.Context(), func(tx *store.Tx) error {
			return tx.Settings().NotePolicy(c.Context(), store.PolicyText{Instance: args[1], Orders: true})
		})
	case "orderkey":
		c.orderKey(args[1], args[2])
	case "disorderkey":
		err = c.accounts.RevokeOrderKey(c.Context(), c.id(args[1]), c.names[args[2]+".id"])
	case "order":
		c.order(args[1], args[2], args[3:])
	case "unlist":
		err = c.config.Destinations.Remove(c.Context(), c.id(args[1]), c.id("listed."+args[2]))
	case "enable":
		err = c.config.Destinations.Enable(c.Context(), c.id(args[1]))
	case "disable":
		_, err = c.config.Destinations.Disable(c.Context(), c.id(args[1]))
	default:
		c.fatalf("there is no command %q", args[0])
	}
	if err != nil {
		c.fatalf("%v", err)
	}
}
