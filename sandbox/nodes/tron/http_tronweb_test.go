package tron_test

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/crypto"

	"github.com/bursar/bursar/chain"
	adapter "github.com/bursar/bursar/chain/tron"
	"github.com/bursar/bursar/sandbox/clients"
)

// keepMining makes a block every few milliseconds until the test ends.
func keepMining(t *testing.T, mine func() error) {
	t.Helper()
	stop, done := make(chan struct{}), make(chan error)
	go func() {
		ticker := time.NewTicker(20 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-stop:
				done <- nil
				return
			case <-ticker.C:
				if err := mine(); err != nil {
					done <- err
					return
				}
			}
		}
	}()
	t.Cleanup(func() {
		close(stop)
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// TestTronWeb checks that another implementation can use the node, and validates a transaction that the adapter made.
func TestTronWeb(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("needs Node.js and tronweb")
	}
	folder, err := clients.Folder()
	if err != nil {
		t.Fatal(err)
	}
	c := newCustomer(t)
	c.fund(100_000_000, 500)
	_, tx := c.build(c.node.NewAddress(), 200)
	if err := c.chain.Broadcast(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	key := crypto.Keccak256([]byte("a wallet"))
	wallet := addressOf(t, c.chain, key)
	pay(t)(c.node.Pay(wallet, 50_000_000))
	payTokens(t, c, wallet, 1_000)
	mine(t, c.node, 8) // solidified
	keepMining(t, func() error { return c.node.Mine(1) })

	command := exec.CommandContext(t.Context(), "node", "testdata/tronweb.cjs",
		filepath.Join(folder, "node_modules", "tronweb"), c.node.URL(), hexOf(key), c.node.Token(), tx.TxID)
	output, err := command.Output()
	if err != nil {
		t.Fatalf("tronweb: %v\n%s", err, stderrOf(err))
	}
	var seen map[string]any
	if err := json.Unmarshal(output, &seen); err != nil {
		t.Fatalf("%s: %v", output, err)
	}
	for name, want := range map[string]any{
		"self": wallet, "sent": true, "fee": 1.1e6, "balance": 1234567.0, "symbol": "USDT", "decimals": 6.0,
		"result": "SUCCESS",
		"events": 1.0, "tokens": 400.0, "again": "DUP_TRANSACTION_ERROR", "encoded": true, "signer": c.hot.Base,
	} {
		if seen[name] != want {
			t.Errorf("%s is %v, want %v", name, seen[name], want)
		}
	}
}

func addressOf(t *testing.T, c *adapter.Chain, private []byte) string {
	t.Helper()
	key, err := crypto.ToECDSA(private)
	if err != nil {
		t.Fatal(err)
	}
	address, err := c.Address(chain.PublicKey(crypto.CompressPubkey(&key.PublicKey)), 0)
	if err != nil {
		t.Fatal(err)
	}
	return address.Base
}
