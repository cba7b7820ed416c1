package orderkey_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/asn1"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/client"
	"github.com/bursar/bursar/orderkey"
)

// order is an order with every kind of value.
func order() approval.Order {
	return approval.Order{Instance: "K7QJ3ZL2M5XW4RT6P8YN9VBHCD", Account: bursar.ID{1}, ID: bursar.ID{2}, Chain: "xrpl",
		Contract: "USD.rvYAfWj5gh67oV6fW32ZzP3Aw4Eubs59B",
		To:       bursar.Address{Base: "rDTXLQ7ZKZVKz33zJbHjgVShjsBnqMBhmN", Memo: 7, HasMemo: true},
		Units:    bursar.Units(1_500_000), MaxFee: bursar.Units(50),
		Created: time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC), Expires: time.Date(2026, 11, 24, 13, 0, 0, 0, time.UTC)}
}

// needs skips or fails a test without a program.
func needs(t *testing.T, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		if testing.Short() {
			t.Skipf("%s is not installed", name)
		}
		t.Fatalf("this test needs %s, or -short leaves it out", name)
	}
}

// keyFile writes a new private key in PKCS #8.
func keyFile(t *testing.T, kind string) (path string, key orderkey.Key, private any) {
	t.Helper()
	var public any
	var err error
	if kind == "P-256" {
		made, failed := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err = failed; err == nil {
			public, private = made.Public(), made
		}
	} else {
		public, private, err = ed25519.GenerateKey(rand.Reader)
	}
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "key.pem")
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	if key, err = orderkey.New(public); err != nil {
		t.Fatal(err)
	}
	return path, key, private
}

func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, args...).Output()
	if err != nil {
		t.Fatalf("%s %v: %v", name, args, err)
	}
	return string(out)
}

// Node 20, by examples/order-js alone: the same text, a signature that verifies, and the same ID of the key.
func TestNodeSignsOrders(t *testing.T) {
	t.Parallel()
	needs(t, "node")
	for _, kind := range []string{"ed25519", "P-256"} {
		path, key, _ := keyFile(t, kind)
		o := order()
		fields := map[string]string{"instance": o.Instance, "account": o.Account.String(), "order": o.ID.String(),
			"chain": string(o.Chain), "asset": o.Contract, "pay": o.To.Base, "tag": "7", "units": o.Units.String(),
			"max_fee": o.MaxFee.String(), "created": approval.Moment(o.Created), "expires": approval.Moment(o.Expires)}
		text, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		payment := filepath.Join(t.TempDir(), "payment.json")
		if err := os.WriteFile(payment, text, 0o600); err != nil {
			t.Fatal(err)
		}
		var signed struct{ Text, Signature string }
		if err := json.Unmarshal([]byte(output(t, "node", "../examples/order-js/order.mjs", path, payment)),
			&signed); err != nil {
			t.Fatal(err)
		}
		if read, err := approval.ParseOrder(signed.Text); err != nil || read != o {
			t.Errorf("%s: got %+v, %v, want %+v", kind, read, err, o)
		}
		s, err := orderkey.ParseSignature(signed.Signature)
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		if err := key.Verify(signed.Text, s); err != nil {
			t.Errorf("%s: got %v, want it to verify", kind, err)
		}
	}
}

// OpenSSL 3: it verifies what the client signs, and signs what this package verifies. Its ECDSA is in ASN.1.
func TestOpenSSLSignsOrders(t *testing.T) {
	t.Parallel()
	needs(t, "openssl")
	text := order().Text()
	message := filepath.Join(t.TempDir(), "order.txt")
	if err := os.WriteFile(message, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"ed25519", "P-256"} {
		path, key, private := keyFile(t, kind)
		public := output(t, "openssl", "pkey", "-in", path, "-pubout")
		if got, err := orderkey.ParsePEM(public); err != nil || got != key {
			t.Errorf("%s: got %s, %v, want %s", kind, got, err, key)
		}
		args := []string{"pkeyutl", "-rawin", "-in", message}
		if kind == "P-256" {
			args = append(args, "-digest", "sha256")
		}
		made := []byte(output(t, "openssl", append(args, "-sign", "-inkey", path)...))
		if kind == "P-256" {
			made = fixed(t, made)
		}
		s, err := orderkey.ParseSignature(key.ID() + ":" + base64.StdEncoding.EncodeToString(made))
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		if err := key.Verify(text, s); err != nil {
			t.Errorf("%s: got %v, want it to verify", kind, err)
		}
		if kind == "P-256" {
			continue // its other direction is the standard library's
		}
		header, err := client.SignOrder(private.(ed25519.PrivateKey), text)
		if err != nil {
			t.Fatal(err)
		}
		_, encoded, _ := strings.Cut(header, ":")
		raw, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			t.Fatal(err)
		}
		signature := filepath.Join(t.TempDir(), "signature")
		if err := os.WriteFile(signature, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := output(t, "openssl",
			append(args, "-verify", "-inkey", path, "-sigfile", signature)...); !strings.Contains(got, "Successfully") {
			t.Errorf("%s: OpenSSL says %q, want that it verified", kind, got)
		}
	}
}

// fixed turns the ASN.1 of ECDSA into two numbers of 32 bytes.
func fixed(t *testing.T, der []byte) []byte {
	t.Helper()
	var parts struct{ R, S *big.Int }
	if _, err := asn1.Unmarshal(der, &parts); err != nil {
		t.Fatal(err)
	}
	made := make([]byte, 64)
	parts.R.FillBytes(made[:32])
	parts.S.FillBytes(made[32:])
	return made
}

// A signature that was made once verifies for ever: of ed25519 it is the same each time.
func TestAVectorOfEd25519(t *testing.T) {
	t.Parallel()
	key := ed25519.NewKeyFromSeed([]byte(strings.Repeat("\x01", ed25519.SeedSize)))
	got, err := client.SignOrder(key, order().Text())
	if err != nil || got != vector {
		t.Errorf("got %s, %v, want %s", got, err, vector)
	}
}

// vector was made by Go 1.26 and verifies with OpenSSL 3.0.
const vector = "fd110d301d2f077de1414b8f99f441b1:" +
	"ilgl/M8DcG8buN6I417A49h4OLHqcmEKa6UYRAlzTOGRwQqbSo8rsTnQdYiZphmuSyyY9+QD7eA2J30sjFjhAg=="
