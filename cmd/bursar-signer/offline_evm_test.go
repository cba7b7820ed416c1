package main

import (
	"bytes"
	"encoding/json"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rlp"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ceremony"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/signer"
)

// safeText is a SafeTx as bundles carry it, by an encoder of its own; see chain/evm.
type safeText struct {
	Version, ChainID uint64
	Safe             common.Address
	Tx               struct {
		To                          common.Address
		Value                       *big.Int
		Data                        []byte
		Operation, SafeGas, BaseGas uint64
		GasPrice                    *big.Int
		GasToken, Refunds           common.Address
		Nonce                       uint64
	}
	Owners    []common.Address
	Threshold uint64
	Signed    []struct {
		Owner     common.Address
		Signature []byte
	}
	Executor    common.Address
	Nonce       uint64
	Tip, MaxFee *big.Int
	Gas         uint64
	Sent        []byte
}

// evmMachine is a machine without a network whose seed is that of a cold account and the only owner of a Safe.
type evmMachine struct {
	*harness
	hot       *signer.Keys
	home, own common.Address
}

func newEVMMachine(t *testing.T) *evmMachine {
	t.Helper()
	v := &evmMachine{harness: newHarness(t, "chains: {ethereum: {rpc: 'http://127.0.0.1:1', chain_id: 31337}}")}
	v.seal()
	hot, err := signer.KeysFromSeed(bytes.Repeat([]byte{7}, 32), signer.Testnet)
	v.must(err)
	exported, err := json.Marshal(hot.ExportPublic())
	v.must(err)
	v.write("hot.json", string(exported))
	pub, err := hot.Public(chain.Hot(chain.FamilyEVM))
	v.must(err)
	key, err := crypto.DecompressPubkey(pub)
	v.must(err)
	v.hot, v.home = hot, crypto.PubkeyToAddress(*key)
	text, says, code := v.run("offline", "address", "ethereum")
	if code != 0 || !common.IsHexAddress(strings.TrimSpace(text)) {
		t.Fatalf("offline address exits with %d: %s %s", code, text, says)
	}
	v.own = common.HexToAddress(strings.TrimSpace(text))
	return v
}

// bundle is one of half an ether.
func (v *evmMachine) bundle(kind bursar.ColdKind, at common.Address, data []byte) ceremony.Bundle {
	now := time.Now().UTC().Truncate(time.Second)
	return ceremony.Bundle{Instance: v.hot.Fingerprint(), Network: "regtest", ID: bursar.ID{0: 1, 15: 3},
		Wallet:  bursar.ColdWallet{Chain: "ethereum", Name: "vault", Kind: kind, Addresses: []string{at.Hex()}},
		Payment: chain.Payment{Address: bursar.Address{Base: v.home.Hex()}, Amount: bursar.Units(5e17)},
		MaxFee:  bursar.Units(1e16), Created: now, Expires: now.Add(time.Hour), Bytes: data}
}

// account is a transaction of the cold account.
func (v *evmMachine) account(change func(tx *types.DynamicFeeTx)) []byte {
	v.Helper()
	tx := types.DynamicFeeTx{ChainID: big.NewInt(31337), GasTipCap: big.NewInt(1e9), GasFeeCap: big.NewInt(2e10),
		Gas: 21000, To: &v.home, Value: big.NewInt(5e17)}
	change(&tx)
	body, err := rlp.EncodeToBytes([]any{tx.ChainID, tx.Nonce, tx.GasTipCap, tx.GasFeeCap, tx.Gas, tx.To, tx.Value,
		tx.Data, tx.AccessList})
	v.must(err)
	return append([]byte{2}, body...)
}

var vaultSafe = common.Address{0: 0x5a}

// safe is a SafeTx whose only owner sends it.
func (v *evmMachine) safe(change func(s *safeText)) []byte {
	v.Helper()
	s := safeText{Version: 1, ChainID: 31337, Safe: vaultSafe, Owners: []common.Address{v.own}, Threshold: 1,
		Executor: v.own, Tip: big.NewInt(1e9), MaxFee: big.NewInt(2e10), Gas: 260_000}
	s.Tx.To, s.Tx.Value, s.Tx.GasPrice = v.home, big.NewInt(5e17), new(big.Int)
	change(&s)
	data, err := rlp.EncodeToBytes(&s)
	v.must(err)
	return data
}

