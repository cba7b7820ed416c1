package clients

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
	adapter "github.com/bursar/bursar/chain/tron"
	"github.com/bursar/bursar/sandbox/nodes/tron"
	"github.com/bursar/bursar/signer"
)

// tronHarness is a node of Tron with the hot wallet of the first seed.
type tronHarness struct {
	*testing.T
	node  *tron.Node
	chain *adapter.Chain
	keys  []*signer.Keys
	bases []string
}

func newTronHarness(t *testing.T) *tronHarness {
	t.Helper()
	v := &tronHarness{T: t}
	var err error
	v.node, err = tron.Start(t.Context(), tron.Config{})
	v.must(err)
	t.Cleanup(func() { _ = v.node.Close() }) // it keeps nothing
	v.chain, err = adapter.New(adapter.Config{Tokens: []adapter.Token{{Contract: v.node.Token(), Decimals: 6}}},
		rpc.Config{URLs: []string{v.node.URL()}})
	v.must(err)
	t.Cleanup(v.chain.Close)
	for n := range byte(3) {
		keys, err := signer.KeysFromSeed(bytes.Repeat([]byte{n + 1}, 32), signer.Testnet)
		v.must(err)
		pub, err := keys.Public(chain.Hot(chain.FamilyTron))
		v.must(err)
		base, err := v.chain.Address(pub, 0)
		v.must(err)
		v.keys, v.bases = append(v.keys, keys), append(v.bases, base.Base)
	}
	v.fund(v.bases[0])
	return v
}

func (v *tronHarness) must(err error) {
	v.Helper()
	if err != nil {
		v.Fatal(err)
	}
}

func (v *tronHarness) fund(bases ...string) {
	v.Helper()
	for _, base := range bases {
		_, err := v.node.Pay(base, 500_000_000)
		v.must(err)
		_, err = v.node.PayToken(v.node.Token(), base, big.NewInt(100_000_000))
		v.must(err)
	}
	v.must(v.node.Mine(8)) // solidified
}

// account is a key of a third party, and its address.
func (v *tronHarness) account(seed byte) (private, base string) {
	v.Helper()
	key, err := crypto.ToECDSA(bytes.Repeat([]byte{seed}, 32))
	v.must(err)
	address, err := v.chain.Address(crypto.CompressPubkey(&key.PublicKey), 0)
	v.must(err)
	return hex.EncodeToString(crypto.FromECDSA(key)), address.Base
}

func (v *tronHarness) refill(w bursar.ColdWallet, contract string, amount uint64) signer.Refill {
	return signer.Refill{Wallet: w, MaxFee: bursar.Units(50_000_000), Payment: chain.Payment{Amount: bursar.Units(amount),
		Contract: contract, Address: bursar.Address{Base: v.bases[0]}}}
}

func (v *tronHarness) build(r signer.Refill, signers ...int) []byte {
	v.Helper()
	data, err := v.chain.BuildCold(v.Context(), chain.ColdRequest{Wallet: r.Wallet, Payment: r.Payment, MaxFee: r.MaxFee})
	v.must(err)
	for _, n := range signers {
		data, err = v.keys[n].SignRefill(v.chain, r, v.bases[0], data)
		v.must(err)
	}
	return data
}

// arrives sends a signed refill and compares what reached the hot wallet, and that it cost no more than was shown.
func (v *tronHarness) arrives(r signer.Refill, data []byte) {
	v.Helper()
	tx, err := r.Evaluate(v.chain, v.bases[0], data)
	v.must(err)
	signed, err := v.chain.FinishCold(r.Wallet, data)
	v.must(err)
	held := func(base, contract string) *big.Int {
		n, err := v.node.Balance(base, contract)
		v.must(err)
		return n
	}
	cold := r.Wallet.Addresses[0]
	before, had := held(v.bases[0], r.Payment.Contract), held(cold, "")
	v.must(v.chain.Broadcast(v.Context(), signed))
	v.must(v.node.Mine(1))
	if got := new(big.Int).Sub(held(v.bases[0], r.Payment.Contract), before); got.Cmp(r.Payment.Amount.Big()) != 0 {
		v.Errorf("%s %q: got %s at the hot wallet, want %s", r.Wallet.Kind, r.Payment.Contract, got, r.Payment.Amount)
	}
	cost := had.Sub(had, held(cold, ""))
	if r.Payment.Contract == "" {
		cost.Sub(cost, r.Payment.Amount.Big())
	}
	if cost.Cmp(tx.Fee.Big()) > 0 {
		v.Errorf("%s %q: it cost %s sun, at most %s were shown", r.Wallet.Kind, r.Payment.Contract, cost, tx.Fee)
	}
}

func (v *tronHarness) textOf(w bursar.ColdWallet, data []byte) string {
	v.Helper()
	tx, err := v.chain.ReadCold(w, data)
	v.must(err)
	return tx.Notes[len(tx.Notes)-1].Text
}

func coldTron(kind bursar.ColdKind, base string, permission int32) bursar.ColdWallet {
	return bursar.ColdWallet{Chain: bursar.Tron, Name: "vault", Kind: kind, Addresses: []string{base},
		PermissionID: permission}
}

