package bitcoin

import (
	"encoding/hex"
	"errors"
	"fmt"
	"testing"

	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"
	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/bitcoin/descriptor"
)

// coldVault returns a cold wallet of which two of three keys sign, with its first two addresses.
func coldVault(t *testing.T, c *Chain) (bursar.ColdWallet, *descriptor.Descriptor) {
	t.Helper()
	body := "wsh(sortedmulti(2"
	for n := range byte(3) {
		key, err := hdkeychain.NewMaster([]byte{31: n + 1}, &chaincfg.TestNet3Params)
		if err != nil {
			t.Fatal(err)
		}
		public, err := key.Neuter()
		if err != nil {
			t.Fatal(err)
		}
		body += fmt.Sprintf(",[0000000%d]%s/<0;1>/*", n, public)
	}
	body += "))"
	sum, err := descriptor.Checksum(body)
	if err != nil {
		t.Fatal(err)
	}
	d, err := descriptor.Parse(body + "#" + sum)
	if err != nil {
		t.Fatal(err)
	}
	w := bursar.ColdWallet{Chain: "bitcoin", Name: "vault", Kind: bursar.ColdDescriptor, Descriptor: d.String()}
	for index := range uint32(2) {
		out, err := d.At(0, index)
		if err != nil {
			t.Fatal(err)
		}
		base, err := c.network.AddressOf(out.Script)
		if err != nil {
			t.Fatal(err)
		}
		w.Addresses = append(w.Addresses, base)
	}
	if err := c.CheckCold(w); err != nil {
		t.Fatal(err)
	}
	return w, d
}

// coldNode is a node whose chain pays a cold wallet twice, and says so when it scans.
func coldNode(t *testing.T) (*fakeNode, *Chain, bursar.ColdWallet, *wire.MsgTx) {
	t.Helper()
	f := newFake()
	c := open(t, f)
	w, d := coldVault(t, c)
	one, err1 := d.At(0, 0)
	two, err2 := d.At(0, 1)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	made := pays(1, wire.NewTxOut(3e5, one.Script), wire.NewTxOut(7e5, two.Script))
	f.add(made)
	f.add()
	f.add()
	scanned := func(n int, amount string) map[string]any {
		return map[string]any{"txid": made.TxID(), "vout": n, "scriptPubKey": hex.EncodeToString(made.TxOut[n].PkScript),
			"amount": raw(amount), "height": 1, "coinbase": false}
	}
	young := scanned(0, "1.00000000")
	young["height"], young["vout"] = 3, 5
	f.say("scantxoutset", map[string]any{"success": true, "height": 3, "bestblock": f.ref(3).Hash,
		"unspents": []any{scanned(0, "0.00300000"), scanned(1, "0.00700000"), young}})
	return f, c, w, made
}

func request(t *testing.T, c *Chain, w bursar.ColdWallet, amount uint64) chain.ColdRequest {
	t.Helper()
	return chain.ColdRequest{Wallet: w, MaxFee: bursar.Units(50_000), Payment: chain.Payment{
		Address: bursar.Address{Base: source(t, c, 0).Base}, Amount: bursar.Units(amount)}}
}

