package signer_test

import (
	"bytes"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/signer"
)

// A service without the seed seals the books with the same key as one with it, and the key is not a webhook secret.
func TestBooksKey(t *testing.T) {
	keys, err := signer.KeysFromSeed(bytes.Repeat([]byte{7}, 64), signer.Testnet)
	if err != nil {
		t.Fatal(err)
	}
	exported, err := keys.Export()
	if err != nil {
		t.Fatal(err)
	}
	watchOnly, err := signer.FromKeyExport(exported)
	if err != nil {
		t.Fatal(err)
	}
	key := keys.BooksKey()
	if len(key) != 32 || !bytes.Equal(key, watchOnly.BooksKey()) {
		t.Errorf("the keys are %x and %x", key, watchOnly.BooksKey())
	}
	other, err := signer.KeysFromSeed(bytes.Repeat([]byte{8}, 64), signer.Testnet)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(key, other.BooksKey()) || bytes.Equal(key, keys.WebhookSecret(bursar.ID{}, 0)) ||
		bytes.Equal(key, exported.WebhookRoot) {
		t.Error("the key is one that others have")
	}
}
