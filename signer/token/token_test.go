package token

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

const secret = "AGE-SECRET-KEY-1QQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQ"

// installed returns where a program lies, and fails with the command that installs it.
func installed(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Fatalf("%s is not installed: go run ./test -install softhsm", program)
	}
	return path
}

// module is SoftHSM as a library of PKCS#11.
func module(t *testing.T) string {
	t.Helper()
	found, err := filepath.Glob("/usr/lib/*/softhsm/libsofthsm2.so")
	if one, more := filepath.Glob("/usr/lib/softhsm/libsofthsm2.so"); more == nil {
		found = append(found, one...)
	}
	if err != nil || len(found) == 0 {
		t.Fatal("SoftHSM is not installed: go run ./test -install softhsm")
	}
	return found[0]
}

// documented returns the one block of docs/operations/seed.md in a language that begins so.
func documented(t *testing.T, language, begins string) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/operations/seed.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, has := strings.Cut(string(page), "```"+language+"\n"+begins)
	if !has {
		t.Fatalf("the page has no %s that begins with %s, want some", language, begins)
	}
	block, _, _ = strings.Cut(block, "```")
	return begins + block
}

// What is sealed to the public key alone, the token of another implementation opens: SoftHSM 2.6.1, through pkcs11-tool
// of OpenSC 0.23, as docs/operations/seed.md has the operator type and configure it.
func TestSoftHSMOpensWhatWasSealed(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it needs SoftHSM and pkcs11-tool")
	}
	folder := t.TempDir()
	conf := filepath.Join(folder, "softhsm2.conf")
	if err := os.WriteFile(conf, []byte("directories.tokendir = "+folder+"\nobjectstore.backend = file\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "SOFTHSM2_CONF="+conf, "TOKEN_PIN=1234")
	run := func(args ...string) {
		t.Helper()
		c := exec.CommandContext(t.Context(), args[0], args[1:]...)
		c.Env = env
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", strings.Join(args, " "), err, out)
		}
	}
	run(installed(t, "softhsm2-util"), "--init-token", "--free", "--label", "bursar", "--pin", "1234", "--so-pin", "1234")
	// The commands of the page, with the PIN, which they ask for, and the places of this machine.
	public := filepath.Join(folder, "token.der")
	here := strings.NewReplacer("libsofthsm2.so", module(t), "--login", "--login --pin env:TOKEN_PIN", "token.der", public,
		"pkcs11-tool", installed(t, "pkcs11-tool")+" --token-label bursar")
	typed := documented(t, "sh", "pkcs11-tool")
	for line := range strings.SplitSeq(strings.TrimSpace(typed), "\n") {
		run(strings.Fields(here.Replace(line))...)
	}
	if strings.Count(typed, "\n") != 2 {
		t.Errorf("the page makes a key by\n%swant two commands", typed)
	}
	der, err := os.ReadFile(public)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ParseKey(der)
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := key.Seal([]byte(secret))
	if err != nil {
		t.Fatal(err)
	}
	var page struct {
		Signer struct {
			TokenCommand []string `yaml:"token_command"`
		}
	}
	if err := yaml.Unmarshal([]byte(documented(t, "yaml", "signer:")), &page); err != nil {
		t.Fatal(err)
	}
	command := page.Signer.TokenCommand
	if at := slices.Index(command, "libsofthsm2.so"); at > 0 {
		command[at] = module(t)
	}
	command = append(command, "--token-label", "bursar")
	got, err := Open(t.Context(), command, env, sealed)
	if err != nil || string(got) != secret {
		t.Errorf("the token opens it into %q, %v, want %q", got, err, secret)
	}
	wrong := append(slices.Clone(env), "TOKEN_PIN=4321")
	if got, err := Open(t.Context(), command, wrong, sealed); !errors.Is(err, ErrProgram) || len(got) > 0 ||
		!strings.Contains(err.Error(), "PIN") {
		t.Errorf("with a wrong PIN: %q, %v, want %v with what pkcs11-tool says", got, err, ErrProgram)
	}
}

func TestAProgramThatFails(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		program []string
		sealed  string
		want    error
		says    string
	}{
		"none":        {nil, "YQ==", ErrNoProgram, "signer.token_command"},
		"missing":     {[]string{filepath.Join(t.TempDir(), "none")}, "YQ==", ErrProgram, "no such file"},
		"fails":       {[]string{"sh", "-c", "echo no slot >&2; exit 3"}, "YQ==", ErrProgram, "exit status 3: no slot"},
		"silent":      {[]string{"true"}, "YQ==", ErrProgram, "printed nothing"},
		"endless":     {[]string{"sh", "-c", "head -c 100000 /dev/zero"}, "YQ==", ErrProgram, "more than 4096"},
		"not encoded": {[]string{"cat"}, "!", ErrBlob, "damaged"},
		"empty":       {[]string{"cat"}, "", ErrBlob, "damaged"},
	} {
		got, err := Open(t.Context(), test.program, os.Environ(), test.sealed)
		if !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.says) || len(got) > 0 {
			t.Errorf("%s: %q, %v, want %v with %q", name, got, err, test.want, test.says)
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(gone, []string{"cat"}, nil, "YQ=="); !errors.Is(err, ErrProgram) {
		t.Errorf("after the end: %v, want %v", err, ErrProgram)
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	write := func(public any) []byte {
		der, err := x509.MarshalPKIXPublicKey(public)
		if err != nil {
			t.Fatal(err)
		}
		return der
	}
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	good := write(&private.PublicKey)
	for name, text := range map[string][]byte{"DER": good,
		"PEM": pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: good})} {
		key, err := ParseKey(text)
		if err != nil || !strings.HasPrefix(key.String(), "rsa2048 sha256:") {
			t.Errorf("%s: %v, %v, want a key", name, key, err)
		}
	}
	for name, text := range map[string][]byte{"empty": nil, "text": []byte("key"), "a curve": write(&curve.PublicKey),
		"short": []byte(short), "cut": bytes.Clone(good[:100])} {
		if _, err := ParseKey(text); !errors.Is(err, ErrKey) {
			t.Errorf("%s: %v, want %v", name, err, ErrKey)
		}
	}
}

// short is a key of 1024 bits, made by openssl genrsa 1024.
const short = `-----BEGIN PUBLIC KEY-----
MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDbG8YdojXQhGL5Ny5bEWmVwMSp
N+RQeL/Q7trv02GUKxk25KRW3uIWNCLB2ZowwAexBzRBzJfmL5gVXEO05skyxr89
IxtlkMiTUeG0aRhjvOLbC3hFKH0SOHzVk8XKo6TPENC7UxUpaou1yXd8n46Mq2Gn
fr+5DAvrTzmGS2g33wIDAQAB
-----END PUBLIC KEY-----`

// The program is somebody else's: it gets no passphrase and no URL with a password from the service's environment.
func TestAProgramGetsNoVariablesOfTheService(t *testing.T) {
	t.Parallel()
	env := []string{"PATH=" + os.Getenv("PATH"), "BURSAR_PASSPHRASE=secret", "BURSAR_DATABASE=postgres://u:p@h/d",
		"SOFTHSM2_CONF=/etc/softhsm2.conf"}
	got, err := Open(t.Context(), []string{"env"}, env, "YQ==")
	if err != nil {
		t.Fatal(err)
	}
	if text := string(got); strings.Contains(text, "BURSAR_") ||
		!strings.Contains(text, "SOFTHSM2_CONF=/etc/softhsm2.conf") {
		t.Errorf("the program sees %q, want everything but variables of the service", text)
	}
}
