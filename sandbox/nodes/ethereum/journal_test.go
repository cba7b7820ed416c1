package ethereum

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/rlp"

	"github.com/bursar/bursar/sandbox/nodes/host"
	"github.com/bursar/bursar/sandbox/nodes/host/hosttest"
)

func TestMain(m *testing.M) { hosttest.Main(m, runChild) }

// runChild serves a node and executes commands until it is killed.
func runChild(dir string) error {
	n, err := Start(context.Background(), Config{Options: host.Options{DataDir: dir}, ChainID: 1})
	if err != nil {
		return err
	}
	fmt.Println(n.URL())
	return hosttest.Obey(func(words []string) (string, error) {
		number, err := strconv.Atoi(words[1])
		if err != nil {
			return "", err
		}
		switch words[0] {
		case "mine":
			return "", n.Mine(number)
		case "reorg":
			return "", n.Reorg(number, nil)
		}
		return "", fmt.Errorf("unknown command: %q", words)
	})
}

// remote is the URL of a node in another process.
type remote string

func (r remote) URL() string { return string(r) }

func TestKillLosesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := hosttest.Start(t, dir)
	other := remote(c.Line())
	faucets := newFaucets()
	offline := start(t, Config{}) // signs for the same chain id
	mined, pooled := sign(t, offline, 0, 2e9, &faucets[0].address, nil), sign(t, offline, 1, 2e9, &faucets[0].address, nil)
	c.Do("mine", 7)
	ask[string](t, other, "eth_sendRawTransaction", mined.raw)
	c.Do("mine", 2)
	c.Do("reorg", 3)
	ask[string](t, other, "eth_sendRawTransaction", pooled.raw)
	head, final := at(t, other, "latest"), at(t, other, "finalized")
	c.Kill()

	n := start(t, Config{Options: host.Options{DataDir: dir}})
	if got := at(t, n, "latest"); got.Hash != head.Hash || n.Height() != 10 {
		t.Errorf("head %s at %d, want %s at 10", got.Hash, n.Height(), head.Hash)
	}
	if got := at(t, n, "finalized"); got.Hash != final.Hash || got.Number != "0x5" {
		t.Errorf("finalized %s at %s, want %s at 5", got.Hash, got.Number, final.Hash)
	}
	if r := ask[receipt](t, n, "eth_getTransactionReceipt", mined.hash); r.Status != "0x1" {
		t.Errorf("receipt %+v, want %q", r, "0x1")
	}
	if e := refused(t, n, "eth_sendRawTransaction", pooled.raw); e.Message != "already known" {
		t.Errorf("the pooled transaction: %q, want %q", e.Message, "already known")
	}
	address := n.NewAddress()
	pay(t, n, address, 5)
	mine(t, n, 1)
	wantBalance(t, n, address, 5)
	if got := at(t, n, 11); got.ParentHash != head.Hash || len(got.Transactions) != 2 {
		t.Errorf("block 11 on %s with %d transactions, want %s with 2", got.ParentHash, len(got.Transactions), head.Hash)
	}
	reorg(t, n, 8) // the state of blocks made before the kill exists
}

