package evmtest

import (
	"bufio"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/test/pins"
)

// Anvil is a fresh anvil that mines only on request.
type Anvil struct {
	*Node
	finality int
}

// StartAnvil starts anvil for one test and prepares it. It looks in BURSAR_ANVIL, the path and the cache directory, in
// this order. The test fails if there is none.
func StartAnvil(t testing.TB, chainID uint64) *Anvil {
	t.Helper()
	const epoch = 4 // slots; two epochs make a block final
	program := findAnvil(t)
	ctx, cancel := context.WithCancel(context.Background())
	command := exec.CommandContext(ctx, program, "--port", "0", "--no-mining", "--chain-id", fmt.Sprint(chainID),
		"--slots-in-an-epoch", fmt.Sprint(epoch), "--accounts", "1", "--order", "fifo")
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatalf("start anvil: %v", err)
	}
	if err := command.Start(); err != nil {
		t.Fatalf("start anvil: %v", err)
	}
	lines := &lines{mark: "Listening on ", found: make(chan string, 1)}
	go lines.read(output)
	t.Cleanup(func() {
		cancel()
		_ = command.Wait() // it was killed
	})
	select {
	case url := <-lines.found:
		node := &Anvil{Node: Open(t, url, chainID), finality: 2 * epoch}
		node.Batch = true
		for i := range Payers {
			node.Ask(t, nil, "anvil_setBalance", Payer(i).Hex(), "0xd3c21bcecceda1000000") // a million native units
		}
		node.Prepare(t, func() { node.Mine(t, 1) })
		return node
	case <-time.After(2 * time.Minute):
		t.Fatalf("anvil does not listen: %s", lines.text())
		return nil
	}
}

// findAnvil returns the program's path.
func findAnvil(t testing.TB) string {
	t.Helper()
	if path := os.Getenv("BURSAR_ANVIL"); path != "" {
		return path
	}
	if path, err := exec.LookPath("anvil"); err == nil {
		return path
	}
	if cache, err := os.UserCacheDir(); err == nil {
		path := filepath.Join(cache, "bursar-nodes", "anvil-"+pins.Anvil, "anvil")
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	t.Fatal("this test needs anvil: run go run ./test -install anvil, or set BURSAR_ANVIL to its path, or skip such " +
		"tests with -short")
	return ""
}

// lines reads from a program's output the address that it listens on.
type lines struct {
	mark  string // text before the address
	found chan string
	mu    sync.Mutex
	tail  []string
}

func (l *lines) read(from io.Reader) {
	scanner := bufio.NewScanner(from)
	for scanner.Scan() {
		line := scanner.Text()
		if _, address, listening := strings.Cut(line, l.mark); listening {
			select {
			case l.found <- "http://" + strings.TrimPrefix(strings.TrimSpace(address), "http://"):
			default: // the address was already found
			}
		}
		l.mu.Lock()
		l.tail = append(l.tail[max(0, len(l.tail)-20):], line)
		l.mu.Unlock()
	}
}

func (l *lines) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.tail, "\n")
}

// Mine mines blocks; pending transactions are in the first.
func (a *Anvil) Mine(t testing.TB, n int) {
	t.Helper()
	a.Ask(t, nil, "anvil_mine", hexNumber(n))
}

// Finalize mines until every mined transaction is final.
func (a *Anvil) Finalize(t testing.TB) {
	t.Helper()
	a.Mine(t, a.finality)
}

// Reorg replaces the last depth blocks by as many others with the same transactions except the dropped ones, and one
// more.
func (a *Anvil) Reorg(t testing.TB, depth int, drop ...string) {
	t.Helper()
	newest := int(a.Number(t, "eth_blockNumber").Int64())
	dropped := map[string]bool{}
	for _, id := range drop {
		dropped[id] = true
	}
	kept := [][]any{}
	for i := range depth {
		var block struct {
			Transactions []string `json:"transactions"`
		}
		a.Ask(t, &block, "eth_getBlockByNumber", hexNumber(newest-depth+1+i), false)
		for _, id := range block.Transactions {
			if dropped[id] {
				continue
			}
			var raw string
			a.Ask(t, &raw, "eth_getRawTransactionByHash", id)
			kept = append(kept, []any{raw, i})
		}
	}
	a.Ask(t, nil, "anvil_reorg", depth, kept)
	for _, id := range drop {
		if err := a.Try(nil, "anvil_dropTransaction", id); err != nil {
			t.Fatalf("drop %s: %v", id, err)
		}
	}
	a.Mine(t, 1)
}

func hexNumber(n int) string { return "0x" + strconv.FormatInt(int64(n), 16) }

// Close turns an address into a contract that accepts no payment.
func (a *Anvil) Close(t testing.TB, address string) {
	t.Helper()
	a.Ask(t, nil, "anvil_setCode", address, "0x60006000fd") // PUSH1 0 PUSH1 0 REVERT
}

// SetCode turns an address into a contract.
func (a *Anvil) SetCode(t testing.TB, address string, code []byte) {
	t.Helper()
	a.Ask(t, nil, "anvil_setCode", address, "0x"+hex.EncodeToString(code))
}

var _ interface {
	Pay(testing.TB, ...chain.Payment) []string
} = (*Anvil)(nil)
