package bursar_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/bursar/bursar"
)

func TestAColdWalletIsComplete(t *testing.T) {
	t.Parallel()
	multi := bursar.ColdWallet{
		Chain:      bursar.Bitcoin,
		Name:       "vault",
		Kind:       bursar.ColdDescriptor,
		Addresses:  []string{"a", "b"},
		Descriptor: "wsh(sortedmulti(2,A,B,C))#x",
	}
	if err := multi.Check(bursar.ColdDescriptor); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		of     bursar.ColdKind
		change func(*bursar.ColdWallet)
		want   string
	}{
		{bursar.ColdDescriptor, func(w *bursar.ColdWallet) { w.Name = "Vault" }, "name"},
		{bursar.ColdDescriptor, func(w *bursar.ColdWallet) { w.Kind = bursar.ColdSafe }, "none of kind"},
		{bursar.ColdSafe, func(*bursar.ColdWallet) {}, "none of kind"},
		{bursar.ColdDescriptor, func(w *bursar.ColdWallet) { w.Kind = "paper" }, "none of kind"},
		{bursar.ColdDescriptor, func(w *bursar.ColdWallet) { w.Addresses = nil }, "lists no address"},
		{bursar.ColdDescriptor, func(w *bursar.ColdWallet) { w.Addresses = []string{"a", "a"} }, "twice"},
		{bursar.ColdDescriptor, func(w *bursar.ColdWallet) { w.Descriptor = "" }, "descriptor is required"},
		{bursar.ColdDescriptor, func(w *bursar.ColdWallet) { w.PermissionID = 2 }, "of the kind permission"},
		{bursar.ColdDescriptor, func(w *bursar.ColdWallet) { w.Executor = "a" }, "executor is of the kind safe"},
		{bursar.ColdDescriptor, func(w *bursar.ColdWallet) {
			w.Kind, w.Descriptor = bursar.ColdAddress, ""
		}, "more than one address"},
		{bursar.ColdPermission, func(w *bursar.ColdWallet) {
			*w = bursar.ColdWallet{Name: "v", Kind: bursar.ColdPermission, Addresses: []string{"a"}, PermissionID: 1}
		}, "2 to 9"},
		{bursar.ColdNonce, func(w *bursar.ColdWallet) {
			*w = bursar.ColdWallet{Name: "v", Kind: bursar.ColdNonce, Addresses: []string{"a"}}
		}, "nonce_account is required"},
	} {
		w := multi
		c.change(&w)
		err := w.Check(c.of)
		if !errors.Is(err, bursar.ErrBadColdWallet) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got %v, want an error about %q", w, err, c.want)
		}
	}
	for n, want := range []string{"a", "b", "b"} {
		if got := multi.Next(n); got != want {
			t.Errorf("payment %d goes to %s, want %s", n, got, want)
		}
	}
	if !multi.Has("b") || multi.Has("c") {
		t.Errorf("it has b: %v, and c: %v; want true and false", multi.Has("b"), multi.Has("c"))
	}
}
