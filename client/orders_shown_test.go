package client

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"testing"
)

// Anyone who prints what a client is configured with prints no key.
func TestPrintedOrdersShowNoKey(t *testing.T) {
	t.Parallel()
	o := Orders{Key: ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize)), Account: "a"}
	for _, form := range []string{"%v", "%+v", "%#v"} {
		for _, shown := range []string{fmt.Sprintf(form, o), fmt.Sprintf(form, &o)} {
			if want := "orders of account a"; shown != want {
				t.Errorf("%s: got %q, want %q", form, shown, want)
			}
		}
	}
}
