package solana_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/chaintest"
	adapter "github.com/bursar/bursar/chain/solana"
	"github.com/bursar/bursar/sandbox/nodes/host"
	"github.com/bursar/bursar/sandbox/nodes/host/hosttest"
	"github.com/bursar/bursar/sandbox/nodes/solana"
)

// TestReorgAboveFinality checks that blocks above the finalized one may be replaced, and that a reader of final
// blocks does not notice.
func TestReorgAboveFinality(t *testing.T) {
	t.Parallel()
	n := start(t, solana.Config{FinalityDepth: 6})
	c := connect(t, n, adapter.Private())
	kept, dropped := n.NewAddress(), n.NewAddress()
	watch := chaintest.NewWatch(kept, dropped)
	head, err := c.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	keptID, err1 := n.Pay(kept, sol)
	droppedID, err2 := n.Pay(dropped, sol)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	mine(t, n, 3)
	if balance(t, n, kept) != sol || balance(t, n, dropped) != sol {
		t.Fatal("the payments are not in a block")
	}
	if blocks, err := c.After(t.Context(), head.Final, 100, watch); err != nil || len(blocks) > 0 {
		t.Fatalf("blocks that are not final are read: %v, %v", blocks, err)
	}
	height := n.Height()
	if err := n.Reorg(3, []string{droppedID}); err != nil {
		t.Fatal(err)
	}
	if balance(t, n, kept) != sol || balance(t, n, dropped) != 0 || n.Height() <= height {
		t.Fatalf("after the reorg %d and %d, at slot %d of %d", balance(t, n, kept), balance(t, n, dropped),
			n.Height(), height)
	}
	mine(t, n, 6)
	blocks, err := c.After(t.Context(), head.Final, 100, watch)
	if err != nil {
		t.Fatal(err)
	}
	var seen []chain.Transfer
	for _, b := range blocks {
		seen = append(seen, b.Transfers...)
	}
	if len(seen) != 1 || seen[0].TxID != keptID {
		t.Fatalf("final transfers are %+v, want 1 of them and %v", seen, keptID)
	}
	if err := n.Reorg(7, nil); err == nil {
		t.Fatal("a finalized block was replaced, want an error")
	}
	for _, drop := range []string{"x", ""} {
		if err := n.Reorg(1, []string{drop}); err == nil {
			t.Fatalf("%q was dropped, want an error", drop)
		}
	}
}

func balance(t testing.TB, n *solana.Node, address string) uint64 {
	t.Helper()
	held, err := n.Balance(address)
	if err != nil {
		t.Fatal(err)
	}
	return held
}

// state is what a node reports about itself.
func state(t testing.TB, n *solana.Node, addresses ...string) string {
	t.Helper()
	var b strings.Builder
	for _, level := range []string{"processed", "confirmed", "finalized"} {
		fmt.Fprintln(&b, level, latest(t, n, level), text(t, get(t, n, "getEpochInfo", object{"commitment": level})))
		for _, a := range addresses {
			fmt.Fprintln(&b, a, text(t, get(t, n, "getBalance", a, object{"commitment": level}).(object)["value"]))
		}
	}
	return b.String()
}

