// Package token seals a short secret to a key of RSA that a PKCS#11 token keeps, and has a program of the operator's
// choice open it.
//
// It owns the form of what is sealed. Its invariants: no library of a token is loaded into this process, which has no
// cgo; sealing needs the public key alone; the program is given what is sealed on standard input, never the secret.
package token

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1" // OAEP does not depend on collisions, and SoftHSM and many tokens know no other hash for it.
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Bounds of what a token's program may take and say.
const (
	patience   = 2 * time.Minute // a token may wait for a touch
	maxAnswer  = 4096            // bytes
	smallestRS = 2048            // bits
)

// Errors of sealing and opening.
var (
	ErrKey       = errors.New("the token's key must be a public key of RSA with at least 2048 bits, as PEM or DER")
	ErrNoProgram = errors.New("signer.token_command is not configured: name the program that decrypts with the token's " +
		"key")
	ErrProgram = errors.New("the program of signer.token_command failed")
	ErrBlob    = errors.New("what was sealed for the token is damaged")
)

// Key is the public key of a token.
type Key struct{ public *rsa.PublicKey }

// ParseKey reads a public key (SubjectPublicKeyInfo) in PEM or DER, as `pkcs11-tool --read-object --type pubkey` and
// `openssl rsa -pubout` write it. The error is ErrKey.
func ParseKey(text []byte) (Key, error) {
	der := text
	if block, _ := pem.Decode(text); block != nil {
		der = block.Bytes
	}
	parsed, err := x509.ParsePKIXPublicKey(der)
	public, is := parsed.(*rsa.PublicKey)
	if err != nil || !is || public.N.BitLen() < smallestRS {
		return Key{}, ErrKey
	}
	return Key{public: public}, nil
}

// String returns a digest of the key, which identifies it.
func (k Key) String() string {
	der := x509.MarshalPKCS1PublicKey(k.public)
	sum := sha256.Sum256(der)
	return fmt.Sprintf("rsa%d sha256:%s", k.public.N.BitLen(), hex.EncodeToString(sum[:8]))
}

// Seal seals a secret with RSA-OAEP, SHA-1 and MGF1 with SHA-1 (RFC 8017, the defaults of CKM_RSA_PKCS_OAEP).
func (k Key) Seal(secret []byte) (string, error) {
	sealed, err := rsa.EncryptOAEP(sha1.New(), rand.Reader, k.public, secret, nil)
	if err != nil {
		return "", fmt.Errorf("seal for the token: %w", err)
	}
	return base64.StdEncoding.EncodeToString(sealed), nil
}

// Open gives what was sealed to a program, which is started without a shell, and returns what it prints. It gets two
// minutes, and the environment without the service's own variables, among which passphrases and URLs with passwords
// are. env is that environment; nil: of this process. The error is ErrNoProgram, ErrProgram with the beginning of what
// the program said, or ErrBlob.
func Open(ctx context.Context, program []string, env []string, sealed string) ([]byte, error) {
	if len(program) == 0 {
		return nil, ErrNoProgram
	}
	content, err := base64.StdEncoding.DecodeString(sealed)
	if err != nil || len(content) == 0 {
		return nil, ErrBlob
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	answer, says := &bounded{max: maxAnswer}, &bounded{max: maxAnswer}
	c := exec.CommandContext(ctx, program[0], program[1:]...)
	c.Env, c.Stdin, c.Stdout, c.Stderr = withoutOwn(env), bytes.NewReader(content), answer, says
	c.WaitDelay = time.Second
	err = c.Run()
	if answer.over {
		err = errors.Join(err, fmt.Errorf("the program printed more than %d bytes", maxAnswer))
	}
	if err == nil && answer.Len() == 0 {
		err = errors.New("the program printed nothing")
	}
	if err != nil {
		clear(answer.Bytes())
		return nil, fmt.Errorf("%w: %w: %.300s", ErrProgram, err, strings.TrimSpace(says.String()))
	}
	return answer.Bytes(), nil
}

// withoutOwn returns an environment, or that of this process, without the variables of the service.
func withoutOwn(env []string) []string {
	if env == nil {
		env = os.Environ()
	}
	kept := []string{} // never nil: that is the whole environment
	for _, variable := range env {
		if !strings.HasPrefix(variable, "BURSAR_") {
			kept = append(kept, variable)
		}
	}
	return kept
}

// bounded keeps no more than max bytes.
type bounded struct {
	bytes.Buffer
	max  int
	over bool
}

// Write is io.Writer's, and never fails: the program ends by itself.
func (b *bounded) Write(p []byte) (int, error) {
	keep := p[:min(len(p), b.max-b.Len())]
	b.over = b.over || len(keep) < len(p)
	if _, err := b.Buffer.Write(keep); err != nil {
		return 0, err
	}
	return len(p), nil
}

// ReadFrom hides that of bytes.Buffer, which knows no bound.
func (b *bounded) ReadFrom(r io.Reader) (int64, error) { return io.Copy(struct{ io.Writer }{b}, r) }
