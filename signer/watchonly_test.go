package signer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// watchOnly returns keys and what a service without the seed derives from their export, sent as JSON.
func watchOnly(t *testing.T) (*Keys, *WatchOnly) {
	t.Helper()
	keys, err := KeysFromSeed(bytes.Repeat([]byte{7}, 32), Testnet)
	if err != nil {
		t.Fatal(err)
	}
	h, err := keys.Export()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	var taken KeyExport
	if err := json.Unmarshal(text, &taken); err != nil {
		t.Fatal(err)
	}
	s, err := FromKeyExport(taken)
	if err != nil {
		t.Fatal(err)
	}
	return keys, s
}

func TestAKeyExportDerivesWhatTheSeedDoes(t *testing.T) {
	t.Parallel()
	keys, s := watchOnly(t)
	if s.Fingerprint() != keys.Fingerprint() ||
		!bytes.Equal(s.WebhookSecret(bursar.ID{1}, 2), keys.WebhookSecret(bursar.ID{1}, 2)) {
		t.Error("fingerprint or webhook secret differ")
	}
	for family := range paths {
		for _, ref := range []chain.KeyRef{chain.Hot(family), {Family: family, Branch: chain.DepositBranch, Index: 5}} {
			want, err := keys.Public(ref)
			if err != nil {
				t.Fatal(err)
			}
			got, err := s.Public(ref)
			if paths[family].Curve == chain.Ed25519 && ref.Branch == chain.DepositBranch {
				if !errors.Is(err, ErrNeedsSeed) {
					t.Errorf("%v: %v, want %v", ref, err, ErrNeedsSeed)
				}
				continue
			}
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%v is %x, want %x (%v)", ref, got, want, err)
			}
		}
	}
}

func TestAKeyExportIsChecked(t *testing.T) {
	t.Parallel()
	keys, s := watchOnly(t)
	for name, spoil := range map[string]func(*KeyExport){
		"no root":      func(h *KeyExport) { h.WebhookRoot = nil },
		"a short root": func(h *KeyExport) { h.WebhookRoot = h.WebhookRoot[1:] },
		"no keys":      func(h *KeyExport) { h.Public = PublicKeys{} },
	} {
		h, _ := keys.Export()
		spoil(&h)
		if _, err := FromKeyExport(h); !errors.Is(err, ErrBadPublicKeys) {
			t.Errorf("%s: %v, want %v", name, err, ErrBadPublicKeys)
		}
	}
	h, _ := keys.Export()
	if text := fmt.Sprintf("%v %+v %#v %s", s, *s, s, s); strings.Contains(text, fmt.Sprintf("%x", h.WebhookRoot)) ||
		strings.Contains(text, fmt.Sprint(h.WebhookRoot)) {
		t.Errorf("the webhook root is printed, want no %v and no %v", fmt.Sprintf("%x", h.WebhookRoot),
			fmt.Sprint(h.WebhookRoot))
	}
}
