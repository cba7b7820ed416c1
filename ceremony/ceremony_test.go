package ceremony_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ceremony"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/bitcoin/psbt"
	"github.com/bursar/bursar/signer"
)

const (
	twoOfThree = "wsh(sortedmulti(2,%s/<0;1>/*,%s/<0;1>/*,%s/<0;1>/*))"
	oneKey     = "wpkh(%s/<0;1>/*)"
)

// run has the script interpreter of btcd evaluate the input of a finished transaction.
func (b *harness) run(raw []byte) {
	b.Helper()
	tx := new(wire.MsgTx)
	if err := tx.Deserialize(bytes.NewReader(raw)); err != nil {
		b.Fatal(err)
	}
	out := b.previous.TxOut[0]
	fetcher := txscript.NewCannedPrevOutputFetcher(out.PkScript, out.Value)
	engine, err := txscript.NewEngine(out.PkScript, tx, 0, txscript.StandardVerifyFlags, nil,
		txscript.NewTxSigHashes(tx, fetcher), out.Value, fetcher)
	if err != nil {
		b.Fatal(err)
	}
	if err := engine.Execute(); err != nil {
		b.Errorf("the transaction is not valid: %v", err)
	}
}

// sign has one of the cold keys sign, and reads the bundle as it travels.
func (b *harness) sign(bundle ceremony.Bundle, key int) ceremony.Bundle {
	b.Helper()
	signed, err := b.own.Sign(bundle, b.keys[key], now)
	if err != nil {
		b.Fatal(err)
	}
	read, err := ceremony.Read(signed.Text())
	if err != nil {
		b.Fatal(err)
	}
	if !read.Same(bundle) {
		b.Error("signing changed more than signatures")
	}
	return read
}

