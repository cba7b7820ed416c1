package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ceremony"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/signer"
)

// accountVault is a machine without a network whose seed has the key of a cold account.
type accountVault struct {
	*bench
	chain     bursar.ChainID
	hot       *signer.Keys
	home, own string
	units     uint64 // what a bundle pays, which is five of the native asset
	fee       uint64 // its bound
}

func newAccountVault(t *testing.T, id bursar.ChainID, family bursar.Family, addressOf func(public []byte) string,
) *accountVault {
	t.Helper()
	v := &accountVault{bench: newBench(t, "chains: {"+string(id)+": {rpc: 'http://127.0.0.1:1'}}"), chain: id}
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
		t.Fatalf("offline address exits with %d: %s %s", code, text, says)
	}
	v.hot, v.home, v.own = hot, addressOf(pub), strings.TrimSpace(text)
	return v
}

func (v *accountVault) bundle(kind bursar.ColdKind, data []byte) ceremony.Bundle {
	at := time.Now().UTC().Truncate(time.Second)
	return ceremony.Bundle{Instance: v.hot.Fingerprint(), Network: "regtest", ID: bursar.ID{0: 1, 15: 3},
		Wallet:  bursar.ColdWallet{Chain: v.chain, Name: "vault", Kind: kind, Addresses: []string{v.own}},
		Payment: chain.Payment{Address: bursar.Address{Base: v.home}, Amount: bursar.Units(v.units)},
		MaxFee:  bursar.Units(v.fee), Created: at, Expires: at.Add(time.Hour), Bytes: data}
}

// signs has the machine show and sign a bundle, and returns what it signed.
func (v *accountVault) signs(b ceremony.Bundle, amount string, shown ...string) []byte {
	v.Helper()
	v.write("good.txt", b.Text())
	text, says, code := v.run("offline", "show", "good.txt")
	if code != 0 {
		v.Fatalf("show exits with %d: %s", code, says)
	}
	for _, want := range append(shown, amount, v.home) {
		if !strings.Contains(text, want) {
			v.Errorf("show prints %s, want %q in it", text, want)
		}
	}
	if _, says, code = v.typed(strings.Fields(amount)[0]+"\n", "offline", "sign", "good.txt", "--out", "signed.txt"); code != 0 {
		v.Fatalf("sign exits with %d: %s", code, says)
	}
	data, err := os.ReadFile(filepath.Join(v.folder, "signed.txt"))
	v.must(err)
	signed, err := ceremony.Read(string(data))
	v.must(err)
	return signed.Bytes
}

// refuses has the machine sign a bundle that it must not.
func (v *accountVault) refuses(name string, b ceremony.Bundle, amount, want string) {
	v.Helper()
	v.write("bad.txt", b.Text())
	_, says, code := v.typed(amount+"\n", "offline", "sign", "bad.txt", "--out", "bad-signed.txt")
	if code != 1 || !strings.Contains(says, want) {
		v.Errorf("%s: got %d, %s, want %q", name, code, says, want)
	}
}

// rippled is a payment of five XRP by an encoder of its own, with a type, flags and fee, and more behind it.
func rippled(from, to []byte, kind, flags byte, fee uint64, more ...byte) []byte {
	raw := []byte{0x12, 0, kind, 0x22, 0x80, flags, 0, 0, 0x24, 0, 0, 0, 7, 0x20, 0x1b, 0, 9, 0, 0, 0x61}
	raw = append(binary.BigEndian.AppendUint64(raw, 1<<62|5_000_000), 0x68)
	raw = append(binary.BigEndian.AppendUint64(raw, 1<<62|fee), 0x73, 0, 0x81, 20)
	return append(append(append(append(raw, from...), 0x83, 20), to...), more...)
}

// A person reads what the bytes do, and the machine signs a cold account's payment, alone and as one of several.
// What a service in other hands would have it sign instead is refused.
func TestXRPLBundlesAreSignedOffline(t *testing.T) {
	t.Parallel()
	v := newAccountVault(t, "xrpl", chain.FamilyXRPL, func(public []byte) string { return rippleBase(accountOf(public)) })
	v.units, v.fee = 5_000_000, 100
	pub, err := v.hot.Public(chain.Hot(chain.FamilyXRPL))
	v.must(err)
	home := accountOf(pub)
	own := ripples58(v.own)
	good := rippled(own, home, 0, 0, 12)
	signed := v.signs(v.bundle(bursar.ColdAddress, good), "5.00 XRP", "last ledger", "589824", v.own+"/7")
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

// ripples58 reads an account in the ledger's alphabet of base 58.
func ripples58(base string) []byte {
	const ripples = "rpshnaf39wBUDNEGHJKLM4PQRST7VWXYZ2bcdeCg65jkm8oFqi1tuvAxyz"
	text := []byte(base)
	for i, letter := range text {
		text[i] = alphabet[strings.IndexByte(ripples, letter)]
	}
	return from58(string(text))[1:21]
}