// The largest outputs pay, those with too few confirmations do not, and change returns to where the first came from.
func TestARefillIsBuilt(t *testing.T) {
	t.Parallel()
	_, c, w, made := coldNode(t)
	for amount, want := range map[uint64]struct {
		inputs int
		change bool
	}{
		500_000: {1, true}, 900_000: {2, true},
		998_400: {2, false}, // the rest is too little for an output, and becomes fee
	} {
		r := request(t, c, w, amount)
		data, err := c.BuildCold(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		tx, err := c.ReadCold(w, data)
		if err != nil {
			t.Fatal(err)
		}
		in := uint64(7e5)
		if want.inputs == 2 {
			in = 1e6
		}
		fee, _ := tx.Fee.Uint64()
		change, _ := tx.Change.Uint64()
		if len(tx.Inputs) != want.inputs || len(tx.Payments) != 1 || tx.Payments[0] != r.Payment || amount+fee+change != in ||
			(change > 0) != want.change || fee < tx.Weight*5 {
			t.Errorf("%d: got %+v, want %d inputs that hold %d, at 5 for a vbyte", amount, tx, want.inputs, in)
		}
		if tx.Reservations[0] != utxoOf(made.TxHash(), 1) || tx.Inputs[0].Need != 2 || len(tx.Inputs[0].Keys) != 3 {
			t.Errorf("%d: the first input is %s with %+v", amount, tx.Reservations[0], tx.Inputs[0])
		}
	}
}

// What is to be revoked is used up, where larger outputs alone would do.
func TestARefillUsesUpWhatItRevokes(t *testing.T) {
	t.Parallel()
	_, c, w, made := coldNode(t)
	r := request(t, c, w, 100_000)
	r.Uses = []string{utxoOf(made.TxHash(), 0)}
	data, err := c.BuildCold(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	tx, err := c.ReadCold(w, data)
	if err != nil || len(tx.Reservations) != 1 || tx.Reservations[0] != r.Uses[0] {
		t.Errorf("got %v, %v, want %v used up", tx.Reservations, err, r.Uses)
	}
}

func TestARefillThatCannotBePaidIsNotBuilt(t *testing.T) {
	t.Parallel()
	_, c, w, _ := coldNode(t)
	var needs *chain.NeedsFundsError
	if _, err := c.BuildCold(t.Context(), request(t, c, w, 2e6)); !errors.As(err, &needs) {
		t.Errorf("too much: got %v, want a NeedsFundsError", err)
	}
	cheap := request(t, c, w, 500_000)
	cheap.MaxFee = bursar.Units(100)
	var limit *chain.FeeLimitError
	if _, err := c.BuildCold(t.Context(), cheap); !errors.As(err, &limit) {
		t.Errorf("a low bound: got %v, want a FeeLimitError", err)
	}
	var refused *chain.RefusedError
	if _, err := c.BuildCold(t.Context(), request(t, c, w, 1)); !errors.As(err, &refused) {
		t.Errorf("dust: got %v, want a RefusedError", err)
	}
}

// A node that says that an output holds more than it does makes no bundle: the transaction that made it says otherwise.
func TestANodeThatLiesMakesNoRefill(t *testing.T) {
	t.Parallel()
	f, c, w, made := coldNode(t)
	f.say("scantxoutset", map[string]any{"success": true, "height": 3, "bestblock": f.ref(3).Hash, "unspents": []any{
		map[string]any{"txid": made.TxID(), "vout": 0, "scriptPubKey": hex.EncodeToString(made.TxOut[0].PkScript),
			"amount": raw("0.90000000"), "height": 1, "coinbase": false}}})
	if _, err := c.BuildCold(t.Context(), request(t, c, w, 500_000)); !errors.Is(err, errCold) {
		t.Errorf("got %v, want the bytes to be refused", err)
	}
}

func TestWalletsThatAreNotDescriptorsAreRefused(t *testing.T) {
	t.Parallel()
	_, c, w, _ := coldNode(t)
	for name, change := range map[string]func(w *bursar.ColdWallet){
		"another kind":       func(w *bursar.ColdWallet) { w.Kind = bursar.ColdAddress },
		"another chain":      func(w *bursar.ColdWallet) { w.Chain = "litecoin" },
		"another descriptor": func(w *bursar.ColdWallet) { w.Descriptor = w.Descriptor[:len(w.Descriptor)-1] + "q" },
		"a foreign address":  func(w *bursar.ColdWallet) { w.Addresses = []string{source(t, c, 0).Base} },
		"no address":         func(w *bursar.ColdWallet) { w.Addresses = []string{"x"} },
	} {
		bad := w
		change(&bad)
		if err := c.CheckCold(bad); err == nil {
			t.Errorf("%s: got no error, want one", name)
		}
	}
}

// Each address of a wallet is derived once, however many there are: compared one by one with all of them, a thousand
// took minutes at each step of a ceremony.
func TestAWalletOfManyAddressesIsChecked(t *testing.T) {
	t.Parallel()
	c := open(t, newFake())
	w, d := coldVault(t, c)
	w.Addresses = nil
	for index := range uint32(bursar.MaxColdAddresses / 4) {
		for branch := range 2 {
			out, err := d.At(branch, index)
			if err != nil {
				t.Fatal(err)
			}
			base, err := c.network.AddressOf(out.Script)
			if err != nil {
				t.Fatal(err)
			}
			w.Addresses = append(w.Addresses, base)
		}
	}
	if err := c.CheckCold(w); err != nil {
		t.Errorf("got %v, want no error", err)
	}
	w.Addresses[7] = source(t, c, 0).Base
	if err := c.CheckCold(w); !errors.Is(err, errCold) {
		t.Errorf("with a foreign address: got %v, want %v", err, errCold)
	}
}
