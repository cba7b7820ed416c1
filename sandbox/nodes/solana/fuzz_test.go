package solana

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"testing"
)

// FuzzTransaction parses and runs any bytes: nothing panics, and no lamports are created.
func FuzzTransaction(f *testing.F) {
	raw, err := os.ReadFile("testdata/svm.json")
	if err != nil {
		f.Fatal(err)
	}
	var recorded struct{ Cases []struct{ Raw string } }
	if err := json.Unmarshal(raw, &recorded); err != nil {
		f.Fatal(err)
	}
	for _, c := range recorded.Cases {
		wire, err := base64.StdEncoding.DecodeString(c.Raw)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(wire)
	}
	d := &faucetTx{event: &event{Kind: eventTable, Data: make([]byte, 32)}}
	d.transfers([]Output{{key{}.String(), 1}})
	f.Add(d.sign(key{}))
	b := newBank(nativePrograms(), nil, 0)
	f.Fuzz(func(t *testing.T, wire []byte) {
		tx, err := parseTransaction(wire)
		if err != nil {
			return
		}
		o := run(tx, ground{state: func(k key) account {
			if a, known := b.accounts[k]; known {
				return a
			}
			return account{lamports: 2_000_000_000}
		}})
		if o.notIncluded {
			return
		}
		var before, after uint64
		for i := range o.before {
			before, after = before+o.before[i], after+o.after[i]
		}
		if after+o.fee != before {
			t.Fatalf("%d lamports become %d with a fee of %d", before, after, o.fee)
		}
	})
}
