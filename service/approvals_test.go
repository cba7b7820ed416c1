package service_test

import (
	"bytes"
	"crypto/ed25519"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/signer/people"
	"github.com/bursar/bursar/sshsig"
	"github.com/bursar/bursar/store/storetest"
)

// installed returns a memory with a policy, and the policy's text.
func installed(t *testing.T) (*memory.RAM, string) {
	t.Helper()
	keeper, now := memory.NewRAM(), time.Now().UTC().Truncate(time.Second)
	key, err := ssh.NewSignerFromKey(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, 32)))
	if err != nil {
		t.Fatal(err)
	}
	public, err := sshsig.NewKey(key.PublicKey())
	if err != nil {
		t.Fatal(err)
	}
	var instance string
	err = keeper.Do(t.Context(), func(tx memory.Tx) error {
		state, err := tx.State(t.Context())
		instance = state.Instance
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	text := roster.Policy{Instance: instance, Network: "testnet", Version: 1, Created: now, NotBefore: now, Authors: 1,
		Destinations: 1, Reference: "EUR", People: []roster.Person{{Name: "ann", Until: now.AddDate(1, 0, 0),
			Roles: []string{roster.RoleApprover, roster.RoleAuthor}, Keys: []sshsig.Key{public}}}}.Text()
	signature, err := sshsig.Sign(key, approval.NamespacePolicy, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := people.Install(t.Context(), keeper, text, []string{signature},
		people.Here{Network: "testnet", Clock: time.Now()}); err != nil {
		t.Fatal(err)
	}
	return keeper, text
}

// The operator's listener shows the signer's policy and what waits, and takes nothing that carries no proof.
func TestApprovalsAtTheOperatorsListener(t *testing.T) {
	t.Parallel()
	keys, err := signer.KeysFromSeed(make([]byte, 64), signer.Testnet)
	if err != nil {
		t.Fatal(err)
	}
	registry, err := bursar.NewRegistry([]bursar.Currency{{Code: "COIN", Chain: bursar.Bitcoin, Decimals: 8, Places: 8}})
	if err != nil {
		t.Fatal(err)
	}
	keeper, text := installed(t)
	s, err := service.New(service.Parts{DB: storetest.Open(t, storetest.Reused(t)), Keys: keys, Registry: registry,
		Pace: 10 * time.Millisecond, Holder: "a", Memory: keeper, AdminListen: "127.0.0.1:0",
		Chains: []service.ChainPart{{Chain: sim.New(sim.Config{ID: bursar.Bitcoin, Family: "bitcoin"}),
			MaxFee: bursar.Units(1)}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Listen(); err != nil {
		t.Fatal(err)
	}
	run(t, s)
	url := s.Address("admin") + "/approvals"
	eventually(t, "the policy is shown", func() bool {
		return strings.Contains(get(t, url), strings.ReplaceAll(text, "\n", `\n`)) &&
			strings.Contains(get(t, url), `"orders":[]`)
	})
	for name, test := range map[string]struct {
		kind, body string
		status     int
		says       string
	}{
		"what a page can send": {"text/plain", `{"text":"","signature":""}`, http.StatusUnsupportedMediaType,
			"application/json"},
		"no JSON": {"application/json", "yes", http.StatusBadRequest, "cannot be read"},
		"more than it knows": {"application/json", `{"text":"","signature":"","force":true}`, http.StatusBadRequest,
			"cannot be read"},
		"no approval": {"application/json", `{"text":"yes","signature":""}`, http.StatusUnprocessableEntity,
			"does not match a waiting payment"},
		"too much": {"application/json", `{"text":"` + strings.Repeat("a", 70_000) + `"}`, http.StatusBadRequest,
			"cannot be read"},
	} {
		answer, err := http.Post(url, test.kind, strings.NewReader(test.body))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || answer.StatusCode != test.status || !strings.Contains(string(body), test.says) {
			t.Errorf("%s: got %d: %s (%v), want %d: %s", name, answer.StatusCode, body, err, test.status, test.says)
		}
	}
}
