package bitcoin

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/v2"

	"github.com/bursar/bursar/sandbox/nodes/host"
	"github.com/bursar/bursar/sandbox/nodes/host/hosttest"
)

// state is what a node reports about itself.
type state struct {
	Height, Balance int64
	Best, Mempool   string
}

func stateOf(t *testing.T, n *Node, address string) state {
	t.Helper()
	balance, err := n.Balance(address)
	if err != nil {
		t.Fatal(err)
	}
	return state{n.Height(), balance, must[string](t, n, "getbestblockhash"), encode(t, rpc(t, n, "getrawmempool").Result)}
}

// busy runs a node with a history: payments, replaced and dropped ones, reorgs, and a filled mempool.
func busy(t *testing.T, dir string) (*Node, string) {
	t.Helper()
	n := start(t, Config{Options: host.Options{DataDir: dir}})
	a := newAddress(t, n)
	s, c := funded(t, n, "customer", coinUnit)
	must[string](t, n, "sendrawtransaction", s.spend(t, c, a, 1_000, 0))
	must[string](t, n, "sendrawtransaction", s.spend(t, c, a, 5_000, 0))
	mine(t, n, 2)
	dropped := pay(t, n, a, 77_000)
	mine(t, n, 2)
	if err := n.Reorg(3, []string{dropped}); err != nil {
		t.Fatal(err)
	}
	back := mine(t, n, 2)
	rpc(t, n, "invalidateblock", back[0])
	must[[]string](t, n, "generatetoaddress", 3, a)
	must[any](t, n, "generateblock", a, []string{})
	for i := range 20 {
		pay(t, n, a, 1_000+int64(i))
	}
	return n, a
}

// copyDir copies a data directory while its node runs, which is what a kill leaves behind.
func copyDir(t *testing.T, from string) string {
	t.Helper()
	to := t.TempDir()
	raw, err := os.ReadFile(filepath.Join(from, journalName))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(to, journalName), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return to
}

func TestRestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n, a := busy(t, dir)
	want := stateOf(t, n, a)
	again := start(t, Config{Options: host.Options{DataDir: copyDir(t, dir)}})
	if got := stateOf(t, again, a); got != want {
		t.Fatalf("after a restart\n got %+v\nwant %+v", got, want)
	}
	mine(t, again, 1) // the faucet has its keys and the mempool its transactions
	pay(t, again, a, 5_000)
	if got := must[[]string](t, again, "getrawmempool"); len(got) != 1 {
		t.Errorf("mempool %v", got)
	}
}

// TestTornTail cuts the journal at every length of its last records: the node starts with the whole records, and the
// next start finds what it writes then.
func TestTornTail(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n, a := busy(t, dir)
	raw, err := os.ReadFile(filepath.Join(dir, journalName))
	if err != nil {
		t.Fatal(err)
	}
	height := n.Height()
	for _, cut := range []int{1, 3, 9, 200, 500, 1000} {
		torn := t.TempDir()
		if err := os.WriteFile(filepath.Join(torn, journalName), raw[:len(raw)-cut], 0o600); err != nil {
			t.Fatal(err)
		}
		first := start(t, Config{Options: host.Options{DataDir: torn}})
		if first.Height() != height {
			t.Fatalf("cut by %d: height %d, want %d", cut, first.Height(), height)
		}
		if got := len(must[[]string](t, first, "getrawmempool")); got >= 20 || got == 0 {
			t.Errorf("cut by %d: %d transactions wait", cut, got)
		}
		pay(t, first, a, 1_000_000)
		want := stateOf(t, first, a)
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
		if got := stateOf(t, start(t, Config{Options: host.Options{DataDir: torn}}), a); got != want {
			t.Errorf("cut by %d\n got %+v\nwant %+v", cut, got, want)
		}
	}
}

func TestDamagedJournalIsRefused(t *testing.T) {
	t.Parallel()
	live := t.TempDir()
	busy(t, live)
	if _, err := Start(t.Context(), Config{Options: host.Options{DataDir: live}}); err == nil ||
		!strings.Contains(err.Error(), "lock") {
		t.Errorf("a second node in the same directory: got %v, want a refusal", err)
	}
	dir := copyDir(t, live)
	raw, err := os.ReadFile(filepath.Join(dir, journalName))
	if err != nil {
		t.Fatal(err)
	}
	raw[len(raw)/2] ^= 1
	if err := os.WriteFile(filepath.Join(dir, journalName), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Start(t.Context(), Config{Options: host.Options{DataDir: dir}}); !errors.Is(err, host.ErrDamaged) {
		t.Errorf("start from a damaged journal: got %v, want a refusal", err)
	}
	other := t.TempDir()
	if err := start(t, Config{Options: host.Options{DataDir: other}}).Close(); err != nil {
		t.Fatal(err)
	}
	params := LitecoinParams()
	genesis := *params.GenesisHash
	genesis[0] ^= 1
	params.GenesisHash = &genesis
	if _, err := Start(t.Context(), Config{Options: host.Options{DataDir: other}, Params: params}); err == nil ||
		!strings.Contains(err.Error(), "not one of chain") {
		t.Errorf("start from another chain's journal: got %v, want a refusal", err)
	}
}

// TestReplayOfManyBlocks starts a node with 2,000 blocks.
func TestReplayOfManyBlocks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n := start(t, Config{Options: host.Options{DataDir: dir}})
	mine(t, n, 2_000)
	best := must[string](t, n, "getbestblockhash")
	copied := copyDir(t, dir)
	began := time.Now()
	again := start(t, Config{Options: host.Options{DataDir: copied}})
	t.Logf("2,000 blocks replayed in %v", time.Since(began))
	if got := must[string](t, again, "getbestblockhash"); got != best {
		t.Errorf("best block %s, want %s", got, best)
	}
}