func TestKillAtAnyMoment(t *testing.T) {
	t.Parallel()
	dir, seen := t.TempDir(), block{Number: "0x0"}
	for round := range 5 {
		c := hosttest.Start(t, dir)
		other := remote(c.Line())
		if got := at(t, other, "latest"); number(t, got.Number) < number(t, seen.Number) {
			t.Fatalf("round %d: head is %s, and %s had been served", round, got.Number, seen.Number)
		}
		if at(t, other, number(t, seen.Number)).Number != seen.Number {
			t.Fatalf("round %d: block %s is missing", round, seen.Number)
		}
		target := number(t, at(t, other, "latest").Number) + 10*(round+1)
		c.Send("mine", 1000)
		for number(t, seen.Number) < target { // killed as soon as a request shows this height
			seen = at(t, other, "latest")
		}
		c.Kill()
		n, err := Start(t.Context(), Config{Options: host.Options{DataDir: dir}, ChainID: 1})
		if err != nil {
			t.Fatal(err)
		}
		if got := at(t, n, number(t, seen.Number)); got.Hash != seen.Hash {
			t.Errorf("round %d: block %s is %s, and %s had been served", round, seen.Number, got.Hash, seen.Hash)
		}
		mine(t, n, 1)
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A transaction that was answered is in a block or in the pool after a kill, also one whose block was just made.
func TestKillLosesNoTransaction(t *testing.T) {
	t.Parallel()
	dir, nonce := t.TempDir(), uint64(0)
	offline := start(t, Config{}) // signs for the same chain id
	to := newFaucets()[0].address
	for round := range 4 {
		c := hosttest.Start(t, dir)
		other := remote(c.Line())
		c.Send("mine", 100_000)
		var sent []string
		for range 25 {
			tx := sign(t, offline, nonce, 2e9, &to, nil)
			ask[string](t, other, "eth_sendRawTransaction", tx.raw)
			sent = append(sent, tx.hash)
			nonce++
		}
		c.Kill()
		n, err := Start(t.Context(), Config{Options: host.Options{DataDir: dir}, ChainID: 1})
		if err != nil {
			t.Fatal(err)
		}
		mine(t, n, 1)
		for i, hash := range sent {
			if r := ask[receipt](t, n, "eth_getTransactionReceipt", hash); r.Status != "0x1" {
				t.Errorf("round %d: transaction %d of %d has receipt %+v, want status 0x1", round, i, len(sent), r)
			}
		}
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestHeadChangeIsCompleted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n, err := Start(t.Context(), Config{Options: host.Options{DataDir: dir}, ChainID: 1})
	if err != nil {
		t.Fatal(err)
	}
	mine(t, n, 3)
	// The state after an abrupt end between the recorded intention and the change.
	next, parent := (*types.Block)(nil), n.chain.GetHeaderByNumber(2)
	for range 2 { // a branch of two blocks next to block 3
		if next, err = n.build(parent, n.clock(), contents{}); err != nil {
			t.Fatal(err)
		}
		parent = next.Header()
	}
	hash := next.Hash()
	if err := n.eth.ChainDb().Put([]byte(headKey), hash[:]); err != nil {
		t.Fatal(err)
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	again := start(t, Config{Options: host.Options{DataDir: dir}})
	if got := at(t, again, "latest"); got.Hash != hash.Hex() || got.Number != "0x4" {
		t.Errorf("head %s at %s, want the intended %s", got.Hash, got.Number, hash)
	}
}

func TestJournalIgnoresTornTail(t *testing.T) {
	t.Parallel()
	n := start(t, Config{})
	tx := sign(t, n, 0, 2e9, &n.faucets[0].address, nil)
	entry, err := rlp.EncodeToBytes(hexutil.MustDecode(tx.raw))
	if err != nil {
		t.Fatal(err)
	}
	nonsense, err := rlp.EncodeToBytes([]byte("no transaction"))
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"torn":          append(append([]byte{}, entry...), entry[:len(entry)/2]...),
		"too long":      append(append([]byte{}, entry...), 0xbf, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff),
		"a refused one": append(append([]byte{}, nonsense...), entry...),
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "pool.rlp"), content, 0o600); err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second start reads what the first has left
			again, err := Start(t.Context(), Config{Options: host.Options{DataDir: dir}, ChainID: 1})
			if err != nil {
				t.Fatal(err)
			}
			if pooled := again.pooled(); len(pooled) != 1 || pooled[0].Hash().Hex() != tx.hash {
				t.Errorf("%s: %d transactions in the pool, want %s", name, len(pooled), tx.hash)
			}
			if err := again.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestAFrozenJournalFreezesTheNode closes the journal under a node, which then refuses as after a write that failed.
func TestAFrozenJournalFreezesTheNode(t *testing.T) {
	t.Parallel()
	n := start(t, Config{})
	mine(t, n, 2)
	tx := sign(t, n, 0, 2e9, &n.faucets[0].address, nil)
	if err := n.journal.Close(); err != nil {
		t.Fatal(err)
	}
	_, paid := n.Pay(n.NewAddress(), big.NewInt(5))
	for change, err := range map[string]error{"pay": paid, "mine": n.Mine(1), "reorg": n.Reorg(1, nil)} {
		if !errors.Is(err, host.ErrClosed) {
			t.Errorf("%s: %v, want %v", change, err, host.ErrClosed)
		}
	}
	if e := refused(t, n, "eth_sendRawTransaction", tx.raw); e.Message != host.ErrClosed.Error() {
		t.Errorf("a transaction: %q, want %v", e.Message, host.ErrClosed.Error())
	}
	if n.Height() != 2 || len(n.pooled()) > 0 {
		t.Errorf("height %d, %d transactions in the pool, want 2 and none", n.Height(), len(n.pooled()))
	}
}
