package ethereum

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/rlp"
)

const childDir = "BURSAR_TEST_ETHEREUM_DIR" // set in the process to kill

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		if err := runChild(dir); err != nil {
			fmt.Println("failed:", err)
		}
		os.Exit(1) // the parent kills it earlier
	}
	os.Exit(m.Run())
}

// runChild serves a node and executes commands from its standard input until it is killed.
func runChild(dir string) error {
	n, err := Start(context.Background(), Config{ChainID: 1, DataDir: dir})
	if err != nil {
		return err
	}
	fmt.Println(n.URL())
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		word, count, _ := strings.Cut(lines.Text(), " ")
		number, err := strconv.Atoi(count)
		if err != nil {
			return err
		}
		switch word {
		case "mine":
			err = n.Mine(number)
		case "reorg":
			err = n.Reorg(number, nil)
		}
		if err != nil {
			return err
		}
		fmt.Println("done")
	}
	return nil
}

// child is a node in a process of its own.
type child struct {
	t    *testing.T
	url  string
	cmd  *exec.Cmd
	in   *os.File
	outs *bufio.Scanner
}

func startChild(t *testing.T, dir string) *child {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), childDir+"="+dir)
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { write.Close() })
	cmd.Stdin = read
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	read.Close()
	c := &child{t: t, cmd: cmd, in: write, outs: bufio.NewScanner(out)}
	c.url = c.line()
	return c
}

func (c *child) line() string {
	c.t.Helper()
	if !c.outs.Scan() {
		c.t.Fatalf("the node's process ended: %v", c.outs.Err())
	}
	return c.outs.Text()
}

func (c *child) do(word string, count int) {
	c.t.Helper()
	fmt.Fprintln(c.in, word, count)
	if got := c.line(); got != "done" {
		c.t.Fatalf("%s %d: %s", word, count, got)
	}
}

// kill is kill -9.
func (c *child) kill() {
	c.t.Helper()
	if err := c.cmd.Process.Kill(); err != nil {
		c.t.Fatal(err)
	}
	c.cmd.Wait() // reports the kill
}

func TestKillLosesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := startChild(t, dir)
	remote := &Node{url: c.url}
	faucets := newFaucets()
	offline := start(t, Config{}) // signs for the same chain id
	mined, pooled := sign(t, offline, 0, 2e9, &faucets[0].address, nil), sign(t, offline, 1, 2e9, &faucets[0].address, nil)
	c.do("mine", 7)
	ask[string](t, remote, "eth_sendRawTransaction", mined.raw)
	c.do("mine", 2)
	c.do("reorg", 3)
	ask[string](t, remote, "eth_sendRawTransaction", pooled.raw)
	head, final := at(t, remote, "latest"), at(t, remote, "finalized")
	c.kill()

	n := start(t, Config{DataDir: dir})
	if got := at(t, n, "latest"); got.Hash != head.Hash || n.Height() != 10 {
		t.Errorf("head %s at %d, want %s at 10", got.Hash, n.Height(), head.Hash)
	}
	if got := at(t, n, "finalized"); got.Hash != final.Hash || got.Number != "0x5" {
		t.Errorf("finalized %s at %s, want %s at 5", got.Hash, got.Number, final.Hash)
	}
	if r := ask[receipt](t, n, "eth_getTransactionReceipt", mined.hash); r.Status != "0x1" {
		t.Errorf("receipt %+v", r)
	}
	if e := refused(t, n, "eth_sendRawTransaction", pooled.raw); e.Message != "already known" {
		t.Errorf("the pooled transaction: %q", e.Message)
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
		c := startChild(t, dir)
		remote := &Node{url: c.url}
		if got := at(t, remote, "latest"); number(t, got.Number) < number(t, seen.Number) {
			t.Fatalf("round %d: head is %s, and %s had been served", round, got.Number, seen.Number)
		}
		if at(t, remote, number(t, seen.Number)).Number != seen.Number {
			t.Fatalf("round %d: block %s is missing", round, seen.Number)
		}
		target := number(t, at(t, remote, "latest").Number) + 10*(round+1)
		fmt.Fprintln(c.in, "mine", 1000)
		for number(t, seen.Number) < target { // killed as soon as a request shows this height
			seen = at(t, remote, "latest")
		}
		c.kill()
		n, err := Start(t.Context(), Config{ChainID: 1, DataDir: dir})
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

func TestHeadChangeIsCompleted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n, err := Start(t.Context(), Config{ChainID: 1, DataDir: dir})
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
	again := start(t, Config{DataDir: dir})
	if got := at(t, again, "latest"); got.Hash != hash.Hex() || got.Number != "0x4" {
		t.Errorf("head %s at %s, want the intended %s", got.Hash, got.Number, hash)
	}
}

func TestJournalIgnoresTornTail(t *testing.T) {
	t.Parallel()
	n := start(t, Config{})
	tx := sign(t, n, 0, 2e9, &n.faucets[0].address, nil)
	path := filepath.Join(t.TempDir(), "pool.rlp")
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
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second start reads what the first has left
			j, txs, err := openJournal(path)
			if err != nil {
				t.Fatal(err)
			}
			if len(txs) != 1 || txs[0].Hash().Hex() != tx.hash {
				t.Errorf("%s: %d transactions, want %s", name, len(txs), tx.hash)
			}
			if err := j.close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
