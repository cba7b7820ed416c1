package evmtest

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"github.com/bursar/bursar/test/pins"
	"github.com/ethereum/go-ethereum/core/types"
)

// HardhatFinality is how many blocks behind the newest are final on a Hardhat in tests: its own finalized tag is the
// newest block.
const HardhatFinality = 4

// Hardhat is a Hardhat Network as if it was fresh, which mines only on request. It offers neither receipts of blocks
// nor traces of them.
type Hardhat struct {
	*Node
	before map[int]string // snapshots by the height of the next block
}

// StartHardhat prepares a node for one test. It looks for Hardhat in BURSAR_HARDHAT and in the cache directory. The
// test fails if there is none. The package's TestMain must call Main, which ends what runs after the last test.
func StartHardhat(t testing.TB, chainID uint64) *Hardhat {
	t.Helper()
	p := takeHardhat(t, chainID)
	node := &Hardhat{Node: Open(t, p.url, chainID), before: map[int]string{}}
	node.Ask(t, nil, "hardhat_reset") // without parameters it begins its chain again, as configured
	if height := node.height(t); height != 0 {
		t.Fatalf("hardhat begins at height %d after a reset, want 0", height)
	}
	for i := range Payers {
		node.Ask(t, nil, "hardhat_setBalance", Payer(i).Hex(), "0xd3c21bcecceda1000000") // a million native units
	}
	node.Prepare(t, func() { node.Mine(t, 1) })
	return node
}

// findHardhat returns the directory that Hardhat is installed in.
func findHardhat(t testing.TB) string {
	t.Helper()
	if path := os.Getenv("BURSAR_HARDHAT"); path != "" {
		return path
	}
	if cache, err := os.UserCacheDir(); err == nil {
		path := filepath.Join(cache, "bursar-nodes", "hardhat-"+pins.Hardhat)
		if _, err := os.Stat(filepath.Join(path, "node_modules", "hardhat")); err == nil {
			return path
		}
	}
	t.Fatal("this test needs Hardhat: run go run ./test -install hardhat, or set BURSAR_HARDHAT to its directory, " +
		"or skip such tests with -short")
	return ""
}

// Mine mines blocks; pending transactions are in the first.
func (h *Hardhat) Mine(t testing.TB, n int) {
	t.Helper()
	for range n {
		var snapshot string
		h.Ask(t, &snapshot, "evm_snapshot")
		h.before[h.height(t)+1] = snapshot
		h.Ask(t, nil, "evm_mine")
	}
}

func (h *Hardhat) height(t testing.TB) int { return int(h.Number(t, "eth_blockNumber").Int64()) }

// Finalize mines until every mined transaction is final.
func (h *Hardhat) Finalize(t testing.TB) {
	t.Helper()
	h.Mine(t, HardhatFinality)
}

// Reorg replaces the last depth blocks by as many others with the same transactions except the dropped ones, and one
// more.
func (h *Hardhat) Reorg(t testing.TB, depth int, drop ...string) {
	t.Helper()
	dropped := map[string]bool{}
	for _, id := range drop {
		dropped[id] = true
	}
	first := h.height(t) - depth + 1
	blocks := make([][]string, depth)
	for i := range blocks {
		var block struct {
			Transactions []types.Transaction `json:"transactions"`
		}
		h.Ask(t, &block, "eth_getBlockByNumber", hexNumber(first+i), true)
		blocks[i] = kept(t, block.Transactions, dropped)
	}
	var waiting []types.Transaction
	h.Ask(t, &waiting, "eth_pendingTransactions")
	again := kept(t, waiting, dropped)
	var reverted bool
	if h.Ask(t, &reverted, "evm_revert", h.before[first]); !reverted {
		t.Fatalf("hardhat does not go back to block %d", first)
	}
	h.empty(t)
	h.Ask(t, nil, "evm_increaseTime", 7) // so that no block is made identical to an old one
	for _, raws := range append(blocks, nil) {
		h.send(t, raws)
		h.Mine(t, 1)
	}
	h.send(t, again)
}

// empty drops all pending transactions: reverting to a snapshot restores those that were pending then.
func (h *Hardhat) empty(t testing.TB) {
	t.Helper()
	var waiting []types.Transaction
	h.Ask(t, &waiting, "eth_pendingTransactions")
	for i := range waiting {
		h.Ask(t, nil, "hardhat_dropTransaction", waiting[i].Hash().Hex())
	}
}

func (h *Hardhat) send(t testing.TB, raws []string) {
	t.Helper()
	for _, raw := range raws {
		h.Ask(t, nil, "eth_sendRawTransaction", raw)
	}
}

// kept returns the bytes of transactions that are not dropped.
func kept(t testing.TB, txs []types.Transaction, dropped map[string]bool) (raws []string) {
	t.Helper()
	for i := range txs {
		if dropped[txs[i].Hash().Hex()] {
			continue
		}
		raw, err := txs[i].MarshalBinary()
		if err != nil {
			t.Fatalf("encode: %v", err)
		}
		raws = append(raws, "0x"+hex.EncodeToString(raw))
	}
	return raws
}

// Close turns an address into a contract that accepts no payment.
func (h *Hardhat) Close(t testing.TB, address string) {
	t.Helper()
	h.Ask(t, nil, "hardhat_setCode", address, "0x60006000fd") // PUSH1 0 PUSH1 0 REVERT
}

// SetCode turns an address into a contract.
func (h *Hardhat) SetCode(t testing.TB, address string, code []byte) {
	t.Helper()
	h.Ask(t, nil, "hardhat_setCode", address, "0x"+hex.EncodeToString(code))
}
