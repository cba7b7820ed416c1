package main

import (
	"fmt"
	"os"

	"github.com/bursar/bursar/passkey"
)

type passkeyCommand struct {
	File string `arg:"" placeholder:"FILE" help:"The public key: a PEM file, or the line that the console shows."`
}

// Help returns an example.
func (passkeyCommand) Help() string {
	return "Prints the line of a passkey for the policy, and shows its fingerprint. Take the public key from the " +
		"security key itself, with fido2-cred, and compare: what the console shows is what the service says.\n\n" +
		"Example:\n\n" +
		"    bursar-approve passkey ann.pem"
}

// Run prints the line of a passkey.
func (cmd *passkeyCommand) Run(s *session) error {
	content, err := os.ReadFile(cmd.File)
	if err != nil {
		return fmt.Errorf("read the public key: %w", err)
	}
	key, err := passkey.ReadKey(string(content))
	if err != nil {
		return fmt.Errorf("%s: %w", cmd.File, err)
	}
	s.say("Fingerprint: %s", key.Fingerprint())
	_, err = fmt.Fprintf(s.out, "passkey: %s\n", key)
	return err
}
