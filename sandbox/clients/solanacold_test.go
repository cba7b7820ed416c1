package clients

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"testing"

	"github.com/bursar/bursar/sandbox/litesvm"
	"github.com/bursar/bursar/signer"
)

const sol = 1_000_000_000

// LiteSVM executes what a seed and a device signed offline, advances the nonce, and refuses a second transaction with
// the same one. @solana/web3.js 1.98 reads in the bytes what we meant, to the same bytes, signs as the device, and
// knows the state of a nonce account as we do.
func TestSolanaColdAccountsRefill(t *testing.T) {
	t.Parallel()
	folder, err := Folder()
	if testing.Short() {
		t.Skip("needs Node.js, LiteSVM and the client libraries")
	}
	m := newMachine(t)
	m.must(err)
	seed := bytes.Repeat([]byte{0x22}, 32)
	device := base58Of(ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey))
	m.must(m.vm.Set(litesvm.Account{Key: raw58(device), Lamports: 20 * sol, Owner: make([]byte, 32)}))
	one, state := m.nonce(1, m.bases[1])
	two, _ := m.nonce(2, device)
	first, other := m.refill(m.bases[1], one, 5*sol), m.refill(device, two, 6*sol)
	unsigned := m.build(first)
	signed, err := m.keys[1].SignRefill(m.chain, first, m.bases[0], unsigned)
	m.must(err)
	alone := m.build(other)
	var said struct {
		Read []struct {
			Version, Payer, Nonce, Account, Authority, From, To, Lamports, Again, Signed string
			Tables, Count                                                                int
			Verified                                                                     bool
		}
		Device, Authority, Nonce string
		Size                     int
		Made                     bool
	}
	text := base64.StdEncoding.EncodeToString
	readBy(t, folder, "solanacold.mjs", map[string]any{"device": hex.EncodeToString(seed),
		"all":    []string{text(signed), text(alone)},
		"nonces": map[string]any{"account": one, "authority": m.bases[1], "data": text(state)}}, &said)
	if said.Size != len(state) || !said.Made || said.Authority != m.bases[1] || said.Nonce != base58Of(state[40:72]) ||
		said.Device != device {
		t.Errorf("web3.js: got %+v, want the state of nonce account %s", said, one)
	}
	for i, data := range [][]byte{signed, alone} {
		r := []signer.Refill{first, other}[i]
		want, nonce := r.Wallet.Addresses[0], base58Of(bytes.Repeat([]byte{byte(i + 1)}, 32))
		got := said.Read[i]
		if got.Version != "0" || got.Tables != 0 || got.Count != 4 || got.Payer != want || got.Authority != want ||
			got.From != want || got.To != m.bases[0] || got.Account != r.Wallet.NonceAccount || got.Nonce != nonce ||
			got.Lamports != r.Payment.Amount.String() || got.Again != text(data) || got.Verified != (i == 0) {
			t.Errorf("%d: web3.js reads %+v, want %s from %s with nonce %s", i, got, r.Payment.Amount, want, nonce)
		}
	}
	m.arrives(first, signed)
	copied, err := base64.StdEncoding.DecodeString(said.Read[1].Signed)
	m.must(err)
	whole, err := m.chain.CombineCold(other.Wallet, alone, copied)
	m.must(err)
	m.arrives(other, whole)
	m.revokes(m.refill(m.bases[1], one, 2*sol), m.refill(m.bases[1], one, 3*sol))
}

// revokes builds two refills with one nonce: one of them is executed, and the other can never be.
func (m *machine) revokes(old, next signer.Refill) {
	m.Helper()
	var all [][]byte
	for _, r := range []signer.Refill{old, next} {
		data, err := m.keys[1].SignRefill(m.chain, r, m.bases[0], m.build(r))
		m.must(err)
		all = append(all, data)
	}
	m.arrives(next, all[1])
	late, err := m.chain.FinishCold(old.Wallet, all[0])
	m.must(err)
	if err := m.chain.Broadcast(m.Context(), late); err == nil {
		m.Error("the other is executed too, want a refusal")
	}
	if again := m.build(old); bytes.Equal(again[65:], all[0][65:]) {
		m.Error("got the same nonce again, want the next")
	}
}
