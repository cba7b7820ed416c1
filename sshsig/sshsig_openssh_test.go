package sshsig

import (
	"crypto/ed25519"
	"encoding/pem"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// openssh runs a program of OpenSSH, such as the one of Debian 12 (9.2p1) or 13 (10.0p1).
func openssh(t *testing.T, input, name string, args ...string) error {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	t.Logf("%s %s: %s", name, strings.Join(args, " "), out)
	return err
}

func needsOpenSSH(t *testing.T) {
	t.Helper()
	for _, name := range []string{"ssh-keygen", "ssh-agent"} {
		if _, err := exec.LookPath(name); err != nil {
			if testing.Short() {
				t.Skip("OpenSSH is not installed: go run ./test -install openssh")
			}
			t.Fatalf("%v: go run ./test -install openssh", err)
		}
	}
}

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// keyFile writes a private key as ssh-keygen does.
func keyFile(t *testing.T, folder string, seed byte) string {
	t.Helper()
	block, err := ssh.MarshalPrivateKey(ed25519.NewKeyFromSeed(append(make([]byte, 31), seed)), "ann")
	if err != nil {
		t.Fatal(err)
	}
	return write(t, filepath.Join(folder, "key"), string(pem.EncodeToMemory(block)))
}

// What ssh-keygen signs is accepted here, and what is signed here is accepted by ssh-keygen.
func TestAgainstSSHKeygen(t *testing.T) {
	t.Parallel()
	needsOpenSSH(t)
	folder := t.TempDir()
	path := keyFile(t, folder, 3)
	text := write(t, filepath.Join(folder, "text"), string(message))
	if err := openssh(t, "", "ssh-keygen", "-Y", "sign", "-n", namespace, "-f", path, text); err != nil {
		t.Fatal(err)
	}
	made, err := os.ReadFile(text + ".sig")
	if err != nil {
		t.Fatal(err)
	}
	private, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.ParsePrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	ours, err := Sign(signer, namespace, message)
	if err != nil || ours != string(made) { // ed25519 is deterministic
		t.Errorf("got\n%s, %v, want\n%s", ours, err, made)
	}
	if _, err := Verify(string(made), namespace, message); err != nil {
		t.Errorf("what ssh-keygen signed: %v", err)
	}
	if err := openssh(t, "", "ssh-keygen", "-Y", "sign", "-n", namespace, "-O", "hashalg=sha256", "-f", path,
		write(t, filepath.Join(folder, "other"), string(message))); err != nil {
		t.Fatal(err)
	}
	if made, err = os.ReadFile(filepath.Join(folder, "other.sig")); err != nil {
		t.Fatal(err)
	}
	if _, err := Verify(string(made), namespace, message); !errors.Is(err, ErrMalformed) {
		t.Errorf("with another hash: got %v, want %v", err, ErrMalformed)
	}
}

// ssh-keygen reads the signatures of the tests' security key as those of a real one. It leaves the flags to whoever
// asks it; here they are demanded.
func TestSecurityKeysAgainstSSHKeygen(t *testing.T) {
	t.Parallel()
	needsOpenSSH(t)
	folder := t.TempDir()
	key, err := NewKey(securityKey(0).PublicKey())
	if err != nil {
		t.Fatal(err)
	}
	allowed := write(t, filepath.Join(folder, "allowed"), "ann namespaces=\""+namespace+"\" "+key.String()+"\n")
	for flags, want := range map[byte]error{0: ErrNoTouch, flagPresent: ErrUnverified, flagPresent | flagVerified: nil} {
		text := wrap(t, securityKey(flags), func(*wrapped) {})
		if err := openssh(t, string(message), "ssh-keygen", "-Y", "verify", "-f", allowed, "-I", "ann", "-n", namespace,
			"-s", write(t, filepath.Join(folder, "sig"), text)); err != nil {
			t.Errorf("flags %#x: ssh-keygen: %v", flags, err)
		}
		if _, err := Verify(text, namespace, message); !errors.Is(err, want) {
			t.Errorf("flags %#x: got %v, want %v", flags, err, want)
		}
	}
}

func TestAgainstSSHAgent(t *testing.T) {
	t.Parallel()
	needsOpenSSH(t)
	folder, err := os.MkdirTemp("", "agent") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	socket := filepath.Join(folder, "s")
	run := exec.CommandContext(t.Context(), "ssh-agent", "-D", "-a", socket)
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { run.Process.Kill(); run.Wait() })
	conn, err := net.Dial("unix", socket)
	for err != nil && t.Context().Err() == nil {
		conn, err = net.Dial("unix", socket)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	client := agent.NewClient(conn)
	if err := client.Add(agent.AddedKey{PrivateKey: ed25519.NewKeyFromSeed(make([]byte, 32))}); err != nil {
		t.Fatal(err)
	}
	signers, err := client.Signers()
	if err != nil || len(signers) != 1 {
		t.Fatalf("%d signers, %v, want 1 of them", len(signers), err)
	}
	text, err := Sign(signers[0], namespace, message)
	if err != nil {
		t.Fatal(err)
	}
	if key, err := Verify(text, namespace, message); err != nil || key.String() !=
		strings.TrimSpace(string(ssh.MarshalAuthorizedKey(signers[0].PublicKey()))) {
		t.Errorf("got %v, %v", key, err)
	}
}
