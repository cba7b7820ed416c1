package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ceremony"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/tron"
	"github.com/bursar/bursar/signer"
)

// accountMachine is a machine without a network whose seed has the key of a cold account.
type accountMachine struct {
	*harness
	chain     bursar.ChainID
	hot       *signer.Keys
	home, own string
	units     uint64 // what a bundle pays, which is five of the native asset
	fee       uint64 // its bound
}

func newAccountMachine(t *testing.T, id bursar.ChainID, family bursar.Family, addressOf func(public []byte) string,
) *accountMachine {
	t.Helper()
	v := &accountMachine{harness: newHarness(t, "chains: {"+string(id)+": {rpc: 'http://127.0.0.1:1'}}"), chain: id}
	v.seal()
	hot, err := signer.KeysFromSeed(bytes.Repeat([]byte{7}, 32), signer.Testnet)
	v.must(err)
	exported, err := json.Marshal(hot.ExportPublic())
	v.must(err)
	v.write("hot.json", string(exported))
	pub, err := hot.Public(chain.Hot(family))
	v.must(err)
	text, says, code := v.run("offline", "address", string(id))
	if code != 0 {
		t.Fatalf("offline address exits with %d: %s %s, want 0", code, text, says)
	}
	v.hot, v.home, v.own = hot, addressOf(pub), strings.TrimSpace(text)
	return v
}

func (v *accountMachine) bundle(kind bursar.ColdKind, data []byte) ceremony.Bundle {
	at, height := time.Now().UTC().Truncate(time.Second), uint64(0)
	if v.chain == bursar.XRPL {
		height = lastLedger - 89_824
	}
	return ceremony.Bundle{Height: height, Instance: v.hot.Fingerprint(), Network: "regtest", ID: bursar.ID{0: 1, 15: 3},
		Wallet:  bursar.ColdWallet{Chain: v.chain, Name: "vault", Kind: kind, Addresses: []string{v.own}},
		Payment: chain.Payment{Address: bursar.Address{Base: v.home}, Amount: bursar.Units(v.units)},
		MaxFee:  bursar.Units(v.fee), Created: at, Expires: at.Add(time.Hour), Bytes: data}
}

// signs has the machine show and sign a bundle, and returns what it signed.
func (v *accountMachine) signs(b ceremony.Bundle, amount string, shown ...string) []byte {
	v.Helper()
	v.write("good.txt", b.Text())
	text, says, code := v.run("offline", "show", "good.txt")
	if code != 0 {
		v.Fatalf("show exits with %d: %s", code, says)
	}
	// One seed may sign for several accounts: the name of a wallet proves nothing.
	for _, want := range append(shown, amount, v.home, "account      "+b.Wallet.Addresses[0]+"\n") {
		if !strings.Contains(text, want) {
			v.Errorf("show prints %s, want %q in it", text, want)
		}
	}
	typed := strings.Fields(amount)[0] + "\n"
	if _, says, code = v.typed(typed, "offline", "sign", "good.txt", "--out", "signed.txt"); code != 0 {
		v.Fatalf("sign exits with %d: %s", code, says)
	}
	data, err := os.ReadFile(filepath.Join(v.folder, "signed.txt"))
	v.must(err)
	signed, err := ceremony.Read(string(data))
	v.must(err)
	return signed.Bytes
}

// refuses has the machine sign a bundle that it must not.
func (v *accountMachine) refuses(name string, b ceremony.Bundle, amount, want string) {
	v.Helper()
	v.write("bad.txt", b.Text())
	_, says, code := v.typed(amount+"\n", "offline", "sign", "bad.txt", "--out", "bad-signed.txt")
	if code != 1 || !strings.Contains(says, want) {
		v.Errorf("%s: got %d, %s, want %q", name, code, says, want)
	}
}

