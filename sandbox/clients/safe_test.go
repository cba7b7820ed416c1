package clients

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/evm"
	"github.com/bursar/bursar/chain/evm/evmtest"
	"github.com/bursar/bursar/chain/rpc"
	"github.com/bursar/bursar/signer"
)

// coldFixture is an anvil with a cold account and a Safe of which two of three owners are enough.
type coldFixture struct {
	*testing.T
	node   *evmtest.Anvil
	chain  *evm.Chain
	keys   []*signer.Keys // the first: the hot wallet's
	bases  []string
	folder string
	safe   string
}

const anvilChain = 31337

func newColdFixture(t *testing.T) *coldFixture {
	t.Helper()
	folder, err := Folder()
	if err != nil {
		t.Fatal(err)
	}
	v := &coldFixture{T: t, node: evmtest.StartAnvil(t, anvilChain), folder: folder}
	cfg := evm.Ethereum()
	cfg.ChainID = anvilChain
	cfg.Tokens = []evm.Token{{Contract: v.node.Token(t), Decimals: 6}}
	v.chain, err = evm.New(cfg, rpc.Config{URLs: []string{v.node.URL}})
	v.must(err)
	t.Cleanup(v.chain.Close)
	for n := range byte(4) {
		keys, err := signer.KeysFromSeed(bytes.Repeat([]byte{n + 1}, 32), signer.Testnet)
		v.must(err)
		pub, err := keys.Public(chain.Hot(chain.FamilyEVM))
		v.must(err)
		base, err := v.chain.Address(pub, 0)
		v.must(err)
		v.keys, v.bases = append(v.keys, keys), append(v.bases, base.Base)
	}
	v.safe = v.deploy(v.bases[1:])
	for _, base := range []string{v.safe, v.bases[1], v.bases[3]} { // the last sends the calls of the Safe
		v.pay(base, "", 1e18)
		v.pay(base, v.node.Token(t), 1e9)
	}
	return v
}

func (v *coldFixture) must(err error) {
	v.Helper()
	if err != nil {
		v.Fatal(err)
	}
}

func (v *coldFixture) pay(base, contract string, amount uint64) {
	v.Helper()
	if contract == "" { // a Safe's proxy takes more than the gas of a plain payment
		v.node.Ask(v.T, nil, "anvil_setBalance", base, "0x"+new(big.Int).SetUint64(amount).Text(16))
		return
	}
	v.node.Pay(v.T, chain.Payment{Address: bursar.Address{Base: base}, Contract: contract, Amount: bursar.Units(amount)})
	v.node.Mine(v.T, 1)
}

// code returns the bytecode of a contract of Safe 1.4.1, as its authors compiled it.
func (v *coldFixture) code(path, field string) []byte {
	v.Helper()
	data, err := os.ReadFile(filepath.Join(v.folder, "node_modules", "@safe-global", "safe-contracts", "build",
		"artifacts", "contracts", path))
	v.must(err)
	var artifact map[string]json.RawMessage
	v.must(json.Unmarshal(data, &artifact))
	var text string
	v.must(json.Unmarshal(artifact[field], &text))
	code, err := hex.DecodeString(strings.TrimPrefix(text, "0x"))
	v.must(err)
	return code
}

// deploy makes a Safe: a proxy of the contract, set up with two of the owners.
func (v *coldFixture) deploy(owners []string) string {
	v.Helper()
	const singleton = "0x5afe5afe5afe5afe5afe5afe5afe5afe5afe5afe"
	v.node.SetCode(v.T, singleton, v.code("Safe.sol/Safe.json", "deployedBytecode"))
	made := append(v.code("proxies/SafeProxy.sol/SafeProxy.json", "bytecode"),
		common.LeftPadBytes(common.HexToAddress(singleton).Bytes(), 32)...)
	at, _ := v.node.Deploy(v.T, made)
	v.node.Mine(v.T, 1)
	nobody, nothing := common.Address{}, bursar.Amount{}
	head := evmtest.Call("setup(address[],uint256,address,bytes,address,address,uint256,address)", bursar.Units(8*32),
		bursar.Units(2), nobody, bursar.Units((8+4)*32), nobody, nobody, nothing, nobody)
	tail := evmtest.Word(uint64(len(owners)))
	for _, owner := range owners {
		tail = append(tail, common.LeftPadBytes(common.HexToAddress(owner).Bytes(), 32)...)
	}
	v.node.Send(v.T, at, nothing, slices.Concat(head, tail, evmtest.Word(0)))
	v.node.Mine(v.T, 1)
	return at.Hex()
}

// refill is a raw transaction, and what it is to do.
type refill struct {
	Raw    string  `json:"raw"`
	Nonce  *uint64 `json:"nonce,omitempty"` // of the Safe
	digest string
	signed chain.SignedTx
	paid   chain.Payment
}

