package signer

import (
	"errors"
	"testing"

	"github.com/bursar/bursar/chain"
)

// The key of the signer's log signs every key of every epoch, and which one is in force.
func TestTheEpochsOfAnExportAreSigned(t *testing.T) {
	export := func() KeyExport {
		keys := seedOf(t, 1)
		if err := errors.Join(keys.Add(seedOf(t, 2)), keys.Begin(1)); err != nil {
			t.Fatal(err)
		}
		h, err := keys.Export()
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	if err := export().VerifyEpochs(); err != nil {
		t.Errorf("as exported: %v, want nil", err)
	}
	other, err := seedOf(t, 3).Export()
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*KeyExport){
		"an earlier epoch": func(h *KeyExport) { h.Public.Epoch = 0 },
		"another epoch":    func(h *KeyExport) { h.Public.Epoch = 2 },
		"one seed more":    func(h *KeyExport) { h.Public.Later = append(h.Public.Later, other.Public) },
		"another seed":     func(h *KeyExport) { h.Public.Later[0] = other.Public },
		"another account": func(h *KeyExport) {
			h.Public.Later[0].Accounts[chain.FamilyEVM] = other.Public.Accounts[chain.FamilyEVM]
		},
		"another first key": func(h *KeyExport) {
			h.Public.Accounts[chain.FamilyEVM] = other.Public.Accounts[chain.FamilyEVM]
		},
		"another hot key":   func(h *KeyExport) { h.Hot[chain.FamilySolana] = other.Hot[chain.FamilySolana] },
		"another later hot": func(h *KeyExport) { h.Public.Later[0].Hot[chain.FamilySolana] = other.Hot[chain.FamilySolana] },
		"another network":   func(h *KeyExport) { h.Public.Network = Mainnet },
		"another log's key": func(h *KeyExport) { h.LogKey = other.LogKey },
		"no signature":      func(h *KeyExport) { h.Epochs = nil },
		"no key of a log":   func(h *KeyExport) { h.LogKey = nil },
		"another signature": func(h *KeyExport) { h.Epochs = other.Epochs },
	} {
		h := export()
		change(&h)
		if err := h.VerifyEpochs(); !errors.Is(err, ErrBadPublicKeys) {
			t.Errorf("%s: got %v, want %v", name, err, ErrBadPublicKeys)
		}
	}
	if err := other.VerifyEpochs(); err != nil {
		t.Errorf("the first seed alone: %v, want nil", err)
	}
}

// A database is bound to the keys of epochs that have begun. A seed that is only prepared may be replaced by another.
func TestAPreparedSeedIsNotPinned(t *testing.T) {
	keys := seedOf(t, 1)
	alone := len(keys.Digests())
	if err := keys.Add(seedOf(t, 2)); err != nil {
		t.Fatal(err)
	}
	if got := len(keys.Digests()); got != alone {
		t.Errorf("a prepared seed: %d digests, want the %d of the first", got, alone)
	}
	if err := keys.Begin(1); err != nil {
		t.Fatal(err)
	}
	if got := len(keys.Digests()); got != 2*alone {
		t.Errorf("once it has begun: %d digests, want %d", got, 2*alone)
	}
}
