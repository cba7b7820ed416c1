package main

import (
	"fmt"
	"os"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/orderkey"
)

type orderKeyCommand struct {
	textFlags
	Account bursar.ID `required:"" placeholder:"ACCOUNT" help:"ID of the account."`
	File    string    `arg:"" optional:"" placeholder:"FILE" help:"The client's public key, ed25519 or P-256, as a PEM file."`
	Name    string    `help:"Name of the key: small letters, digits, - and _."`
	Revoke  string    `placeholder:"KEY" help:"Revoke the key with this ID."`
}

// Help returns an example.
func (orderKeyCommand) Help() string {
	return "As many authors sign it as sign a policy; to revoke a key, anybody in the policy. Ask the client for the " +
		"key's ID by another way than the file came.\n\nExample:\n\n" +
		"    bursar-approve order-key --instance K7QJ3ZL2M5XW4RT6P8YN9VBHCD --account 0193a6a0-0000-7000-8000-000000000000 " +
		"--name shop shop.pem > key.txt"
}

// Run writes the text of a key.
func (cmd *orderKeyCommand) Run(s *session) error {
	created, expires := cmd.times(s)
	k := approval.OrderKey{Instance: cmd.Instance, Revoke: cmd.Revoke != "", Account: cmd.Account, ID: cmd.Revoke,
		Name: cmd.Name, Created: created, Expires: expires, Nonce: approval.NewNonce()}
	switch {
	case k.Revoke && (cmd.File != "" || cmd.Name != ""):
		return fmt.Errorf("a key is revoked by its ID alone; %w", errUsage)
	case !k.Revoke && (cmd.File == "" || cmd.Name == ""):
		return fmt.Errorf("name the file of the key, and give it a --name; %w", errUsage)
	case !k.Revoke:
		text, err := os.ReadFile(cmd.File)
		if err != nil {
			return fmt.Errorf("read the key: %w", err)
		}
		key, err := orderkey.ParsePEM(string(text))
		if err != nil {
			return fmt.Errorf("%s: %w", cmd.File, err)
		}
		k.ID, k.Key = key.ID(), key.String()
	}
	_, err := approval.ParseOrderKey(k.Text())
	return s.write(k.Text(), err)
}
