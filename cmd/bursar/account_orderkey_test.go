package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/signer/command"
)

func (d *harness) orderKey(seed byte) string {
	d.Helper()
	der, err := x509.MarshalPKIXPublicKey(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize)).Public())
	if err != nil {
		d.Fatal(err)
	}
	path := filepath.Join(d.TempDir(), "key.pem")
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), 0o600); err != nil {
		d.Fatal(err)
	}
	return path
}

// A key goes to the service and to the signer of the same configuration; each says what the other does not know.
func TestKeysOfOrders(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t, "withdrawals: {destination_hold: 2h}")
	d.ok("signer", "init", "--unused")
	id := parse[createdAccount](d, "account", "create", "--name", "shop", "--json").AccountID.String()
	if got := d.ok("account", "order-key", "add", id, d.orderKey(1), "--name", "shop"); !strings.Contains(got,
		"The service takes the key ") || !strings.Contains(got, "The signer takes the key ") {
		t.Errorf("added: %s, want %q in it and %q in it", got, "The service takes the key ", "The signer takes the key ")
	}
	d.ok("account", "order-key", "add", id, d.orderKey(2), "--name", "backup")
	d.fails(exitFailed, "already", "account", "order-key", "add", id, d.orderKey(1), "--name", "again")
	d.fails(exitFailed, "small letters", "account", "order-key", "add", id, d.orderKey(3), "--name", "A key")
	d.fails(exitFailed, "there is no account", "account", "order-key", "add", "0193a6a0-0000-7000-8000-000000000000",
		d.orderKey(3), "--name", "shop")
	d.fails(exitFailed, "not a public key", "account", "order-key", "add", id, filepath.Join(d.dir, "bursar.yaml"),
		"--name",
		"shop")

	listed := parse[[]listedOrderKey](d, "account", "order-key", "list", id, "--json")
	atSigner := parse[[]command.SignersOrderKey](d, "signer", "order-key", "list", "--json")
	if len(listed) != 2 || len(atSigner) != 2 || listed[0].KeyID != atSigner[0].ID || listed[1].KeyID != atSigner[1].ID {
		t.Fatalf("the service has %+v, the signer %+v, want the same two keys", listed, atSigner)
	}
	if wait := atSigner[1].From.Sub(atSigner[0].From); wait < 2*time.Hour ||
		listed[1].UsableFrom.Sub(listed[1].CreatedAt) != 2*time.Hour {
		t.Errorf("the second key waits for %s at the signer, want the hold of 2h", wait)
	}
	if got := d.ok("account", "order-key", "revoke", id, listed[0].KeyID); !strings.Contains(got,
		"The service does not take") ||
		!strings.Contains(got, "The signer does not take") {
		t.Errorf("revoked: %s, want %q in it and %q in it", got, "The service does not take", "The signer does not take")
	}
	d.fails(exitFailed, "is not revoked", "account", "order-key", "revoke", id, listed[0].KeyID)
	d.ok("signer", "order-key", "revoke", id, listed[1].KeyID)
	for _, k := range parse[[]command.SignersOrderKey](d, "signer", "order-key", "list", "--json") {
		if k.RevokedAt == nil {
			t.Errorf("%s is not revoked at the signer", k.ID)
		}
	}
}

// Where the signer has no state, the command says what is left to do.
func TestKeysOfOrdersBeforeTheSigner(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t)
	id := parse[createdAccount](d, "account", "create", "--name", "shop", "--json").AccountID.String()
	o := d.run("", "account", "order-key", "add", id, d.orderKey(1), "--name", "shop")
	if o.code != 0 || !strings.Contains(o.err, "The signer has no state yet") {
		t.Errorf("without a state: got %+v, want a note", o)
	}
}
