package main

import (
	"context"
	"net/netip"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/account"
	"github.com/bursar/bursar/netpolicy"
)

// networksOf parses the networks of a flag.
func networksOf(flag string, texts []string) ([]netip.Prefix, error) {
	var list []netip.Prefix
	for _, text := range texts {
		network, err := netpolicy.ParseNetwork(text)
		if err != nil {
			return nil, wrong("%s: %w", flag, err)
		}
		list = append(list, network)
	}
	return list, nil
}

// everywhere is the text for an empty list of networks.
const everywhere = "everywhere"

func networksText(list []netip.Prefix) string {
	if len(list) == 0 {
		return everywhere
	}
	return strings.Join(networkTexts(list), " ")
}

func networkTexts(list []netip.Prefix) []string {
	texts := make([]string, len(list))
	for i, network := range list {
		texts[i] = network.String()
	}
	return texts
}

type keyAllowIPCommand struct {
	Key    bursar.ID `arg:"" placeholder:"KEY" help:"ID of the key."`
	Add    []string  `placeholder:"CIDR" help:"Network or address that the key may be used from; may be repeated."`
	Remove []string  `placeholder:"CIDR" help:"Network to remove from the list; may be repeated."`
	Clear  bool      `help:"Remove all networks before any are added: if none are added, the key may be used from anywhere."`
	acting
}

// Help returns an example.
func (keyAllowIPCommand) Help() string {
	return "Changes the networks that a key may be used from, immediately on every replica. A key without a list may " +
		"be used from everywhere.\n\nExample:\n\n    bursar key allow-ip 0193a6a0-0000-7000-8000-000000000000 --add " +
		"192.0.2.0/24 --add 2001:db8::7"
}

// Run changes a key's list of networks.
func (cmd *keyAllowIPCommand) Run(ctx context.Context, c *call) error {
	change := account.NetworkChange{Clear: cmd.Clear}
	var err error
	if change.Add, err = networksOf("--add", cmd.Add); err != nil {
		return err
	}
	if change.Remove, err = networksOf("--remove", cmd.Remove); err != nil {
		return err
	}
	if !cmd.Clear && len(change.Add)+len(change.Remove) == 0 {
		return wrong("nothing to change is named: use --add CIDR, --remove CIDR or --clear")
	}
	db, accounts, err := c.accounts(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	list, err := accounts.SetNetworks(ctx, cmd.Key, change)
	if err != nil {
		return unknownKey(err, cmd.Key)
	}
	return c.Done(actFacts{"keyID": cmd.Key, "networks": list}, "key %s may be used from %s", cmd.Key, networksText(list))
}

type keyScopesCommand struct {
	Key    bursar.ID `arg:"" placeholder:"KEY" help:"ID of the key."`
	Scopes string    `arg:"" placeholder:"SCOPES" help:"New scopes of the key, separated by commas: read, wallets, withdraw."`
	acting
}

// Help returns an example.
func (keyScopesCommand) Help() string {
	return "Changes the scopes of a key, immediately on every replica.\n\n" +
		"Example:\n\n    bursar key scopes 0193a6a0-0000-7000-8000-000000000000 read,wallets"
}

// Run changes a key's scopes.
func (cmd *keyScopesCommand) Run(ctx context.Context, c *call) error {
	db, accounts, err := c.accounts(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	var scopes []bursar.Scope
	for scope := range strings.SplitSeq(cmd.Scopes, ",") {
		scopes = append(scopes, bursar.Scope(scope))
	}
	if err := accounts.SetScopes(ctx, cmd.Key, scopes); err != nil {
		return unknownKey(err, cmd.Key)
	}
	return c.Done(actFacts{"keyID": cmd.Key, "scopes": cmd.Scopes},
		"key %s may %s", cmd.Key, strings.ReplaceAll(cmd.Scopes, ",", ", "))
}
