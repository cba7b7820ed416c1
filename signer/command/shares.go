package command

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"filippo.io/age"
	"github.com/btcsuite/btcd/address/v2/bech32"

	"github.com/bursar/bursar/signer/host"
	"github.com/bursar/bursar/slip39"
)

// SeedShares is the commands of the recovery identity.
type SeedShares struct {
	Make    sharesMakeCommand    `cmd:"" help:"Make an identity for recovery, and print it as shares."`
	Combine sharesCombineCommand `cmd:"" help:"Print the identity that shares on standard input give."`
}

type sharesMakeCommand struct {
	Need   int `default:"2" help:"Shares that are needed to give the identity back. Default: 2."`
	Shares int `default:"3" help:"Shares that are made, at most 16. Default: 3."`
}

// Help returns an example.
func (sharesMakeCommand) Help() string {
	return "Makes a new identity of age, which is shown nowhere, and splits it by SLIP-39 without a passphrase. Each " +
		"share is a line of 33 words on standard output, and is written to no file. Needs neither a configuration nor the " +
		"seed: run it where no network is. Add the recipient, which is not secret, on the signer's machine with `bursar " +
		"seed recipients add`.\n\nExample:\n\n" +
		"    bursar seed shares make --need 2 --shares 3"
}

// Run prints the shares, and the recipient beside them.
func (m sharesMakeCommand) Run(c *Call) error {
	if err := host.Shield(); err != nil {
		return err
	}
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		return fmt.Errorf("make the identity: %w", err)
	}
	secret, err := identityBytes(identity.String())
	if err != nil {
		return err
	}
	defer clear(secret)
	lines, err := slip39.Split(rand.Reader, secret, m.Need, m.Shares)
	if errors.Is(err, slip39.ErrSplit) {
		return UsageError{err}
	}
	if err != nil {
		return err
	}
	// What cannot be combined must not be handed out.
	shares, err := slip39.ParseAll(strings.Join(lines, "\n"))
	if err != nil {
		return err
	}
	back, err := slip39.Combine(shares, "")
	defer clear(back)
	if err != nil || !slices.Equal(back, secret) {
		return fmt.Errorf("the shares do not give the identity back: %w", errors.Join(err, slip39.ErrDigest))
	}
	for _, line := range lines {
		if err := c.Say("%s", line); err != nil {
			return err
		}
	}
	c.Note("Set %s: %d of these %d shares give the identity. They are shown only once: give each to another person, on "+
		"paper.",
		shares[0].Set(), m.Need, m.Shares)
	c.Note("The recipient is not secret. On the signer's machine: bursar seed recipients add recovery --recipient %s",
		identity.Recipient())
	return nil
}

type sharesCombineCommand struct{}

// Help returns an example.
func (sharesCombineCommand) Help() string {
	return "Reads shares, one a line, from standard input, never from the command line, where other users could see " +
		"them. What it prints opens the seed file: put it into a file in memory with mode 0600, name that in " +
		"BURSAR_IDENTITY_FILE, and remove it afterwards.\n\nExample:\n\n" +
		"    bursar seed shares combine > /dev/shm/identity"
}

// maxShares bounds what is read, in bytes: sixteen shares of 33 words have less.
const maxShares = 16 << 10

// Run prints the identity.
func (sharesCombineCommand) Run(c *Call) error {
	if err := host.Shield(); err != nil {
		return err
	}
	text, err := io.ReadAll(io.LimitReader(c.Stdin, maxShares))
	if err != nil {
		return fmt.Errorf("read the shares from standard input: %w", err)
	}
	defer clear(text)
	shares, err := slip39.ParseAll(string(text))
	if err != nil {
		return fmt.Errorf("the shares on standard input cannot be used: %w", err)
	}
	secret, err := slip39.Combine(shares, "")
	if err != nil {
		return fmt.Errorf("the shares on standard input cannot be used: %w", err)
	}
	defer clear(secret)
	identity, err := identityOf(secret)
	if err != nil {
		return err
	}
	if err := c.Say("%s", identity.String()); err != nil {
		return err
	}
	c.Note("Set %s gives the identity of the recipient %s.", shares[0].Set(), identity.Recipient())
	return nil
}

// secretHRP is the beginning of an identity of age (age-encryption.org/v1, X25519 identity) in lower case.
const secretHRP = "age-secret-key-"

// identityBytes returns the 32 bytes of an identity.
func identityBytes(text string) ([]byte, error) {
	hrp, secret, err := bech32.DecodeToBase256(text)
	if err != nil || hrp != secretHRP || len(secret) != 32 {
		return nil, errors.New("the identity is not as age writes it") // the error could quote it
	}
	return secret, nil
}

func identityOf(secret []byte) (*age.X25519Identity, error) {
	wrong := errors.New("the shares give no identity of age: they are of something else")
	if len(secret) != 32 {
		return nil, wrong
	}
	text, err := bech32.EncodeFromBase256(secretHRP, secret)
	if err != nil {
		return nil, wrong
	}
	identity, err := age.ParseX25519Identity(strings.ToUpper(text))
	if err != nil {
		return nil, wrong
	}
	return identity, nil
}
