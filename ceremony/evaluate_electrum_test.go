package ceremony_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/bursar/bursar/ceremony"
)

// electrumAnswer is what Electrum says of a transaction, and what it made of it.
type electrumAnswer struct {
	Inputs   []int64  `json:"inputs"`
	Outputs  [][2]any `json:"outputs"`
	Change   []bool   `json:"change"`
	Fee      int64    `json:"fee"`
	Complete bool     `json:"complete"`
	Signed   string   `json:"signed"`
}

type electrumSays struct {
	Expression string           `json:"expression"`
	Address    string           `json:"address"`
	Answers    []electrumAnswer `json:"answers"`
}

// electrum runs Debian's Electrum once, as the holder of the seed of thirty-two fours.
func (b *harness) electrum(psbts ...[]byte) electrumSays {
	b.Helper()
	if err := exec.CommandContext(b.Context(), "/usr/bin/python3", "-c", "import electrum").Run(); err != nil {
		b.Fatalf("electrum is missing (%v): install it with `apt-get install electrum`", err)
	}
	asked := map[string]any{"seed": strings.Repeat("04", 32)}
	var others []map[string]string
	for _, keys := range b.keys[:2] {
		expression, err := keys.KeyExpression("bitcoin")
		if err != nil {
			b.Fatal(err)
		}
		others = append(others, map[string]string{"fingerprint": expression[1:9],
			"xpub": expression[strings.Index(expression, "]")+1:]})
	}
	var texts []string
	for _, data := range psbts {
		texts = append(texts, base64.StdEncoding.EncodeToString(data))
	}
	asked["others"], asked["psbts"] = others, texts
	line, err := json.Marshal(asked)
	if err != nil {
		b.Fatal(err)
	}
	run := exec.CommandContext(b.Context(), "/usr/bin/python3", "testdata/cosigner.py")
	home := b.TempDir()
	var stderr bytes.Buffer
	run.Env, run.Stdin, run.Stderr = append(os.Environ(), "HOME="+home), bytes.NewReader(append(line, '\n')), &stderr
	out, err := run.Output()
	if err != nil {
		b.Fatalf("electrum: %v: %s", err, stderr.String())
	}
	var says electrumSays
	if err := json.Unmarshal(out, &says); err != nil || len(says.Answers) != len(psbts) {
		b.Fatalf("electrum says %s (%v), want %v of them", out, err, len(psbts))
	}
	return says
}

// Electrum 4.3.4 has the third key. It derives the same key and address, reads the same amounts, takes our change for
// its own, and its signatures and ours complete each other in either order.
func TestElectrumIsACosigner(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it needs electrum")
	}
	b := newHarness(t, twoOfThree)
	unsigned := b.bundle(b.packet())
	ours := b.sign(unsigned, 0)
	says := b.electrum(unsigned.Bytes, ours.Bytes)
	expression, err := b.keys[2].KeyExpression("bitcoin")
	if err != nil || says.Expression != expression {
		t.Errorf("its key: got %s, want %s (%v)", says.Expression, expression, err)
	}
	if says.Address != b.wallet.Addresses[0] {
		t.Errorf("its first address: got %s, want %s", says.Address, b.wallet.Addresses[0])
	}
	for i, a := range says.Answers {
		want := fmt.Sprint([][2]any{{b.own.Home, 4e7}, {b.wallet.Addresses[0], 6e7 - 1000.0}})
		if got := fmt.Sprint(a.Outputs); got != want || a.Fee != 1000 || len(a.Inputs) != 1 || a.Inputs[0] != 1e8 ||
			fmt.Sprint(a.Change) != "[false true]" || a.Complete != (i == 1) {
			t.Errorf("transaction %d: it reads %+v, want outputs %s", i, a, want)
		}
	}
	theirs, err1 := b.own.Combine(unsigned, ceremony.Decode([]byte(says.Answers[0].Signed)), now)
	joined, err2 := b.own.Combine(ours, theirs.Bytes, now)
	back, err3 := b.own.Combine(ours, ceremony.Decode([]byte(says.Answers[1].Signed)), now)
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	first, err1 := b.rules.FinishCold(b.wallet, joined.Bytes)
	second, err2 := b.rules.FinishCold(b.wallet, back.Bytes)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	b.run(first.Raw)
	b.run(second.Raw)
	if first.TxID != second.TxID {
		t.Errorf("the transactions are %s and %s, want one", first.TxID, second.TxID)
	}
}
