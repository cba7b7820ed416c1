package ethereum

import (
	"net/http"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/rawdb"

	"github.com/bursar/bursar/sandbox/nodes/host"
)

func TestStartRefuses(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]Config{"no chain id": {}, "negative depth": {ChainID: 1, FinalityDepth: -1}} {
		if n, err := Start(t.Context(), cfg); err == nil {
			t.Errorf("%s: started, want an error", name)
			n.Close()
		}
	}
}

func TestDataDirBelongsToOneChainAndProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n, err := Start(t.Context(), Config{Options: host.Options{DataDir: dir}, ChainID: 1})
	if err != nil {
		t.Fatal(err)
	}
	if second, err := Start(t.Context(), Config{Options: host.Options{DataDir: dir}, ChainID: 1}); err == nil {
		t.Error("a second node started in a directory that is in use, want an error")
		second.Close()
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	if other, err := Start(t.Context(), Config{Options: host.Options{DataDir: dir}, ChainID: 56}); err == nil {
		t.Error("a node of another chain started in the directory, want an error")
		other.Close()
	}
	start(t, Config{Options: host.Options{DataDir: dir}, ChainID: 1}) // the directory is still usable after the refusals
}

func TestSeveralChainsInOneProcess(t *testing.T) {
	t.Parallel()
	ethereum, bsc := start(t, Config{ChainID: 1}), start(t, Config{ChainID: 56})
	mine(t, bsc, 2)
	for _, c := range []struct {
		node       *Node
		id, height string
	}{{ethereum, "0x1", "0x0"}, {bsc, "0x38", "0x2"}} {
		if id := ask[string](t, c.node, "eth_chainId"); id != c.id {
			t.Errorf("eth_chainId %s, want %s", id, c.id)
		}
		if height := ask[string](t, c.node, "eth_blockNumber"); height != c.height {
			t.Errorf("eth_blockNumber %s, want %s", height, c.height)
		}
	}
	if v := ask[string](t, bsc, "net_version"); v != "56" {
		t.Errorf("net_version %s, want 56", v)
	}
}

func TestNamespaces(t *testing.T) {
	t.Parallel()
	n := start(t, Config{})
	if got := ask[string](t, n, "web3_sha3",
		"0x"); got != "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470" {
		t.Errorf("web3_sha3 of nothing: %s", got)
	}
	ask[map[string]string](t, n, "txpool_status")
	if ask[bool](t, n, "eth_syncing") {
		t.Error("a chain without blocks reports that it is syncing")
	}
	if unknown := ask[any](t, n, "eth_getTransactionByHash", common.Hash{1}); unknown != nil {
		t.Errorf("unknown transaction: %v", unknown)
	}
	for _, method := range []string{"debug_traceBlockByHash", "admin_peers", "miner_start", "personal_unlockAccount"} {
		if e := refused(t, n, method, "0x"); e.Code != -32601 {
			t.Errorf("%s: code %d, want -32601, no such method", method, e.Code)
		}
	}
}

func TestWrap(t *testing.T) {
	t.Parallel()
	n := start(t, Config{Options: host.Options{Wrap: func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/broken" {
				http.Error(w, "bad gateway", http.StatusBadGateway)
				return
			}
			next.ServeHTTP(w, r)
		})
	}}})
	ask[string](t, n, "eth_chainId")
	response, err := http.Post(n.URL()+"/broken", "application/json", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusBadGateway {
		t.Errorf("status %d, want the wrapper's 502", response.StatusCode)
	}
}

func TestMineMakesBlocksOfToday(t *testing.T) {
	t.Parallel()
	n := start(t, Config{})
	mine(t, n, 3)
	genesis, parent, head := at(t, n, 0), at(t, n, 2), at(t, n, "latest")
	if head.Number != "0x3" || head.ParentHash != parent.Hash || n.Height() != 3 {
		t.Errorf("head %s on %s, want block 3 on %s", head.Number, head.ParentHash, parent.Hash)
	}
	const noWithdrawals = "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421" // root of an empty trie
	// SHA-256 of nothing, EIP-7685
	const noRequests = "0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	if head.WithdrawalsRoot != noWithdrawals || head.Withdrawals == nil || head.RequestsHash != noRequests {
		t.Errorf("withdrawals root %s, requests hash %s", head.WithdrawalsRoot, head.RequestsHash)
	}
	if head.Difficulty != "0x0" || head.MixHash == parent.MixHash || head.ParentBeaconBlockRoot == "" ||
		head.BlobGasUsed != "0x0" {
		t.Errorf("not a block from after the merge: %+v", head)
	}
	if number(t, head.GasLimit) != gasLimit || number(t, head.Timestamp) <= number(t, parent.Timestamp) {
		t.Errorf("gas limit %s, time %s after %s", head.GasLimit, head.Timestamp, parent.Timestamp)
	}
	// EIP-1559: the base fee falls by an eighth after an empty block.
	if fee := number(t, genesis.BaseFeePerGas); number(t, at(t, n, 2).BaseFeePerGas) != fee*7/8*7/8 {
		t.Errorf("base fee %s two blocks after %d, want %v", at(t, n, 2).BaseFeePerGas, fee, fee*7/8*7/8)
	}
}

func TestFinalityTrails(t *testing.T) {
	t.Parallel()
	n := start(t, Config{FinalityDepth: 6})
	wantTags(t, n, 0, 0, 0)
	mine(t, n, 5)
	wantTags(t, n, 5, 2, 0)
	mine(t, n, 5)
	wantTags(t, n, 10, 7, 4)
	n.HoldFinality(true)
	mine(t, n, 10)
	wantTags(t, n, 20, 7, 4)
	n.HoldFinality(false)
	wantTags(t, n, 20, 7, 4) // with the next block, not before
	mine(t, n, 1)
	wantTags(t, n, 21, 18, 15)
	// With this record go-ethereum would freeze finalized blocks after a minute, out of reach of a reorg.
	if record := rawdb.ReadFinalizedBlockHash(n.eth.ChainDb()); record != (common.Hash{}) {
		t.Errorf("go-ethereum's record of finality is %s, want none", record)
	}
}