// TestAFrozenJournalFreezesTheNode closes the journal under a node, which then refuses as after a write that failed.
func TestAFrozenJournalFreezesTheNode(t *testing.T) {
	t.Parallel()
	n := start(t, Config{})
	a := newAddress(t, n)
	s, c := funded(t, n, "customer", coinUnit)
	raw := s.spend(t, c, a, 1_000, 0)
	before := stateOf(t, n, a)
	if err := n.journal.Close(); err != nil {
		t.Fatal(err)
	}
	_, mined := n.Mine(1)
	_, paid := n.Pay(a, 5_000)
	for change, err := range map[string]error{"mine": mined, "pay": paid, "reorg": n.Reorg(1, nil)} {
		if !errors.Is(err, host.ErrClosed) {
			t.Errorf("%s: %v", change, err)
		}
	}
	for method, params := range map[string][]any{
		"sendrawtransaction": {raw}, "generatetoaddress": {1, a}, "generateblock": {a, []string{}},
		"invalidateblock": {before.Best}, "reconsiderblock": {before.Best},
	} {
		got := rpc(t, n, method, params...)
		if got.Error == nil || !strings.Contains(got.Error.Message, host.ErrClosed.Error()) {
			t.Errorf("%s: %+v", method, got)
		}
	}
	if after := stateOf(t, n, a); after != before {
		t.Errorf("\n got %+v\nwant %+v", after, before)
	}
}

// TestAnEarlierJournalIsRead starts from a journal with every kind of step, which an earlier version wrote.
func TestAnEarlierJournalIsRead(t *testing.T) {
	t.Parallel()
	params := chaincfg.RegressionNetParams
	params.CoinbaseMaturity = 1 // a short journal
	dir := hosttest.Earlier(t, "testdata/earlier.v1", journalName)
	then := func() time.Time { return time.Unix(1_795_435_800, 0) }
	n := start(t, Config{Options: host.Options{DataDir: dir, Now: then}, Params: &params})
	const a = "bcrt1qf800cj42e94zkrnjlnatjkachk5734kycwgj7f"
	if got, want := stateOf(t, n, a), (state{
		Height:  16,
		Balance: 100_000,
		Best:    "638fefee4520858b638ab5fe3c97cfb65dfda35b700d9ee7ab00abf62ac9f897",
		Mempool: `["e4377e3df534708930f9d7a9a8a04380e67cf2a2396be51887db253ea2a26be1"]`,
	}); got != want {
		t.Errorf("\n got %+v\nwant %+v", got, want)
	}
	mine(t, n, 1) // the faucet has its keys
	if balance, err := n.Balance("bcrt1qfur68zckjnd6svp273e73pftgk3xhshut348m4"); balance != 300_000 || err != nil {
		t.Errorf("what waited brought %d, %v; the payment before it was dropped", balance, err)
	}
}

func TestMain(m *testing.M) { hosttest.Main(m, runChild) }

// FuzzJournal reads any bytes as a journal: the result is whole records or an error, never a panic, and whole records
// stay whole.
func FuzzJournal(f *testing.F) {
	var seed []byte
	for _, steps := range [][]step{{{stepOpen, make([]byte, 64)}}, {{stepBlock, []byte("b")}, {stepEvict, nil}}} {
		var err error
		if seed, err = (records{}).Encode(seed, steps); err != nil {
			f.Fatal(err)
		}
	}
	f.Add(seed)
	f.Add(seed[:len(seed)-1])
	f.Add(binary.LittleEndian.AppendUint64(nil, 1<<40))
	f.Fuzz(func(t *testing.T, raw []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, journalName), raw, 0o600); err != nil {
			t.Fatal(err)
		}
		count := func() (read int, err error) {
			h := host.New("test", host.Options{DataDir: dir})
			open := func(ctx context.Context) error {
				_, err := host.OpenJournal(ctx, h, journalName, records{}, func([]step) error { read++; return nil })
				return err
			}
			if err := h.Start(t.Context(), open); err != nil {
				return read, err
			}
			return read, h.Close()
		}
		first, err := count()
		second, again := count()
		if (err == nil) != (again == nil) || (err == nil && first != second) {
			t.Errorf("read %d records, %v, then %d, %v", first, err, second, again)
		}
	})
}