func TestOneKeySignsARefill(t *testing.T) {
	t.Parallel()
	b := newHarness(t, oneKey)
	signed := b.sign(b.bundle(b.packet()), 0)
	tx, err := b.rules.FinishCold(b.wallet, signed.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	b.run(tx.Raw)
	if _, err := b.own.Sign(signed, b.keys[0], now); !errors.Is(err, signer.ErrNoKey) {
		t.Errorf("it is signed twice: got %v, want ErrNoKey", err)
	}
	if _, err := b.own.Sign(b.bundle(b.packet()), b.keys[1], now); !errors.Is(err, signer.ErrNoKey) {
		t.Errorf("a key of another wallet signs: got %v, want ErrNoKey", err)
	}
}

// Two of three sign, one after the other or each their own copy; any two give a valid transaction with the same ID.
func TestTwoOfThreeSignARefill(t *testing.T) {
	t.Parallel()
	b := newHarness(t, twoOfThree)
	bundle := b.bundle(b.packet())
	first, third := b.sign(bundle, 0), b.sign(bundle, 2)
	if _, err := b.rules.FinishCold(b.wallet, first.Bytes); !errors.Is(err, chain.ErrColdIncomplete) {
		t.Errorf("one signature is enough: got %v, want ErrColdIncomplete", err)
	}
	joined, err := b.own.Combine(first, third.Bytes, now)
	if err != nil {
		t.Fatal(err)
	}
	one, err1 := b.rules.FinishCold(b.wallet, joined.Bytes)
	other, err2 := b.rules.FinishCold(b.wallet, b.sign(first, 1).Bytes)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	b.run(one.Raw)
	b.run(other.Raw)
	if one.TxID != other.TxID {
		t.Errorf("the transactions are %s and %s, want one", one.TxID, other.TxID)
	}
	// A program that makes the last signature returns the complete transaction, or a final PSBT.
	back, err := b.own.Combine(first, one.Raw, now)
	if err != nil {
		t.Fatal(err)
	}
	again, err := b.rules.FinishCold(b.wallet, back.Bytes)
	if err != nil || !bytes.Equal(again.Raw, one.Raw) {
		t.Errorf("from the complete transaction: got %x, %v, want %x", again.Raw, err, one.Raw)
	}
}

func TestWhatAPersonReadsIsMadeOfTheBytes(t *testing.T) {
	t.Parallel()
	b := newHarness(t, twoOfThree)
	bundle := b.sign(b.bundle(b.packet()), 1)
	tx, err := b.own.Evaluate(bundle, now)
	if err != nil {
		t.Fatal(err)
	}
	text := b.own.Describe(bundle, tx)
	for _, want := range []string{"0.40000000 BTC", b.own.Home, "0.59999000 BTC to the cold wallet", "0.00001000 BTC",
		"1 of 2", b.previous.TxHash().String() + ":0", "2026-11-25T12:00:00Z"} {
		if !strings.Contains(text, want) {
			t.Errorf("got %s, want %q in it", text, want)
		}
	}
}

// attack is a change of an honest bundle or of its transaction.
type attack struct {
	name   string
	packet func(b *harness, p *psbt.Packet)
	bundle func(b *harness, c *ceremony.Bundle)
	reason signer.Reason
	err    error
}

func attacks() []attack {
	return []attack{
		{name: "the destination in the bytes is another", reason: signer.ReasonExternal,
			packet: func(b *harness, p *psbt.Packet) { p.Tx.TxOut[0].PkScript = b.at(1).Script }},
		{name: "the amount in the bytes is another", reason: signer.ReasonExternal,
			packet: func(_ *harness, p *psbt.Packet) { p.Tx.TxOut[0].Value-- }},
		{name: "the change goes elsewhere", reason: signer.ReasonExternal,
			packet: func(b *harness, p *psbt.Packet) { p.Tx.TxOut[1].PkScript = []byte{0, 20, 19: 1, 21: 9} }},
		{name: "a third output", reason: signer.ReasonUnreadable,
			packet: func(b *harness, p *psbt.Packet) {
				p.Tx.AddTxOut(wire.NewTxOut(1000, b.at(0).Script))
				p.Outputs = append(p.Outputs, nil)
			}},
		{name: "the fee is above the bundle's", reason: signer.ReasonFee,
			packet: func(_ *harness, p *psbt.Packet) { p.Tx.TxOut[1].Value -= 10_000 }},
		{name: "the fee is above this machine's", reason: signer.ReasonFee,
			packet: func(_ *harness, p *psbt.Packet) { p.Tx.TxOut[1].Value -= 200_000 },
			bundle: func(_ *harness, c *ceremony.Bundle) { c.MaxFee = bursar.Units(1e8) }},
		{name: "the fee rate is above this machine's", reason: signer.ReasonRate,
			packet: func(_ *harness, p *psbt.Packet) { p.Tx.TxOut[1].Value -= 98_000 },
			bundle: func(_ *harness, c *ceremony.Bundle) { c.MaxFee = bursar.Units(1e8) }},
		{name: "the previous transaction lies", reason: signer.ReasonUnreadable,
			packet: func(b *harness, p *psbt.Packet) {
				lie := b.previous.Copy()
				lie.TxOut[0].Value = 2e8
				p.Inputs[0].Set([]byte{psbt.InPrevious}, b.raw(lie))
			}},
		{name: "the output alone says what the input holds", reason: signer.ReasonUnreadable,
			packet: func(b *harness, p *psbt.Packet) {
				p.Inputs[0] = psbt.Map{{Key: []byte{psbt.InOutput}, Value: bytes.Repeat([]byte{0}, 43)}}
			}},
		{name: "an input of somebody else", reason: signer.ReasonUnreadable,
			packet: func(b *harness, p *psbt.Packet) {
				b.previous.TxOut[0].PkScript = b.script(b.own.Home)
				p.Tx.TxIn[0].PreviousOutPoint.Hash = b.previous.TxHash()
				p.Inputs[0].Set([]byte{psbt.InPrevious}, b.raw(b.previous))
			}},
		{name: "signatures that commit to less", reason: signer.ReasonUnreadable,
			packet: func(_ *harness, p *psbt.Packet) { p.Inputs[0].Set([]byte{psbt.InSigHash}, []byte{0x82, 0, 0, 0}) }},
		{name: "a signature of nobody", reason: signer.ReasonUnreadable,
			packet: func(b *harness, p *psbt.Packet) {
				p.Inputs[0].Set(append([]byte{psbt.InSignature}, b.at(0).Keys[0].Public...), bytes.Repeat([]byte{1}, 71))
			}},
		{name: "another witness script", reason: signer.ReasonUnreadable,
			packet: func(_ *harness, p *psbt.Packet) {
				p.Inputs[0].Set([]byte{psbt.InWitnessScript}, []byte{txscript.OP_TRUE})
			}},
		{name: "a lock time", reason: signer.ReasonUnreadable,
			packet: func(_ *harness, p *psbt.Packet) { p.Tx.LockTime = 1 }},
		{name: "another hot wallet", reason: signer.ReasonDestination,
			bundle: func(b *harness, c *ceremony.Bundle) { c.Payment.Address.Base = b.base(b.at(0).Script[:34]) }},
		{name: "the hot wallet is said to be cold", reason: signer.ReasonRequest,
			bundle: func(b *harness, c *ceremony.Bundle) {
				b.own.Home = b.wallet.Addresses[0]
				c.Payment.Address.Base = b.own.Home
			}},
		{name: "another instance", err: ceremony.ErrOtherService,
			bundle: func(_ *harness, c *ceremony.Bundle) { c.Instance = strings.Repeat("0", 32) }},
		{name: "another network", err: ceremony.ErrOtherService,
			bundle: func(_ *harness, c *ceremony.Bundle) { c.Network = "mainnet" }},
		{name: "usable for too long", err: ceremony.ErrLasting,
			bundle: func(_ *harness, c *ceremony.Bundle) { c.Expires = now.Add(ceremony.Lifetime + 2*time.Hour) }},
		{name: "too late", err: ceremony.ErrExpired, bundle: func(_ *harness, c *ceremony.Bundle) { c.Expires = now }},
		{name: "an address that the descriptor does not have", reason: "",
			bundle: func(b *harness, c *ceremony.Bundle) { c.Wallet.Addresses = append(c.Wallet.Addresses, b.own.Home) }},
	}
}

func TestAttacksOnBundlesAreRefused(t *testing.T) {
	t.Parallel()
	for _, a := range attacks() {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			b := newHarness(t, twoOfThree)
			p := b.packet()
			if a.packet != nil {
				a.packet(b, p)
			}
			bundle := b.bundle(p)
			if a.bundle != nil {
				a.bundle(b, &bundle)
			}
			_, err := b.own.Sign(bundle, b.keys[0], now)
			var refusal *signer.RefusalError
			switch {
			case err == nil:
				t.Error("got a signature, want none")
			case a.reason != "" && (!errors.As(err, &refusal) || refusal.Reason != a.reason):
				t.Errorf("got %v, want the reason %s", err, a.reason)
			case a.err != nil && !errors.Is(err, a.err):
				t.Errorf("got %v, want %v", err, a.err)
			}
		})
	}
}

