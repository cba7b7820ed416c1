package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// sshNamespace keeps a signature of a release from being taken for one of anything else that the same key of SSH signs
// (PROTOCOL.sshsig of OpenSSH).
const sshNamespace = "bursar-release"

// minisignMark is in the first line of every secret key of minisign, after which its owner may have chosen the text.
var minisignMark = []byte("untrusted comment:")

// sign signs the digests with a secret key of minisign, which asks for the key's password, or with a key of SSH: of a
// public one, the agent signs. The signature stands beside the digests, as SHA256SUMS.minisig or SHA256SUMS.sig.
func sign(ctx context.Context, out, key string) error {
	content, err := os.ReadFile(key)
	if err != nil {
		return fmt.Errorf("sign %s: %w", sumsFile, err)
	}
	sums := filepath.Join(out, sumsFile)
	args := []string{"ssh-keygen", "-Y", "sign", "-n", sshNamespace, "-f", key, sums}
	if bytes.HasPrefix(content, minisignMark) {
		args = []string{"minisign", "-S", "-s", key, "-m", sums}
	}
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := c.Run(); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			err = fmt.Errorf("%w: apt-get install minisign, or openssh-client", err)
		}
		return fmt.Errorf("sign %s with %s: %w", sumsFile, args[0], err)
	}
	return nil
}
