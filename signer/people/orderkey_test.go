package people

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/orderkey"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/signer/memory"
)

var shop = bursar.ID{7}

// clientKey is the text that adds a client's key.
func clientKey(t *testing.T, instance string, seed byte, at time.Time) approval.OrderKey {
	t.Helper()
	k, err := orderkey.New(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize)).Public())
	if err != nil {
		t.Fatal(err)
	}
	return approval.OrderKey{Instance: instance, Account: shop, ID: k.ID(), Key: k.String(), Name: "shop", Created: at,
		Expires: at.Add(time.Hour), Nonce: approval.Nonce{seed, byte(at.Unix())}}
}

func keysOf(t *testing.T, keeper memory.Keeper) (list []memory.OrderKey) {
	t.Helper()
	err := keeper.Do(t.Context(), func(tx memory.Tx) (err error) {
		list, err = tx.OrderKeys(t.Context(), shop)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func apply(t *testing.T, keeper memory.Keeper, k approval.OrderKey, at time.Time, seeds ...byte) (Act, error) {
	t.Helper()
	return OrderKey(t.Context(), keeper, k.Text(), sign(t, approval.NamespaceOrderKey, k.Text(), seeds...), at)
}

// The authors add a client's key, of which the first counts at once and the next after the hold; anybody revokes one.
func TestAuthorsAddTheKeysOfClients(t *testing.T) {
	t.Parallel()
	file, instance := newFile(t)
	first := clientKey(t, instance, 51, noon)
	if _, err := apply(t, file, first, noon, 1, 2); !errors.Is(err, ErrNoPolicy) {
		t.Errorf("without a policy: got %v, want %v", err, ErrNoPolicy)
	}
	if _, err := install(t, file, policyOf(t, instance), noon, 1, 2); err != nil {
		t.Fatal(err)
	}
	other := first
	other.Instance = "ANOTHER"
	wrong := first
	wrong.ID = "00000000000000000000000000000000"
	for name, test := range map[string]struct {
		key   approval.OrderKey
		at    time.Time
		seeds []byte
		want  error
	}{
		"by one author":         {first, noon, []byte{1}, roster.ErrQuorum},
		"by an outsider":        {first, noon, []byte{9}, roster.ErrNobody},
		"of another signer":     {other, noon, []byte{1, 2}, ErrOther},
		"too late":              {first, noon.Add(time.Hour), []byte{1, 2}, ErrTime},
		"with the ID of no key": {wrong, noon, []byte{1, 2}, orderkey.ErrKey},
	} {
		if _, err := apply(t, file, test.key, test.at, test.seeds...); !errors.Is(err, test.want) ||
			len(keysOf(t, file)) > 0 {
			t.Errorf("%s: got %v, want %v", name, err, test.want)
		}
	}
	if act, err := apply(t, file, first, noon, 1, 2); err != nil || !act.From.Equal(noon) {
		t.Fatalf("the first: got %+v, %v, want it to count at once", act, err)
	}
	if _, err := apply(t, file, first, noon, 1, 2); !errors.Is(err, ErrUsed) {
		t.Errorf("again: got %v, want %v", err, ErrUsed)
	}
	second := clientKey(t, instance, 52, noon)
	if act, err := apply(t, file, second, noon, 2, 3); err != nil || !act.From.Equal(noon.Add(48*time.Hour)) {
		t.Errorf("the second: got %+v, %v, want the hold of 48 h", act, err)
	}
	revoked := first
	revoked.Revoke, revoked.Key, revoked.Name, revoked.Nonce = true, "", "", approval.Nonce{77}
	if act, err := apply(t, file, revoked, noon, 3); err != nil || len(act.By) != 1 {
		t.Fatalf("revoked by one person: got %+v, %v, want 1 of them", act, err)
	}
	back := clientKey(t, instance, 51, noon.Add(time.Second))
	if _, err := apply(t, file, back, noon.Add(time.Second), 1, 2); err == nil {
		t.Error("a key that was revoked came back, want an error")
	}
	list := keysOf(t, file)
	if len(list) != 2 || list[0].Revoked.IsZero() || list[0].ID != first.ID || !list[1].Revoked.IsZero() {
		t.Errorf("got %+v, want the first revoked and the second waiting", list)
	}
}

// Where nobody signed a policy, anyone who is at the signer's machine adds keys; where somebody did, nobody does alone.
func TestKeysOnTheMachine(t *testing.T) {
	t.Parallel()
	file, instance := newFile(t)
	add := func(k approval.OrderKey, at time.Time) (time.Time, error) {
		return KeyOnMachine(t.Context(), file, k, 24*time.Hour, "ann", at)
	}
	first, second := clientKey(t, instance, 51, noon), clientKey(t, instance, 52, noon)
	if from, err := add(first, noon); err != nil || !from.Equal(noon) {
		t.Fatalf("the first: got %s, %v, want it to count at once", from, err)
	}
	if from, err := add(second, noon); err != nil || !from.Equal(noon.Add(24*time.Hour)) {
		t.Fatalf("the second: got %s, %v, want the hold of a day", from, err)
	}
	if _, err := add(clientKey(t, instance, 53, noon), noon.Add(-time.Hour)); err == nil {
		t.Error("with a clock that was set back: got a key, want an error")
	}
	nobodys := clientKey(t, instance, 54, noon)
	nobodys.Account = bursar.ID{}
	if _, err := add(nobodys, noon); err == nil {
		t.Error("of no account: got a key, want an error")
	}
	first.Revoke = true
	if _, err := add(first, noon); err != nil {
		t.Fatal(err)
	}
	if _, err := add(first, noon); err == nil {
		t.Error("revoked twice: got nothing, want an error")
	}
	if _, err := install(t, file, policyOf(t, instance), noon, 1, 2); err != nil {
		t.Fatal(err)
	}
	if _, err := add(clientKey(t, instance, 55, noon), noon); !errors.Is(err, ErrPolicy) {
		t.Errorf("with a policy: got %v, want %v", err, ErrPolicy)
	}
	entries := 0
	err := file.Do(t.Context(), func(tx memory.Tx) error {
		head, err := tx.Head(t.Context())
		for n := int64(1); err == nil && n <= head.Number; n++ {
			e, _, failed := tx.Entry(context.Background(), n)
			if err = failed; e.Kind == memory.KindOrderKey {
				entries++
			}
		}
		return err
	})
	if err != nil || entries != 3 {
		t.Errorf("the log has %d entries of keys, %v, want 3", entries, err)
	}
}

// The attack: anyone who is at the signer's machine removes the state, and with it the policy that has its authors sign
// clients' keys, and gives an account a key of their own.
func TestNoKeyIsAddedOnTheMachineWhileThePolicyIsLost(t *testing.T) {
	t.Parallel()
	file, instance := newFile(t)
	known := memory.KnownPolicy{Version: 3, Hash: approval.HashOf("gone").String()}
	if lost, err := KnowPolicy(t.Context(), file, known, noon); err != nil || !lost {
		t.Fatalf("got %t, %v, want the policy lost", lost, err)
	}
	k := clientKey(t, instance, 51, noon)
	if _, err := KeyOnMachine(t.Context(), file, k, 0, "ann", noon); !errors.Is(err, ErrLost) {
		t.Errorf("got %v, want %v", err, ErrLost)
	}
	if list := keysOf(t, file); len(list) > 0 {
		t.Errorf("got %+v, want no key", list)
	}
}