// Each byte of a bundle counts: with another one it is refused, also where the checksum is made to fit again.
func TestABundleHasOneSpelling(t *testing.T) {
	t.Parallel()
	b := newHarness(t, oneKey)
	text := b.bundle(b.packet()).Text()
	if _, err := ceremony.Read(text); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{
		"", text[:len(text)-1], text + "\n", strings.Replace(text, "units: 40000000", "units: 40000001", 1),
		strings.Replace(text, "\n", "\r\n", 1), strings.ToUpper(text),
	} {
		if _, err := ceremony.Read(bad); !errors.Is(err, ceremony.ErrBundle) {
			t.Errorf("%.60q: got %v, want an ErrBundle", bad, err)
		}
	}
	for old, with := range map[string]string{
		"units: 40000000": "units: 040000000", "max_fee: 10000\n": "max_fee: 10000 \n", "asset: native": "asset: ",
		"network: regtest\n":            "network: regtest\nnetwork: regtest\n",
		"created: 2026-11-24T12:00:00Z": "created: 2026-11-24T13:00:00+01:00",
	} {
		if _, err := ceremony.Read(ceremony.Resealed(text, old, with)); !errors.Is(err, ceremony.ErrBundle) {
			t.Errorf("%s: got %v, want an ErrBundle", with, err)
		}
	}
	later := b.bundle(b.packet())
	later.Expires = later.Expires.Add(time.Hour)
	if later.Same(b.bundle(b.packet())) {
		t.Error("two bundles that differ are the same")
	}
}
