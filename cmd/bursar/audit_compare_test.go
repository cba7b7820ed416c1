package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/signer/command"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/signerlog"
)

// signedOnce adds an entry to the log of a harness's signer, which allows a payment of 0.5 BTC.
func (d *harness) signedOnce(outgoing bursar.ID) {
	d.Helper()
	file, err := memory.Join(d.Context(), filepath.Join(d.dir, "seed.age.state"))
	if err != nil {
		d.Fatal(err)
	}
	defer file.Close()
	detail := `{"chain":"bitcoin","kind":"withdrawal","outgoing":"` + outgoing.String() + `","flow":1,"digest":"ab",` +
		`"tx":"cd","inputs":[{"from":"bc1qhot","utxo":"ef:0","amount":"60000000"}],"home":"bc1qhot","fee":"1000",` +
		`"payments":[{"address":{"base":"bc1qann"},"amount":"50000000"},` +
		`{"address":{"base":"bc1qhot"},"amount":"9999000"}],` +
		`"allowed":[{"order":"` + outgoing.String() + `","hash":"","policy":7,"rule":"small","by":["ann","bob"]}]}`
	err = file.Do(d.Context(), func(tx memory.Tx) error {
		state, err := tx.State(d.Context())
		if err != nil {
			return err
		}
		_, err = tx.Append(d.Context(), state.HighWater, memory.KindSigned, detail)
		return err
	})
	if err != nil {
		d.Fatal(err)
	}
}

// The signer's log is listed where it is, exported, and compared with the books where these are.
func TestTheSignersLogIsComparedWithTheBooks(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t, "chains: {bitcoin: {rpc: http://127.0.0.1:1}}")
	d.ok("signer", "init", "--unused")
	outgoing := bursar.ID{1, 2, 3}
	export := func(name string) (path, key string) {
		path = filepath.Join(d.dir, name)
		_, key, _ = strings.Cut(strings.TrimSpace(d.ok("audit", "export", path)), "The key is ")
		return path, key
	}
	empty, key := export("empty.log")
	if said := d.ok("audit", "compare", empty, "--key", key); !strings.Contains(said, "agree") {
		t.Errorf("compare of nothing says %q, want that both agree", said)
	}
	d.signedOnce(outgoing)
	d.ok("signer", "freeze", "--reason", "a drill", "--by", "ann")
	d.fails(exitFailed, "file exists", "audit", "export", empty)
	path, key := export("november.log")
	for _, list := range [][]string{{"audit", "list"}, {"audit", "list", path, "--key", key}} {
		said := d.ok(list...)
		for _, want := range []string{"withdrawal on bitcoin: 0.50000000 BTC to bc1qann, 0.09999000 BTC stays with us",
			"fee at most 0.00001000 BTC", "transaction cd", "from 1 UTXOs", "by rule small of policy 7, approved by ann, bob",
			"who ann; why a drill", "init"} {
			if !strings.Contains(said, want) {
				t.Errorf("%q says %s, want %q in it", list, said, want)
			}
		}
	}
	for _, test := range []struct {
		args []string
		want int
	}{{nil, 3}, {[]string{"--kind", "signed"}, 1}, {[]string{"--kind", "signed", "--kind", "freeze"}, 2},
		{[]string{"--chain", "bitcoin"}, 1}, {[]string{"--chain", "tron"}, 0}, {[]string{"--number", "3"}, 1},
		{[]string{"--since", "2100-01-01"}, 0}, {[]string{"--until", "2000-01-01T00:00:00Z"}, 0}} {
		args := append([]string{"audit", "list", "--json"}, test.args...)
		if got := parse[[]command.ListedEntry](d, args...); len(got) != test.want {
			t.Errorf("%q lists %d entries, want %d", args, len(got), test.want)
		}
	}
	d.fails(exitUsage, "is not a time", "audit", "list", "--since", "yesterday")
	d.fails(exitUsage, "--until must be later than --since",
		"audit", "list", "--since", "2026-02-01", "--until", "2026-01-01")
	d.ok("audit", "verify", path, "--key", key)
	d.fails(exitUsage, "a witness cosigns checkpoints", "audit", "verify", path, "--key", key, "--witness", "w")

	compare := []string{"audit", "compare", path, "--key", key}
	o := d.run("", append(compare, "--json")...)
	var got comparedLog
	if err := json.Unmarshal([]byte(o.out), &got); err != nil {
		t.Fatalf("compare prints %q: %v", o.out, err)
	}
	if o.code != exitFailed || len(got.Differences) != 1 || got.Differences[0].Kind != signerlog.UnknownToBooks ||
		*got.Differences[0].Outgoing != outgoing || got.Entries != 3 || got.Signed["withdrawal"] != 1 {
		t.Errorf("compare exits with %d and %+v, want 1 and the entry that the books do not know", o.code, got)
	}
	if o := d.run("", compare...); o.code != exitFailed || !strings.Contains(o.err, "the books: 1;") ||
		!strings.Contains(o.out, "DIFFERENCE unknown_to_books, entry 2") {
		t.Errorf("compare gives %+v, want 1 and the difference in words", o)
	}
	d.ok(append(compare, "--until", "2000-01-01")...)
	d.fails(exitUsage, "give one for all exports, or one for each", append(compare, "--key", key)...)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), "bc1qann", "bc1qbob", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	d.fails(exitFailed, "the log was changed", compare...)
}