// What a service in other hands would have it sign instead is refused.
// A person reads what the bytes do, and the machine signs a cold account's payment, alone and as one of several.
func TestXRPLBundlesAreSignedOffline(t *testing.T) {
	t.Parallel()
	v := newAccountMachine(t, "xrpl", chain.FamilyXRPL, func(public []byte) string {
		return rippleBase(accountOf(public))
	})
	v.units, v.fee = 5_000_000, 100
	pub, err := v.hot.Public(chain.Hot(chain.FamilyXRPL))
	v.must(err)
	home := accountOf(pub)
	own := ripples58(v.own)
	good := rippled(own, home, 0, 0, 12)
	signed := v.signs(v.bundle(bursar.ColdAddress, good), "5.00 XRP", v.own+"/7",
		"last block   589824, which is 89824 after block 500000", "that is 75 to 125 hours after it")
	if !bytes.Contains(signed, append([]byte{0x81, 20}, own...)) || len(signed) < len(good)+33+70 {
		t.Errorf("got %X, want it with a key and a signature", signed)
	}
	account := accountOf([]byte("an account with signers"))
	list := append(append([]byte{1, 0, 0, 0, 1, 1}, own...), 0, 1) // a quorum of one: this machine's key
	several := func(raw []byte) ceremony.Bundle {
		b := v.bundle(bursar.ColdSignerList, append(bytes.Clone(list), raw...))
		b.Wallet.Addresses = []string{rippleBase(account)}
		return b
	}
	if err := os.Remove(filepath.Join(v.folder, "signed.txt")); err != nil {
		t.Fatal(err)
	}
	signed = v.signs(several(rippled(account, home, 0, 0, 24)), "5.00 XRP", "weight 0 of 1")
	if !bytes.Contains(signed, []byte{0xf3, 0xe0, 0x10, 0x73, 33}) {
		t.Errorf("got %X, want it with a signer", signed)
	}
	for height, says := range map[uint64]string{0: "does not say at which block", lastLedger: "it was made at block",
		lastLedger - 202_801: "at most 202800 are taken", 1: "at most 202800 are taken"} {
		b := v.bundle(bursar.ColdAddress, good)
		b.Height = height
		v.refuses(fmt.Sprintf("made at ledger %d", height), b, "5.00", says)
	}
	other := accountOf([]byte("another"))
	for name, a := range map[string]struct {
		to   []byte
		kind byte
		flag byte
		fee  uint64
		more []byte
		says string
	}{
		"another destination": {to: other, fee: 12, says: "unrequested_payment"},
		"a fee past max":      {to: home, fee: 101, says: "fee"},
		"SetRegularKey":       {to: home, kind: 5, fee: 12, says: "unreadable"},
		"SignerListSet":       {to: home, kind: 12, fee: 12, says: "unreadable"},
		"AccountDelete":       {to: home, kind: 21, fee: 12, says: "unreadable"},
		"a partial payment":   {to: home, flag: 2, fee: 12, says: "flags"},
		"paths":               {to: home, fee: 12, more: []byte{1, 0x12, 0}, says: "unreadable"},
	} {
		v.refuses(name, v.bundle(bursar.ColdAddress, rippled(own, a.to, a.kind, a.flag, a.fee, a.more...)), "5.00",
			a.says)
		v.refuses(name+" of several signers", several(rippled(account, a.to, a.kind, a.flag, a.fee, a.more...)), "5.00",
			a.says)
	}
}

