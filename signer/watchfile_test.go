package signer

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

func watchOnlyOf(t *testing.T, keys *Keys, count int) []byte {
	t.Helper()
	text, err := keys.ExportWatchOnly(count)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func otherKeys(t *testing.T) *Keys {
	t.Helper()
	return otherKeysOf(t, 9)
}

func otherKeysOf(t *testing.T, seed byte) *Keys {
	t.Helper()
	keys, err := KeysFromSeed(bytes.Repeat([]byte{seed}, 64), Testnet)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func TestAWatchOnlyFileGivesTheKeysOfTheSeed(t *testing.T) {
	t.Parallel()
	keys := otherKeys(t)
	text := watchOnlyOf(t, keys, 3)
	var indented bytes.Buffer
	if err := json.Indent(&indented, text, "", "  "); err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string][]byte{"as written": text, "indented": indented.Bytes()} {
		got, err := ReadWatchOnly(bytes.NewReader(file))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for family := range paths {
			for _, ref := range []chain.KeyRef{chain.Hot(family), {Family: family, Branch: chain.DepositBranch, Index: 2}} {
				want, err := keys.Public(ref)
				if err != nil {
					t.Fatal(err)
				}
				if pub, err := got.Public(ref); err != nil || !bytes.Equal(pub, want) {
					t.Errorf("%s: the key at %+v is %x (%v), want %x", name, ref, pub, err, want)
				}
			}
		}
		if !maps.Equal(got.Digests(), keys.Digests()) || len(got.Digests()) != len(paths) {
			t.Errorf("%s: the digests are %v, want %v", name, got.Digests(), keys.Digests())
		}
		_, err = got.Public(chain.KeyRef{Family: chain.FamilySolana, Branch: chain.DepositBranch, Index: 3})
		if !errors.Is(err, ErrNeedsSeed) || !strings.Contains(err.Error(), "lists 3 keys") {
			t.Errorf("%s: the key after the last gives %v, want %v that names 3 keys", name, err, ErrNeedsSeed)
		}
	}
}

// A file in which somebody put keys of their own is not read.
func TestAChangedWatchOnlyFileIsRefused(t *testing.T) {
	t.Parallel()
	keys, thief := otherKeys(t), otherKeysOf(t, 7)
	of := func(change func(*watchOnlyContent)) []byte {
		var file watchOnlyFile
		if err := json.Unmarshal(watchOnlyOf(t, keys, 2), &file); err != nil {
			t.Fatal(err)
		}
		var content watchOnlyContent
		err := json.Unmarshal(file.Content, &content)
		change(&content)
		if err == nil {
			file.Content, err = json.Marshal(content)
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(file)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	if _, err := ReadWatchOnly(bytes.NewReader(of(func(*watchOnlyContent) {}))); err != nil {
		t.Fatalf("an unchanged file gives %v, want no error", err)
	}
	stolen, err := thief.Public(chain.KeyRef{Family: chain.FamilySolana, Branch: chain.DepositBranch, Index: 1})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{
		"a listed key": of(func(c *watchOnlyContent) { c.Pool[chain.FamilySolana][1] = stolen }),
		"an account": of(func(c *watchOnlyContent) {
			c.Keys.Public.Accounts["bitcoin"] = thief.ExportPublic().Accounts["bitcoin"]
		}),
		"the hot wallet":     of(func(c *watchOnlyContent) { c.Keys.Hot[chain.FamilySolana] = stolen }),
		"another log's key":  of(func(c *watchOnlyContent) { c.Keys.LogKey = thief.LogKey() }),
		"no log's key":       of(func(c *watchOnlyContent) { c.Keys.LogKey = nil }),
		"a longer list":      of(func(c *watchOnlyContent) { c.Pool[bursar.Family("bitcoin")] = []chain.PublicKey{stolen} }),
		"not a file":         []byte("{}"),
		"the public keys":    []byte(`{"version":1,"network":"testnet"}`),
		"no content":         []byte(`{"version":1,"content":null,"signature":""}`),
		"nothing":            nil,
		"a cut off file":     watchOnlyOf(t, keys, 2)[:200],
		"another's prefix":   bytes.Replace(watchOnlyOf(t, keys, 2), []byte(`"version":1`), []byte(`"version":2`), 1),
		"another's contents": append([]byte{}, watchOnlyOf(t, keys, 2)[1:]...),
	} {
		if _, err := ReadWatchOnly(bytes.NewReader(text)); !errors.Is(err, ErrBadPublicKeys) {
			t.Errorf("%s: reading it gives %v, want %v", name, err, ErrBadPublicKeys)
		}
	}
}

// Even with a signature of the right key, a list must be of keys and of a family that has one.
func TestAListOfAWatchOnlyFileIsChecked(t *testing.T) {
	t.Parallel()
	keys := otherKeys(t)
	exported, err := keys.Export()
	if err != nil {
		t.Fatal(err)
	}
	for name, pool := range map[string]map[bursar.Family][]chain.PublicKey{
		"a short key":      {chain.FamilySolana: {make([]byte, 31)}},
		"of another curve": {"bitcoin": {make([]byte, 32)}},
	} {
		content, err := json.Marshal(watchOnlyContent{Keys: exported, Pool: pool})
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(watchOnlyFile{watchOnlyVersion, content,
			ed25519.Sign(keys.secret.open().logKey, watchOnlyText(content))})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ReadWatchOnly(bytes.NewReader(text)); !errors.Is(err, ErrBadPublicKeys) {
			t.Errorf("%s: reading it gives %v, want %v", name, err, ErrBadPublicKeys)
		}
	}
}