// busy runs a node with a history: payments, failures, closed accounts, lookup tables, reorgs, and transactions that
// wait.
func busy(t testing.TB, cfg solana.Config) (*solana.Node, []string) {
	t.Helper()
	n, w := funded(t, cfg)
	addresses := []string{w.address()}
	random := rand.New(rand.NewPCG(1, 2))
	for range 30 {
		a := n.NewAddress()
		addresses = append(addresses, a)
		var err error
		var id string
		switch random.IntN(5) {
		case 0:
			id, err = n.PayMany([]solana.Output{{Address: a, Lamports: sol}, {Address: w.address(), Lamports: 1}})
		case 1:
			id, err = n.PayByTable([]solana.Output{{Address: a, Lamports: sol}})
		case 2:
			id, err = n.PayFailed(a, sol)
		case 3:
			err = n.CloseAddress(a)
		default:
			id, err = n.Pay(a, 1+sol)
		}
		if err != nil {
			t.Fatal(err)
		}
		(plan{from: w, to: addresses[0], lamports: 1, blockhash: latest(t, n, "finalized")}).send(t, n,
			object{"skipPreflight": true})
		if random.IntN(2) == 0 {
			mine(t, n, 1+random.IntN(3))
		}
		if random.IntN(5) == 0 && id != "" {
			if err := n.Reorg(1+random.IntN(3), []string{id}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return n, addresses
}

const journalFile = "journal.v1"

func TestRestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n, addresses := busy(t, solana.Config{Options: host.Options{DataDir: dir}, FinalityDepth: 8})
	raw, err := os.ReadFile(filepath.Join(dir, journalFile)) // what a kill leaves behind
	if err != nil {
		t.Fatal(err)
	}
	before := state(t, n, addresses...)
	reopen := func(raw []byte) (*solana.Node, error) {
		again := t.TempDir()
		if err := os.WriteFile(filepath.Join(again, journalFile), raw, 0o600); err != nil {
			t.Fatal(err)
		}
		n, err := solana.Start(t.Context(), solana.Config{Options: host.Options{DataDir: again}, FinalityDepth: 8})
		if err == nil {
			t.Cleanup(func() { n.Close() })
		}
		return n, err
	}
	same, err := reopen(raw)
	if err != nil {
		t.Fatal(err)
	}
	torn, err := reopen(append(raw[:len(raw):len(raw)], `[{"block":{"slot`...))
	if err != nil {
		t.Fatal(err)
	}
	for name, again := range map[string]*solana.Node{"whole": same, "torn": torn} {
		if got := state(t, again, addresses...); got != before {
			t.Fatalf("%s: after a restart\n%s\nbefore\n%s", name, got, before)
		}
		mine(t, again, 1)
	}
	mine(t, n, 1)
	for _, a := range addresses { // what waited is in the next block of both
		if x, y := balance(t, n, a), balance(t, same, a); x != y {
			t.Fatalf("%s holds %d, and %d after a restart", a, x, y)
		}
	}
	damaged := append([]byte(nil), raw...)
	damaged[len(raw)/2] = 0
	if _, err := reopen(damaged); err == nil {
		t.Fatal("a damaged journal was accepted, want an error")
	}
}

// TestAClosedNodeChangesNothing also holds for one whose journal cannot be written: the journal refuses both.
func TestAClosedNodeChangesNothing(t *testing.T) {
	t.Parallel()
	n := start(t, solana.Config{})
	mine(t, n, 3)
	height, final, address := n.Height(), n.FinalHeight(), n.NewAddress()
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	_, paid := n.Pay(address, sol)
	for change, err := range map[string]error{
		"pay": paid, "mine": n.Mine(1), "reorg": n.Reorg(1, nil), "roll back": n.Rollback(1, nil),
		"finalize": n.Finalize(), "close an address": n.CloseAddress(address), "deploy": n.Deploy(address),
	} {
		if !errors.Is(err, host.ErrClosed) {
			t.Errorf("%s after Close: %v, want %v", change, err, host.ErrClosed)
		}
	}
	if n.Height() != height || n.FinalHeight() != final {
		t.Errorf("slot %d, final %d, want %d, final %d", n.Height(), n.FinalHeight(), height, final)
	}
}

// TestAnEarlierJournalIsRead starts from a journal with every kind of step, which an earlier version wrote.
func TestAnEarlierJournalIsRead(t *testing.T) {
	t.Parallel()
	dir := hosttest.Earlier(t, "testdata/earlier.v1", journalFile)
	n := start(t, solana.Config{Options: host.Options{DataDir: dir}})
	const head = "Hqn5nbS5WukQMbqgPHwGvkqC5AKn5tNm8nQzTk96whuT"
	if got := latest(t, n, "processed"); got != head || n.Height() != 6 || n.FinalHeight() != 6 {
		t.Errorf("head %s at %d, final %d, want %s", got, n.Height(), n.FinalHeight(), head)
	}
	mine(t, n, 1)
	for address, want := range map[string]uint64{
		"Df9vf2V3HHS8BcQChkpTedRCyHZwBnBBm3HuzNJnK3cV": 5 * sol,
		"HgB4MhSQ7Ji2MQQSjNf5NvXdtCP9nWKYZFWESUiy28zv": 2 * sol,
		"FhuVb5NkntDZJowUn2Y1LsdgNjiGq19W36qXGaWGbxA3": 0, // its payment was dropped
	} {
		if got := balance(t, n, address); got != want {
			t.Errorf("%s has %d, want %d", address, got, want)
		}
	}
}

// TestEverythingAtOnce sends requests and changes concurrently; lamports are neither created nor lost.
func TestEverythingAtOnce(t *testing.T) {
	t.Parallel()
	n, w := funded(t, solana.Config{})
	address := n.NewAddress()
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 20 {
				if _, err := n.Pay(address, sol); err != nil {
					t.Error(err)
				}
				get(t, n, "getBlock", n.FinalHeight(), object{"maxSupportedTransactionVersion": 0})
				get(t, n, "getMultipleAccounts", []string{address, w.address()}, object{"commitment": "confirmed"})
			}
		})
	}
	group.Go(func() {
		for range 20 {
			if err := n.Mine(2); err != nil {
				t.Error(err)
			}
			if err := n.Reorg(2, nil); err != nil {
				t.Error(err)
			}
		}
	})
	group.Wait()
	mine(t, n, 1)
	if held := balance(t, n, address); held != 80*sol {
		t.Fatalf("80 payments of 1 SOL are %d lamports, want %v", held, 80*sol)
	}
}

func TestInvalidPaymentsAreRefused(t *testing.T) {
	t.Parallel()
	n := start(t, solana.Config{})
	many := make([]solana.Output, 17)
	for i := range many {
		many[i] = solana.Output{Address: n.NewAddress(), Lamports: sol}
	}
	for name, outputs := range map[string][]solana.Output{
		"nothing": nil, "too many": many, "no address": {{Address: "x", Lamports: sol}},
		"no amount":                {{Address: n.NewAddress()}},
		"less than rent":           {{Address: n.NewAddress(), Lamports: 890_879}},
		"more than the faucet has": {{Address: n.NewAddress(), Lamports: 1 << 62}},
		"a program":                {{Address: "Vote111111111111111111111111111111111111111", Lamports: sol}},
	} {
		if id, err := n.PayMany(outputs); err == nil {
			t.Errorf("%s: paid by %s, want an error", name, id)
		}
	}
	if id, err := n.PayMany(many[:16]); err != nil {
		t.Errorf("16 outputs: %s, %v", id, err)
	}
	if _, err := solana.Start(t.Context(), solana.Config{FinalityDepth: 100}); err == nil {
		t.Error("a finality depth beyond a blockhash's life was accepted, want an error")
	}
}