// The same of Tron, with a permission of one key.
func TestTronBundlesAreSignedOffline(t *testing.T) {
	t.Parallel()
	v := newAccountMachine(t, "tron", chain.FamilyTron, func([]byte) string { return "" })
	pub, err := v.hot.Public(chain.Hot(chain.FamilyTron))
	v.must(err)
	rules, err := tron.NewRules(tron.Config{})
	v.must(err)
	home, err := rules.Address(pub, 0)
	v.must(err)
	v.home, v.units, v.fee = home.Base, 5_000_000, 2_000_000
	own, to, day := tronBytes(v.own), tronBytes(v.home), time.Now().Add(20*time.Hour)
	plain := func(*tronTx) {}
	signed := v.signs(v.bundle(bursar.ColdAddress, tronned(own, to, day, plain)), "5.00 TRX", "by its own bytes")
	if !bytes.Contains(signed, []byte{0x12, 65}) {
		t.Errorf("got %X, want it with a signature", signed)
	}
	v.must(os.Remove(filepath.Join(v.folder, "signed.txt")))
	account := tronBytes(tronCustomer)
	key := append(append([]byte{1, 0, 0, 0, 0, 0, 0, 0, 1, 1}, own[1:]...), 0, 0, 0, 0, 0, 0, 0, 1)
	permitted := func(data []byte) ceremony.Bundle {
		b := v.bundle(bursar.ColdPermission, append(bytes.Clone(key), data...))
		b.Wallet.Addresses, b.Wallet.PermissionID = []string{tronCustomer}, 2
		return b
	}
	second := func(x *tronTx) { x.permission = 2 }
	v.signs(permitted(tronned(account, to, day, second)), "5.00 TRX", "2, weight 0 of 1")
	for name, a := range map[string]struct {
		to     []byte
		ends   time.Time
		change func(owner []byte, x *tronTx)
		says   string
	}{
		"another destination": {tronBytes(tronUSDT), day, func([]byte, *tronTx) {}, "unrequested_payment"},
		"a fee past max":      {to, day, func(_ []byte, x *tronTx) { x.limit = 2_000_000 }, "fee"},
		"an end in the past":  {to, time.Now().Add(-time.Minute), func([]byte, *tronTx) {}, "expired"},
		"an end in a month":   {to, time.Now().AddDate(0, 1, 0), func([]byte, *tronTx) {}, "too long"},
		"another permission":  {to, day, func(_ []byte, x *tronTx) { x.permission = 3 }, "permission 3"},
		"other permissions": {to, day, func(owner []byte, x *tronTx) {
			x.kind, x.name = 46, "AccountPermissionUpdateContract"
			x.body = protobuf(nil).bytes(1, owner).bytes(2, []byte{8, 0})
		}, "unreadable"},
		"a call of another contract": {to, day, func(owner []byte, x *tronTx) {
			x.kind, x.name = 31, "TriggerSmartContract"
			x.body = protobuf(nil).bytes(1, owner).bytes(2, account).bytes(4, callOf("a9059cbb", to[1:], 5_000_000))
		}, "unreadable"},
	} {
		change := func(owner []byte, before func(*tronTx)) func(*tronTx) {
			return func(x *tronTx) { before(x); a.change(owner, x) }
		}
		v.refuses(name, v.bundle(bursar.ColdAddress, tronned(own, a.to, a.ends, change(own, plain))), "5.00", a.says)
		v.refuses(name+" by a permission", permitted(tronned(account, a.to, a.ends, change(account, second))), "5.00", a.says)
	}
}

// The same of Solana, with a durable nonce.
func TestSolanaBundlesAreSignedOffline(t *testing.T) {
	t.Parallel()
	v := newAccountMachine(t, "solana", chain.FamilySolana, func(public []byte) string { return to58(public) })
	v.units, v.fee = 5_000_000_000, 10_000
	own, to, nonce := from58(v.own), from58(v.home), bytes.Repeat([]byte{7}, 32)
	bundle := func(data []byte) ceremony.Bundle {
		b := v.bundle(bursar.ColdNonce, data)
		b.Wallet.NonceAccount = to58(nonce)
		return b
	}
	advance := []byte{4, 0, 0, 0}
	signed := v.signs(bundle(solanaTx(own, nonce, to, advance, 100)), "5.00000000 SOL", to58(nonce)+"/",
		"revoke it at once")
	if bytes.Equal(signed[1:65], make([]byte, 64)) {
		t.Errorf("got %X, want it with a signature", signed)
	}
	for name, a := range map[string]struct {
		data []byte
		says string
	}{
		"another destination":   {solanaTx(own, nonce, solanaCustomer, advance, 100), "unrequested_payment"},
		"a fee past max":        {solanaTx(own, nonce, to, advance, 3_000_000), "fee"},
		"another nonce account": {solanaTx(own, solanaCustomer, to, advance, 100), "unreadable"},
		"another nonce authority": {solanaTx(own, nonce, to, append([]byte{7, 0, 0, 0}, solanaCustomer...), 100),
			"unreadable"},
		"the account assigned": {solanaTx(own, nonce, to, append([]byte{1, 0, 0, 0}, solanaToken...), 100), "unreadable"},
		"another's payment":    {solanaTx(solanaCustomer, nonce, to, advance, 100), "unreadable"},
		"a token's program": {bytes.Replace(solanaTx(own, nonce, to, advance, 100),
			from58("ComputeBudget111111111111111111111111111111"), solanaToken, 1), "unreadable"},
	} {
		v.refuses(name, bundle(a.data), "5.00000000", a.says)
	}
	lent := bundle(solanaTx(own, nonce, to, advance, 100))
	lent.Wallet.NonceAccount = to58(solanaCustomer)
	v.refuses("a nonce account that the wallet does not have", lent, "5.00000000", "unreadable")
}