// tronweb 6 gives an account a permission of several keys, as an operator would, and signs as a device of it and of an
// account of one key. It encodes our transactions to the same id, reads in them what we meant, and finds the keys of
// our seeds in the signatures. The sandbox's node, which checks permissions, weights and what several signatures cost,
// pays, in TRX and in tokens.
func TestTronColdAccountsRefill(t *testing.T) {
	t.Parallel()
	folder, err := Folder()
	if testing.Short() {
		t.Skip("needs Node.js and the client libraries")
	}
	v := newTronHarness(t)
	v.must(err)
	owner, account := v.account(0x11)
	device, deviceBase := v.account(0x22)
	v.fund(account, deviceBase, v.bases[1])
	var made struct {
		Account string
		Sent    bool
		Says    string
	}
	readBy(t, folder, "troncold.mjs", map[string]any{"url": v.node.URL(), "owner": owner, "threshold": 3,
		"keys": []string{v.bases[1], v.bases[2], deviceBase}}, &made)
	v.must(v.node.Mine(8))
	if made.Account != account || !made.Sent {
		t.Fatalf("tronweb: got %+v, want the permissions of %s", made, account)
	}
	several, byOwner := coldTron(bursar.ColdPermission, account, 2), coldTron(bursar.ColdPermission, account, 0)
	single, seeds := coldTron(bursar.ColdAddress, deviceBase, 0), coldTron(bursar.ColdAddress, v.bases[1], 0)
	otherWays(t, v.chain, several)
	otherWays(t, v.chain, byOwner)
	otherWays(t, v.chain, single)
	otherWays(t, v.chain, coldTron(bursar.ColdPermission, v.bases[1], 0)) // one key, and one is enough everywhere
	otherWays(t, v.chain, coldTron(bursar.ColdAddress, account, 0), "permission 0 lets", "permission 2 lets")
	refills := []signer.Refill{v.refill(several, "", 5_000_000), v.refill(several, v.node.Token(), 6_000_000),
		v.refill(single, "", 7_000_000), v.refill(byOwner, "", 4_000_000)}
	all := [][]byte{v.build(refills[0], 1), v.build(refills[1], 1), v.build(refills[2]), v.build(refills[3], 1)}
	kinds := []string{"TransferContract", "TriggerSmartContract", "TransferContract", "TransferContract"}
	var asked []map[string]string
	for i, r := range refills {
		asked = append(asked, map[string]string{"kind": kinds[i], "device": device,
			"transaction": v.textOf(r.Wallet, all[i])})
	}
	var said []struct {
		ID, Owner, To, Amount, Signature string
		Same                             bool
		Permission                       int32
		Signers                          []string
	}
	readBy(t, folder, "troncold.mjs", map[string]any{"url": v.node.URL(), "all": asked}, &said)
	for i, got := range said {
		r := refills[i]
		tx, err := v.chain.ReadCold(r.Wallet, all[i])
		v.must(err)
		to, signers := v.bases[0], []string{v.bases[1]}
		if r.Payment.Contract != "" {
			to = r.Payment.Contract
		}
		if r.Wallet.Kind == bursar.ColdAddress {
			signers = nil
		}
		if !got.Same || "tx/"+got.ID != tx.Reservations[0] || got.Owner != r.Wallet.Addresses[0] || got.To != to ||
			got.Amount != r.Payment.Amount.String() || got.Permission != r.Wallet.PermissionID ||
			!slices.Equal(got.Signers, signers) {
			t.Errorf("%d: tronweb reads %+v, want %v from %s by %v", i, got, r.Payment, r.Wallet.Addresses[0], signers)
		}
		signature, err := hex.DecodeString(strings.TrimPrefix(got.Signature, "0x"))
		v.must(err)
		all[i], err = v.chain.CombineCold(r.Wallet, all[i], signature)
		v.must(err)
		v.arrives(r, all[i])
	}
	last := v.refill(seeds, v.node.Token(), 8_000_000)
	v.arrives(last, v.build(last, 1))
}

// What cannot become a refill is refused before anything is given out.
func TestRefillsOfTronThatCannotBegin(t *testing.T) {
	t.Parallel()
	v := newTronHarness(t)
	v.fund(v.bases[1])
	_, nobody := v.account(0x33)
	for name, a := range map[string]struct {
		wallet        bursar.ColdWallet
		amount, limit uint64
		says          string
	}{
		"no account":           {coldTron(bursar.ColdAddress, nobody, 0), 1, 5e7, "does not exist"},
		"no such permission":   {coldTron(bursar.ColdPermission, v.bases[1], 3), 1, 5e7, "no permission 3"},
		"more than it holds":   {coldTron(bursar.ColdAddress, v.bases[1], 0), 500_000_001, 5e7, "1"},
		"a low bound of fees":  {coldTron(bursar.ColdAddress, v.bases[1], 0), 1, 1000, "limit"},
		"another kind of it":   {coldTron(bursar.ColdSafe, v.bases[1], 0), 1, 5e7, "want one address"},
		"a limit under a sign": {coldTron(bursar.ColdPermission, v.bases[1], 2), 1, 1e6, "limit"},
	} {
		_, err := v.chain.BuildCold(t.Context(), chain.ColdRequest{Wallet: a.wallet, MaxFee: bursar.Units(a.limit),
			Payment: chain.Payment{Address: bursar.Address{Base: v.bases[0]}, Amount: bursar.Units(a.amount)}})
		if err == nil || !strings.Contains(err.Error(), a.says) {
			t.Errorf("%s: got %v, want an error that says %q", name, err, a.says)
		}
	}
	one := v.refill(coldTron(bursar.ColdAddress, v.bases[1], 0), "", 1_000_000)
	data := v.build(one, 1)
	tx, err := v.chain.FinishCold(one.Wallet, data)
	v.must(err)
	v.must(v.node.Advance(24 * 3600 * 1e9))
	v.must(v.node.Mine(1))
	if err := v.chain.Broadcast(t.Context(), tx); err == nil || errors.Is(err, chain.ErrRejected) {
		t.Errorf("after its end: got %v, want a refusal", err)
	}
}
