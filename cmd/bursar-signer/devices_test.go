package main

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1" // what RSA-OAEP of tokens uses
	"crypto/sha256"
	"crypto/x509"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-tpm/tpm2"
	"github.com/google/go-tpm/tpm2/transport/linuxudstpm"
)

// tokenProgram is the name under which this program decrypts as a token's does, with the key of a file; see TestMain.
const tokenProgram = "token-drill"

func runToken() int {
	der, err := os.ReadFile(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "no token is plugged in")
		return 1
	}
	key, err := x509.ParsePKCS1PrivateKey(der)
	if err != nil {
		return 1
	}
	sealed, err := io.ReadAll(os.Stdin)
	if err != nil {
		return 1
	}
	secret, err := rsa.DecryptOAEP(sha1.New(), nil, key, sealed, nil)
	if err != nil {
		return 1
	}
	_, _ = os.Stdout.Write(secret)
	return 0
}

// What is sealed to a token's public key, the program of signer.token_command opens.
func TestTheSeedFileOpensByAToken(t *testing.T) {
	t.Parallel()
	b := sealedHarness(t, "signer: {token_command: ["+tokenProgram+", key]}")
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(own, filepath.Join(b.folder, tokenProgram)); err != nil {
		t.Fatal(err)
	}
	before := b.says("opens", "seed", "check")
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	b.write("public", string(public))
	b.refuses(1, "the new way does not open the seed file; nothing was changed", "seed", "recipients", "add", "hsm",
		"--token", "public")
	b.write("key", string(x509.MarshalPKCS1PrivateKey(key)))
	b.says("The way hsm is added", "seed", "recipients", "add", "hsm", "--token", "public")
	if got := b.with().says("The way hsm opens it", "seed", "check"); got != before {
		t.Errorf("by the token: %q, want %q", got, before)
	}
	if err := os.Remove(filepath.Join(b.folder, "key")); err != nil {
		t.Fatal(err)
	}
	b.with().refuses(1, "no token is plugged in", "seed", "check")
	b.says("The way hsm: the program of signer.token_command failed", "seed", "check")
}

// What the TPM of a machine sealed opens there, and no longer once another PCR 7 was measured; then the passphrase
// does.
func TestTheSeedFileOpensByATPM(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it needs swtpm")
	}
	b := sealedHarness(t, "signer: {tpm: tpm}")
	socket, _ := b.emulator()
	measure(t, socket)
	before := b.says("opens", "seed", "check")
	b.says("The way machine is added", "seed", "recipients", "add", "machine", "--tpm")
	if got := b.with().says("The way machine opens it", "seed", "check"); got != before {
		t.Errorf("by the TPM: %q, want %q", got, before)
	}
	measure(t, socket)
	b.with().refuses(1, "its PCRs are not what they were", "seed", "check")
	b.says("The way passphrase opens it", "seed", "check")
}

// emulator starts a TPM at the socket tpm of the harness, with what it kept. kill cuts its power.
func (b *harness) emulator() (socket string, kill func()) {
	b.Helper()
	program, err := exec.LookPath("swtpm")
	if err != nil {
		b.Fatal("swtpm is not installed: go run ./test -install swtpm")
	}
	socket = filepath.Join(b.folder, "tpm")
	ctx, cancel := context.WithCancel(context.Background())
	emulator := exec.CommandContext(ctx, program, "socket", "--tpm2", "--server", "type=unixio,path="+socket,
		"--tpmstate", "dir="+b.folder, "--flags", "not-need-init,startup-clear")
	if err := emulator.Start(); err != nil {
		b.Fatal(err)
	}
	kill = sync.OnceFunc(func() { cancel(); _ = emulator.Wait(); _ = os.Remove(socket) })
	b.Cleanup(kill)
	return socket, kill
}

// measure extends PCR 7, as soon as the TPM is there.
func measure(t *testing.T, socket string) {
	t.Helper()
	waiting, enough := context.WithTimeout(t.Context(), time.Minute)
	defer enough()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	c, err := linuxudstpm.Open(socket)
	for err != nil { // the socket is there a moment before swtpm listens
		select {
		case <-tick.C:
			c, err = linuxudstpm.Open(socket)
		case <-waiting.Done():
			t.Fatalf("swtpm did not start: %v", err)
		}
	}
	defer c.Close()
	digest := sha256.Sum256([]byte("measured"))
	_, err = tpm2.PCRExtend{
		PCRHandle: tpm2.AuthHandle{Handle: 7, Auth: tpm2.PasswordAuth(nil)},
		Digests:   tpm2.TPMLDigestValues{Digests: []tpm2.TPMTHA{{HashAlg: tpm2.TPMAlgSHA256, Digest: digest[:]}}},
	}.Execute(c)
	if err != nil {
		t.Fatal(err)
	}
}