// refill builds, signs and sends a refill from a wallet.
func (v *coldFixture) refill(w bursar.ColdWallet, contract string, amount uint64, signers ...int) refill {
	v.Helper()
	r := signer.Refill{Wallet: w, MaxFee: bursar.Units(2e17), Payment: chain.Payment{Amount: bursar.Units(amount),
		Address: bursar.Address{Base: v.bases[0]}, Contract: contract}}
	data, err := v.chain.BuildCold(v.Context(), chain.ColdRequest{Wallet: w, Payment: r.Payment, MaxFee: r.MaxFee})
	v.must(err)
	for _, n := range signers {
		data, err = v.keys[n].SignRefill(v.chain, r, v.bases[0], data)
		v.must(err)
	}
	tx, err := r.Evaluate(v.chain, v.bases[0], data)
	v.must(err)
	signed, err := v.chain.FinishCold(w, data)
	v.must(err)
	before := v.held(contract)
	v.must(v.chain.Broadcast(v.Context(), signed))
	v.node.Mine(v.T, 1)
	got, err := v.held(contract).Sub(before)
	v.must(err)
	if got != r.Payment.Amount {
		v.Errorf("%s %q: got %s at the hot wallet, want %d", w.Kind, contract, got, amount)
	}
	return refill{Raw: "0x" + hex.EncodeToString(signed.Raw), digest: "0x" + hex.EncodeToString(tx.Inputs[0].Digest),
		signed: signed, paid: r.Payment}
}

func (v *coldFixture) held(contract string) bursar.Amount {
	if contract == "" {
		return v.node.Balance(v.T, v.bases[0])
	}
	return v.node.TokenBalance(v.T, contract, v.bases[0])
}

// The bytecode of Safe 1.4.1 executes on anvil what owners signed offline, in the native asset and in tokens, and so
// does a cold account; ethers 6.17.0 reads in the raw transactions what we meant, computes the EIP-712 hash of the
// SafeTx as we do, and finds the owners who signed it.
func TestSafesAndColdAccountsRefill(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("needs anvil, Node.js and the client libraries")
	}
	v := newColdFixture(t)
	account := bursar.ColdWallet{Chain: bursar.Ethereum, Name: "device", Kind: bursar.ColdAddress, Addresses: v.bases[1:2]}
	safe := bursar.ColdWallet{Chain: bursar.Ethereum, Name: "safe", Kind: bursar.ColdSafe, Addresses: []string{v.safe},
		Executor: v.bases[3]}
	all := []refill{v.refill(account, "", 5e17, 1), v.refill(account, v.node.Token(t), 7e8, 1),
		v.refill(safe, "", 4e17, 1, 3), v.refill(safe, v.node.Token(t), 3e8, 2, 1, 3)}
	for i, nonce := range []uint64{0, 1} {
		all[2+i].Nonce = &nonce
	}
	var said []struct {
		From, To, Hash, Chain, Value, Name, Digest, Pays, Receiver, Operation string
		Owners                                                                []string
	}
	readBy(t, v.folder, "safe.mjs", all, &said)
	for i, got := range said {
		want := all[i]
		to, value := want.paid.Address.Base, want.paid.Amount.String()
		if want.paid.Contract != "" {
			to, value = want.paid.Contract, "0"
		}
		if got.Hash != want.signed.TxID || got.Chain != "31337" {
			t.Errorf("%d: ethers reads %s of chain %s, want %s", i, got.Hash, got.Chain, want.signed.TxID)
		}
		if i < 2 {
			if got.From != v.bases[1] || got.To != to || got.Value != value {
				t.Errorf("%d: ethers reads %+v, want %s to %s from %s", i, got, value, to, v.bases[1])
			}
			continue
		}
		if got.From != v.bases[3] || got.To != v.safe || got.Value != "0" || got.Name != "execTransaction" ||
			got.Operation != "0" || got.Receiver != to || got.Pays != value {
			t.Errorf("%d: ethers reads %+v, want a CALL of %s to %s", i, got, value, to)
		}
		if got.Digest != want.digest || len(got.Owners) != 2 || !slices.IsSortedFunc(got.Owners, lower) {
			t.Errorf("%d: ethers has hash %s and owners %v, want %s and two", i, got.Digest, got.Owners, want.digest)
		}
	}
}

