package bitcoin

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func hexReader(t testing.TB, s string) *bytes.Reader {
	t.Helper()
	return bytes.NewReader(unhex(t, s))
}

func TestInspectRefusesTransactionsThatAreNotOurs(t *testing.T) {
	t.Parallel()
	c := open(t, newFake())
	built, _ := mustBuild(t, c, requestOf(t, c, []uint64{100_000}, 60_000, 70_000))
	for why, change := range map[string]func(u *unsigned){
		"another version":  func(u *unsigned) { u.tx.Version = 1 },
		"a lock time":      func(u *unsigned) { u.tx.LockTime = 900_000 },
		"a final sequence": func(u *unsigned) { u.tx.TxIn[0].Sequence = 0xffffffff },
		"a script":         func(u *unsigned) { u.tx.TxIn[0].SignatureScript = []byte{1} },
		"an input " +
			"twice": func(u *unsigned) { u.tx.TxIn[1].PreviousOutPoint = u.tx.TxIn[0].PreviousOutPoint },
		"no outputs":                     func(u *unsigned) { u.tx.TxOut = nil },
		"a UTXO less":                    func(u *unsigned) { u.inputs = u.inputs[:1] },
		"a UTXO of amount zero":          func(u *unsigned) { u.inputs[0].Amount = bursar.Amount{} },
		"a UTXO over the maximum supply": func(u *unsigned) { u.inputs[0].Amount = bursar.Units(maxMoney + 1) },
		"more out than in":               func(u *unsigned) { u.tx.TxOut[0].Value = 1_000_000 },
		"a value below zero":             func(u *unsigned) { u.tx.TxOut[0].Value = -1 },
		"data":                           func(u *unsigned) { u.tx.TxOut[0].PkScript = []byte{0x6a, 1, 1} },
		"an unknown witness": func(u *unsigned) {
			u.tx.TxOut[0].PkScript = programScript(0x52, make([]byte,
				32))
		},
		"a P2PK output": func(u *unsigned) {
			u.tx.TxOut[0].PkScript = slices.Concat([]byte{33}, make([]byte, 33), []byte{opCheckSig})
		},
		"a source that is not " +
			"P2WPKH": func(u *unsigned) { u.inputs[0].Source.Base = "2N3oefVeg6stiTb5Kh3ozCSkaqmx91FDbsm" },
		"a source in upper " +
			"case": func(u *unsigned) { u.inputs[0].Source.Base = strings.ToUpper(u.inputs[0].Source.Base) },
		"change to nowhere": func(u *unsigned) { u.change = chain.Source{} },
	} {
		u, err := c.network.parseUnsigned(built.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		change(&u)
		data, err := u.encode()
		if err != nil {
			t.Fatal(err)
		}
		if contents, err := c.Inspect(data); err == nil {
			t.Errorf("%s: %+v, want an error", why, contents)
		}
	}
}

func TestInspectAcceptsOneSpelling(t *testing.T) {
	t.Parallel()
	c := open(t, newFake())
	built, _ := mustBuild(t, c, requestOf(t, c, []uint64{100_000}, 60_000, 70_000))
	text := string(built.Bytes)
	var form map[string]any
	if err := json.Unmarshal(built.Bytes, &form); err != nil {
		t.Fatal(err)
	}
	for why, other := range map[string]string{
		"a space":              " " + text,
		"a line feed after":    text + "\n",
		"an additional member": strings.Replace(text, `{"tx"`, `{"x":1,"tx"`, 1),
		"a member twice":       strings.Replace(text, `{"tx"`, `{"tx":"","tx"`, 1),
		"another case":         strings.Replace(text, `"tx"`, `"TX"`, 1),
		"hexadecimal in upper": strings.Replace(text, form["tx"].(string), strings.ToUpper(form["tx"].(string)), 1),
		"bytes after the tx":   strings.Replace(text, `","inputs"`, `00","inputs"`, 1),
		"nothing":              "",
		"null":                 "null",
		"too much":             text + strings.Repeat(" ", maxUnsigned),
	} {
		if other == text {
			t.Fatalf("%s: the text is not another spelling", why)
		}
		if contents, err := c.Inspect([]byte(other)); err == nil {
			t.Errorf("%s: %+v, want an error", why, contents)
		}
	}
}

// FuzzInspect checks that everything accepted has one reading: it is written again byte for byte, and adds up.
func FuzzInspect(f *testing.F) {
	c := open(f, newFake())
	for _, amounts := range [][]uint64{{100_000}, {50_000, 60_000}} {
		built, _ := mustBuild(f, c, requestOf(f, c, amounts, 60_000, 70_000, 80_000))
		f.Add(built.Bytes)
	}
	f.Add([]byte(`{"tx":"","inputs":null,"change":{"key":{"family":"","branch":0,"index":0},"base":""}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		contents, err := c.Inspect(data)
		if err != nil {
			return
		}
		u, err := c.network.parseUnsigned(data)
		if err != nil {
			t.Fatal(err)
		}
		again, err := u.encode()
		if err != nil || !bytes.Equal(again, data) {
			t.Fatalf("%s is written as %s (%v), want %x", data, again, err, data)
		}
		var in, out bursar.Amount
		for _, input := range u.inputs {
			in, _ = in.Add(input.Amount)
		}
		for _, payment := range contents.Payments {
			out, _ = out.Add(payment.Amount)
		}
		if rest, err := in.Sub(out); err != nil || rest != contents.Fee || len(contents.Inputs) != len(u.tx.TxIn) {
			t.Fatalf("%s in, %s out, fee %s", in, out, contents.Fee)
		}
	})
}

func TestUnsignedSurvivesStorage(t *testing.T) {
	t.Parallel()
	c := open(t, newFake())
	built, contents := mustBuild(t, c, requestOf(t, c, []uint64{100_000}, 500_000))
	stored, err := json.Marshal(built)
	if err != nil {
		t.Fatal(err)
	}
	var loaded chain.UnsignedTx
	if err := json.Unmarshal(stored, &loaded); err != nil || !reflect.DeepEqual(loaded, built) {
		t.Fatalf("the unsigned transaction is %+v, stored %+v (%v), want %+v", built, loaded, err, built)
	}
	again, err := c.Inspect(loaded.Bytes)
	if err != nil || !reflect.DeepEqual(again, contents) {
		t.Fatalf("contents are %+v, after storage %+v (%v), want %+v", contents, again, err, contents)
	}
	var tx wire.MsgTx
	if err := tx.Deserialize(bytes.NewReader(assemble(t, c, loaded).Raw)); err != nil ||
		tx.TxIn[0].Sequence != txSequence || tx.Version != 2 {
		t.Fatalf("the transaction is %+v (%v), want %v and 2", tx, err, txSequence)
	}
}
