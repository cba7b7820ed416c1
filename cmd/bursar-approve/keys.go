package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/sshsig"
)

// errNoKey says that no key can sign.
var errNoKey = errors.New("no key that can sign: run ssh-add, or give --key")

// signerFor returns the key to sign with, and whose it is in a policy. close ends the use of the agent.
func (s *session) signerFor(
	ctx context.Context, policy *roster.Policy,
) (signer ssh.Signer, who roster.Person, closing func(), err error) {
	closing = func() {}
	wanted, signer, err := s.fromFile()
	if err != nil {
		return nil, who, closing, err
	}
	if signer == nil {
		var list []ssh.Signer
		if list, closing, err = s.fromAgent(ctx); err != nil {
			return nil, who, closing, err
		}
		if signer, err = choose(list, wanted, policy); err != nil {
			return nil, who, closing, err
		}
	}
	if policy == nil {
		return signer, who, closing, nil
	}
	key, err := sshsig.NewKey(signer.PublicKey())
	if err != nil {
		return nil, who, closing, err
	}
	who, found := personOf(*policy, key)
	if !found {
		return nil, who, closing, fmt.Errorf("the policy knows nobody with the key %s", key.Fingerprint())
	}
	return signer, who, closing, nil
}

// fromFile reads the key file: a private key, or the public half of one that the agent has.
func (s *session) fromFile() (wanted *sshsig.Key, signer ssh.Signer, err error) {
	if s.Key == "" {
		return nil, nil, nil
	}
	text, err := os.ReadFile(s.Key)
	if err != nil {
		return nil, nil, fmt.Errorf("read the key: %w", err)
	}
	if public, _, _, _, err := ssh.ParseAuthorizedKey(text); err == nil {
		key, err := sshsig.NewKey(public)
		return &key, nil, err
	}
	signer, err = ssh.ParsePrivateKey(text)
	var locked *ssh.PassphraseMissingError
	if errors.As(err, &locked) {
		err = fmt.Errorf("%s has a passphrase: ssh-add it, and give the public key", s.Key)
	}
	return nil, signer, err
}

// fromAgent returns the accepted keys of the SSH agent.
func (s *session) fromAgent(ctx context.Context) (list []ssh.Signer, closing func(), err error) {
	closing = func() {}
	socket := s.getenv("SSH_AUTH_SOCK")
	if socket == "" {
		return nil, closing, fmt.Errorf("%w (SSH_AUTH_SOCK is not set)", errNoKey)
	}
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, closing, fmt.Errorf("reach the SSH agent: %w", err)
	}
	all, err := agent.NewClient(conn).Signers()
	if err != nil {
		return nil, func() { conn.Close() }, fmt.Errorf("ask the SSH agent: %w", err)
	}
	for _, one := range all {
		if _, err := sshsig.NewKey(one.PublicKey()); err == nil {
			list = append(list, one)
		}
	}
	return list, func() { conn.Close() }, nil
}

// choose returns the one key that is wanted, or else belongs to somebody in the policy.
func choose(list []ssh.Signer, wanted *sshsig.Key, policy *roster.Policy) (ssh.Signer, error) {
	var found []ssh.Signer
	var names []string
	for _, one := range list {
		key, err := sshsig.NewKey(one.PublicKey())
		if err != nil {
			return nil, err
		}
		known := policy == nil
		if policy != nil {
			_, known = personOf(*policy, key)
		}
		if wanted != nil && key == *wanted || wanted == nil && known {
			found, names = append(found, one), append(names, key.Fingerprint())
		}
	}
	switch len(found) {
	case 0:
		return nil, errNoKey
	case 1:
		return found[0], nil
	}
	return nil, fmt.Errorf("the agent has several keys that could sign, so give the public half of one as --key: %s",
		strings.Join(names, ", "))
}

func personOf(policy roster.Policy, key sshsig.Key) (roster.Person, bool) {
	for _, one := range policy.People {
		for _, k := range one.Keys {
			if k == key {
				return one, true
			}
		}
	}
	return roster.Person{}, false
}
