package people

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/sshsig"
)

func keyOf(t *testing.T, seed byte) ssh.Signer {
	t.Helper()
	signer, err := ssh.NewSignerFromKey(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, 32)))
	if err != nil {
		t.Fatal(err)
	}
	return signer
}

func sign(t *testing.T, namespace, text string, seeds ...byte) (list []string) {
	t.Helper()
	for _, seed := range seeds {
		s, err := sshsig.Sign(keyOf(t, seed), namespace, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, s)
	}
	return list
}

// newFile returns a memory in a file and its instance.
func newFile(t *testing.T) (*memory.File, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state")
	if err := memory.Create(t.Context(), path, memory.Init{Fingerprint: "seed", At: noon}); err != nil {
		t.Fatal(err)
	}
	file, err := memory.Open(t.Context(), path, "seed")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	var instance string
	err = file.Do(t.Context(), func(tx memory.Tx) error {
		state, err := tx.State(t.Context())
		instance = state.Instance
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return file, instance
}

func policyOf(t *testing.T, instance string) roster.Policy {
	t.Helper()
	p := roster.Policy{Instance: instance, Network: "mainnet", Version: 1, Created: noon, NotBefore: noon, Authors: 2,
		Destinations: 2, Hold: 48 * time.Hour, Reference: "EUR"}
	for i, name := range []string{"ann", "bob", "cat"} {
		key, err := sshsig.NewKey(keyOf(t, byte(i+1)).PublicKey())
		if err != nil {
			t.Fatal(err)
		}
		p.People = append(p.People, roster.Person{Name: name, Until: noon.AddDate(1, 0, 0),
			Roles: []string{roster.RoleApprover, roster.RoleAuthor}, Keys: []sshsig.Key{key}})
	}
	return p
}

func install(t *testing.T, keeper memory.Keeper, p roster.Policy, at time.Time, seeds ...byte) (Act, error) {
	t.Helper()
	return Install(t.Context(), keeper, p.Text(), sign(t, approval.NamespacePolicy, p.Text(), seeds...),
		Here{Network: "mainnet", Clock: at})
}

// versionAt returns the version in force; -1 is none, 0 is one that has not started.
func versionAt(t *testing.T, keeper memory.Keeper, at time.Time) (version int64) {
	t.Helper()
	err := keeper.Do(t.Context(), func(tx memory.Tx) error {
		p, found, err := InForce(t.Context(), tx, at)
		if version = p.Version; !found {
			version = -1
		}
		if errors.Is(err, ErrNoPolicy) {
			return nil
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return version
}
