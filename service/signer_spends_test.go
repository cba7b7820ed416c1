package service

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// The signer is notified of each external spend once, and not of a nonce that may still be explained, nor of a
// recovery.
func TestTheSignerIsNotifiedOfExternalSpends(t *testing.T) {
	t.Parallel()
	registry, err := bursar.NewRegistry(nil)
	if err != nil {
		t.Fatal(err)
	}
	halt := func(id bursar.ChainID, kind store.HaltKind, ref string) store.Halt {
		return store.Halt{Scope: store.HaltChain(id), Kind: kind, Ref: ref, Reason: "because of " + ref}
	}
	h := haltsOf(5, []store.Halt{
		halt(bursar.Ethereum, store.HaltByExternalSpend, "0xaa"),
		halt(bursar.BSC, store.HaltByExternalSpend, "0xaa"), // which shares the key
		halt(bursar.Ethereum, store.HaltByExternalSpend, bursar.ID{7}.String()),
		halt(bursar.Bitcoin, store.HaltByOperator, "bb"),
		halt(bursar.Bitcoin, store.HaltByRecovery, "cc"),
	}, registry)
	if len(h.Spends) != 1 || h.Spends[0].Ref != "0xaa" || h.Spends[0].Reason != "because of 0xaa" || h.Number != 5 {
		t.Errorf("got %+v, want 0xaa alone", h.Spends)
	}
}
