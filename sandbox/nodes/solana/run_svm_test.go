package solana

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"testing"
)

// recordedCase is a transaction and its outcome in LiteSVM.
type recordedCase struct {
	Name     string
	Raw      string
	Err      any
	Units    uint64
	Balances map[string]uint64
}

func recordedCases(t *testing.T) []recordedCase {
	t.Helper()
	raw, err := os.ReadFile("testdata/svm.json")
	if err != nil {
		t.Fatal(err)
	}
	var recorded struct{ Cases []recordedCase }
	if err := json.Unmarshal(raw, &recorded); err != nil || len(recorded.Cases) < 25 {
		t.Fatalf("%d cases, %v, want at least 25", len(recorded.Cases), err)
	}
	return recorded.Cases
}

// TestLikeTheSVM runs transactions whose outcome in the real SVM was recorded: errors, units and every balance are
// the same.
func TestLikeTheSVM(t *testing.T) {
	t.Parallel()
	for _, c := range recordedCases(t) {
		wire, err := base64.StdEncoding.DecodeString(c.Raw)
		if err != nil {
			t.Fatal(err)
		}
		tx, err := parseTransaction(wire)
		if err != nil || !tx.verify() {
			t.Fatalf("%s: %v", c.Name, err)
		}
		b := newBank(nativePrograms(), nil, 0)
		b.accounts[tx.keys[0]] = account{lamports: 2_000_000_000}
		x := b.begin(blockPlan{Slot: 1})
		o := run(tx, ground{state: func(k key) account { return b.accounts[k] }})
		for k, a := range o.changes {
			b.set(x, k, a)
		}
		got, err1 := json.Marshal(o.err)
		want, err2 := json.Marshal(c.Err)
		if err1 != nil || err2 != nil || string(got) != string(want) || o.units != c.Units {
			t.Errorf("%s: %s after %d units, the SVM has %s after %d", c.Name, got, o.units, want, c.Units)
		}
		for address, lamports := range c.Balances {
			if k := mustKey(address); b.accounts[k].lamports != lamports {
				t.Errorf("%s: %s holds %d, the SVM has %d", c.Name, address, b.accounts[k].lamports, lamports)
			}
		}
	}
}