// What cannot become a refill is refused before anything is given out.
func TestRefillsOfASafeThatCannotBegin(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("needs anvil and the client libraries")
	}
	v := newColdFixture(t)
	poor := v.node.Outsider(t)
	for name, a := range map[string]struct {
		safe, executor string
		amount, limit  uint64
		says           string
	}{
		"no executor":           {v.safe, "", 1e17, 2e17, "no executor"},
		"a poor executor":       {v.safe, poor, 1e17, 2e17, "pay it"},
		"more than it holds":    {v.safe, v.bases[3], 2e18, 2e17, "1000000000000000000"},
		"a low bound of fees":   {v.safe, v.bases[3], 1e17, 1e9, "fee"},
		"an account, no Safe":   {v.bases[1], v.bases[3], 1e17, 2e17, "ask Safe"},
		"a contract, no Safe":   {v.node.Token(t), v.bases[3], 1e17, 2e17, "ask Safe"},
		"the hot wallet's Safe": {v.bases[0], v.bases[3], 1e17, 2e17, "ask Safe"},
	} {
		w := bursar.ColdWallet{Chain: bursar.Ethereum, Name: "safe", Kind: bursar.ColdSafe, Addresses: []string{a.safe},
			Executor: a.executor}
		_, err := v.chain.BuildCold(t.Context(), chain.ColdRequest{Wallet: w, MaxFee: bursar.Units(a.limit),
			Payment: chain.Payment{Address: bursar.Address{Base: v.bases[0]}, Amount: bursar.Units(a.amount)}})
		if err == nil || !strings.Contains(err.Error(), a.says) {
			t.Errorf("%s: got %v, want an error that says %q", name, err, a.says)
		}
	}
}

// A refill that waits in the node's pool is revoked: the one that revokes it has its nonce at a higher price, and is
// mined in its place.
func TestARefillInThePoolIsRevoked(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("needs anvil and the client libraries")
	}
	v := newColdFixture(t)
	for _, w := range []bursar.ColdWallet{
		{Chain: bursar.Ethereum, Name: "device", Kind: bursar.ColdAddress, Addresses: v.bases[1:2]},
		{Chain: bursar.Ethereum, Name: "safe", Kind: bursar.ColdSafe, Addresses: []string{v.safe}, Executor: v.bases[3]},
	} {
		var old []byte
		var ids []string
		for _, amount := range []uint64{3e17, 2e17} {
			r := signer.Refill{Wallet: w, MaxFee: bursar.Units(2e17), Payment: chain.Payment{Amount: bursar.Units(amount),
				Address: bursar.Address{Base: v.bases[0]}}}
			data, err := v.chain.BuildCold(v.Context(), chain.ColdRequest{Wallet: w, Payment: r.Payment, MaxFee: r.MaxFee,
				Replaces: old})
			v.must(err)
			old = data
			for _, n := range []int{1, 3} {
				if w.Kind == bursar.ColdSafe || n == 1 {
					data, err = v.keys[n].SignRefill(v.chain, r, v.bases[0], data)
					v.must(err)
				}
			}
			signed, err := v.chain.FinishCold(w, data)
			v.must(err)
			v.must(v.chain.Broadcast(v.Context(), signed))
			ids = append(ids, signed.TxID)
		}
		before := v.held("")
		v.node.Mine(t, 1)
		if got, err := v.held("").Sub(before); err != nil || got != bursar.Units(2e17) {
			t.Errorf("%s: got %s, %v of %v at the hot wallet, want what the second pays", w.Kind, got, err, ids)
		}
	}
}

// Who else can pay from a cold wallet is seen: a module that the owners of a Safe enabled, on the bytecode of Safe
// 1.4.1, and the code that an account's key authorised (EIP-7702).
func TestOtherWaysOutOfASafeAndAnAccount(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("needs anvil and the client libraries")
	}
	v := newColdFixture(t)
	account := bursar.ColdWallet{Chain: bursar.Ethereum, Name: "device", Kind: bursar.ColdAddress,
		Addresses: v.bases[1:2]}
	safe := bursar.ColdWallet{Chain: bursar.Ethereum, Name: "safe", Kind: bursar.ColdSafe, Addresses: []string{v.safe},
		Executor: v.bases[3]}
	otherWays(t, v.chain, safe)
	otherWays(t, v.chain, account)
	module := v.bases[2]
	v.node.Ask(t, nil, "anvil_impersonateAccount", v.safe)
	v.node.Ask(t, nil, "eth_sendTransaction", map[string]string{"from": v.safe, "to": v.safe, "gas": "0x30d40",
		"data": "0x" + hex.EncodeToString(evmtest.Call("enableModule(address)", common.HexToAddress(module)))})
	v.node.Mine(t, 1)
	otherWays(t, v.chain, safe, "module "+strings.ToLower(module))
	delegated, err := hex.DecodeString("ef0100" + strings.Repeat("5a", 20))
	v.must(err)
	v.node.SetCode(t, v.bases[1], delegated)
	otherWays(t, v.chain, account, "ef0100"+strings.Repeat("5a", 20))
}

// otherWays compares what a node says of who may spend from a cold wallet with parts of each sentence.
func otherWays(t *testing.T, c chain.ColdKeys, w bursar.ColdWallet, want ...string) {
	t.Helper()
	got, err := c.OtherWays(t.Context(), w)
	if err != nil || len(got) != len(want) {
		t.Errorf("%s %s: got %q, %v, want %q", w.Kind, w.Addresses[0], got, err, want)
		return
	}
	for i, one := range want {
		if !strings.Contains(strings.ToLower(got[i]), one) {
			t.Errorf("%s %s: got %q, want a sentence with %q", w.Kind, w.Addresses[0], got[i], one)
		}
	}
}

func lower(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) }