// A person reads what the bytes do, and the machine signs a cold account's transaction, and a Safe's with the call that
// sends it. go-ethereum finds the account in the signature.
func TestEVMBundlesAreSignedOffline(t *testing.T) {
	t.Parallel()
	v := newEVMMachine(t)
	for name, b := range map[string]ceremony.Bundle{
		"account": v.bundle(bursar.ColdAddress, v.own, v.account(func(*types.DynamicFeeTx) {})),
		"safe":    v.bundle(bursar.ColdSafe, vaultSafe, v.safe(func(*safeText) {})),
	} {
		v.write(name+".txt", b.Text())
		shown, says, code := v.run("offline", "show", name+".txt")
		if code != 0 || !strings.Contains(shown, "0.50000000 ETH") || !strings.Contains(shown, "31337") ||
			!strings.Contains(shown, v.home.Hex()) || strings.Contains(shown, "returns") {
			t.Fatalf("%s: show exits with %d: %s %s", name, code, shown, says)
		}
		if name == "safe" && (!strings.Contains(shown, "0 (CALL)") || !strings.Contains(shown, "safe hash")) {
			t.Errorf("a Safe is shown as %s, want its operation and hash", shown)
		}
		_, says, code = v.typed("0.50000000\n", "offline", "sign", name+".txt", "--out", name+"-signed.txt")
		if code != 0 {
			t.Fatalf("%s: sign exits with %d: %s, want 0", name, code, says)
		}
	}
	data, err := os.ReadFile(filepath.Join(v.folder, "account-signed.txt"))
	v.must(err)
	signed, err := ceremony.Read(string(data))
	v.must(err)
	var tx types.Transaction
	v.must(tx.UnmarshalBinary(signed.Bytes))
	if from, err := types.Sender(types.LatestSignerForChainID(big.NewInt(31337)), &tx); err != nil || from != v.own {
		t.Errorf("go-ethereum finds %s, %v, want %s", from, err, v.own)
	}
}

// Anyone who has the machine that faces the network has the offline machine sign more.
func TestAttacksOnEVMBundles(t *testing.T) {
	t.Parallel()
	v := newEVMMachine(t)
	other := common.Address{0: 0x66}
	for name, a := range map[string]struct {
		kind bursar.ColdKind
		data []byte
		says string
	}{
		"an account pays another": {bursar.ColdAddress, v.account(func(tx *types.DynamicFeeTx) { tx.To = &other }),
			"unrequested_payment"},
		"another chain id": {bursar.ColdAddress, v.account(func(tx *types.DynamicFeeTx) { tx.ChainID = big.NewInt(1) }),
			"chain id"},
		"a fee past the bound": {bursar.ColdAddress, v.account(func(tx *types.DynamicFeeTx) { tx.Gas = 9e6 }), "fee"},
		"call data": {bursar.ColdAddress, v.account(func(tx *types.DynamicFeeTx) { tx.Data = []byte{1} }),
			"unreadable"},
		"a Safe's delegatecall": {bursar.ColdSafe, v.safe(func(s *safeText) { s.Tx.Operation = 1 }),
			"operation 1, want 0 (CALL)"},
		"a Safe pays another":     {bursar.ColdSafe, v.safe(func(s *safeText) { s.Tx.To = other }), "unrequested_payment"},
		"a Safe on another chain": {bursar.ColdSafe, v.safe(func(s *safeText) { s.ChainID = 1 }), "chain id"},
		"a Safe refunds gas": {bursar.ColdSafe, v.safe(func(s *safeText) { s.Tx.GasPrice = big.NewInt(1) }),
			"refunds gas"},
		"a Safe adds an owner": {bursar.ColdSafe, v.safe(func(s *safeText) {
			s.Tx.To, s.Tx.Data = vaultSafe, append([]byte{0x0d, 0x58, 0x2f, 0x13}, make([]byte, 64)...)
		}), "unreadable"},
	} {
		at := v.own
		if a.kind == bursar.ColdSafe {
			at = vaultSafe
		}
		v.write("bad.txt", v.bundle(a.kind, at, a.data).Text())
		_, says, code := v.typed("0.50000000\n", "offline", "sign", "bad.txt", "--out", "bad-signed.txt")
		if code != 1 || !strings.Contains(says, a.says) {
			t.Errorf("%s: got %d, %s, want %q", name, code, says, a.says)
		}
	}
}
