package ethereum

import (
	"math/big"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
)

func TestPay(t *testing.T) {
	t.Parallel()
	n := start(t, Config{ChainID: 137})
	address := n.NewAddress()
	hash := pay(t, n, address, 1234)
	wantBalance(t, n, address, 0)
	mine(t, n, 1)
	wantBalance(t, n, address, 1234)
	r := ask[receipt](t, n, "eth_getTransactionReceipt", hash)
	price := number(t, at(t, n, 1).BaseFeePerGas) + 1e9
	if r.Status != "0x1" || r.Type != "0x2" || r.GasUsed != "0x5208" || number(t, r.EffectiveGasPrice) != price {
		t.Errorf("receipt %+v, want a plain EIP-1559 transfer at %d", r, price)
	}
	tip := number(t, ask[string](t, n, "eth_maxPriorityFeePerGas"))
	if gasPrice := number(t, ask[string](t, n, "eth_gasPrice")); tip <= 0 || gasPrice <= tip {
		t.Errorf("gas price %d, tip %d", gasPrice, tip)
	}
	history := ask[struct{ BaseFeePerGas []string }](t, n, "eth_feeHistory", "0x2", "latest", []int{50})
	if len(history.BaseFeePerGas) != 3 {
		t.Errorf("fee history %v, want two blocks and the next", history)
	}
}

func TestPayRefuses(t *testing.T) {
	t.Parallel()
	n := start(t, Config{})
	good := n.NewAddress()
	for _, c := range []struct {
		address string
		wei     *big.Int
	}{{"nobody", big.NewInt(1)}, {good, nil}, {good, big.NewInt(-1)}, {good, faucetBalance()}} {
		if hash, err := n.Pay(c.address, c.wei); err == nil {
			t.Errorf("paid %v to %q: %s, want an error", c.wei, c.address, hash)
		}
	}
	if _, err := n.PayInternal(nil); err == nil {
		t.Error("paid without a receiver")
	}
}

func TestHundredsOfPaymentsInOneBlock(t *testing.T) {
	t.Parallel()
	n := start(t, Config{})
	address := n.NewAddress()
	const count = faucetCount + 200 // some accounts pay twice
	for range count {
		pay(t, n, address, 1)
	}
	mine(t, n, 1)
	wantBalance(t, n, address, count)
	receipts := ask[[]receipt](t, n, "eth_getBlockReceipts", "latest")
	if len(receipts) != count {
		t.Fatalf("%d receipts, want %d", len(receipts), count)
	}
	for _, r := range receipts {
		if r.Status != "0x1" {
			t.Fatalf("failed: %+v, want %q", r, "0x1")
		}
	}
}

func TestInternalPayments(t *testing.T) {
	t.Parallel()
	n := start(t, Config{Tracing: true})
	one, two, reverted, failed := n.NewAddress(), n.NewAddress(), n.NewAddress(), n.NewAddress()
	send := func(hash string, err error) string {
		if err != nil {
			t.Fatal(err)
		}
		return hash
	}
	status := map[string]string{
		send(n.PayInternal([]Output{{one, big.NewInt(11)}, {two, big.NewInt(22)}, {one, big.NewInt(33)}})): "0x1",
		send(n.PayReverted(reverted, big.NewInt(44))):                                                      "0x1",
		send(n.PayFailed(failed, big.NewInt(55))):                                                          "0x0",
	}
	mine(t, n, 1)
	wantBalance(t, n, one, 44)
	wantBalance(t, n, two, 22)
	wantBalance(t, n, reverted, 0)
	wantBalance(t, n, failed, 0)

	hash := at(t, n, "latest").Hash
	for _, r := range ask[[]receipt](t, n, "eth_getBlockReceipts", hash) {
		if r.Status != status[r.TransactionHash] || r.BlockHash != hash {
			t.Errorf("receipt %+v, want status %s", r, status[r.TransactionHash])
		}
	}
	wantFrames(t, n, hash, map[string][]string{one: {"0xb", "0x21"}, two: {"0x16"}, reverted: nil, failed: nil})
}

// wantFrames compares the value that arrived by internal calls, per address, with the frames of callTracer; it leaves
// out every frame that failed or is inside a failed one.
func wantFrames(t *testing.T, n *Node, hash string, want map[string][]string) {
	t.Helper()
	traces := ask[[]struct{ Result frame }](t, n, "debug_traceBlockByHash", hash,
		map[string]string{"tracer": "callTracer"})
	arrived, failures := map[string][]string{}, 0
	var walk func(f frame)
	walk = func(f frame) {
		if f.Error != "" {
			failures++
			return
		}
		for _, call := range f.Calls {
			if call.Error == "" {
				to := common.HexToAddress(call.To).Hex()
				arrived[to] = append(arrived[to], call.Value)
			}
			walk(call)
		}
	}
	for _, trace := range traces {
		walk(trace.Result)
	}
	for address, values := range want {
		if got := arrived[address]; !slices.Equal(got, values) {
			t.Errorf("traced to %s: %v, want %v", address, got, values)
		}
	}
	if len(traces) != 3 || failures != 2 {
		t.Errorf("%d traces with %d failed frames, want 3 with 2", len(traces), failures)
	}
}

func TestLogsByBlockHash(t *testing.T) {
	t.Parallel()
	n := start(t, Config{})
	topic := common.HexToHash("0x1234")
	// PUSH32 topic, PUSH0 size, PUSH0 offset, LOG1, STOP: code that runs once, as its own constructor.
	code := append(append([]byte{0x7f}, topic[:]...), 0x5f, 0x5f, 0xa1, 0x00)
	tx := sign(t, n, 0, 2e9, nil, code)
	ask[string](t, n, "eth_sendRawTransaction", tx.raw)
	mine(t, n, 1)
	type entry struct{ TransactionHash, BlockHash string }
	hash := at(t, n, 1).Hash
	logs := ask[[]entry](t, n, "eth_getLogs", map[string]any{"blockHash": hash, "topics": []string{topic.Hex()}})
	if len(logs) != 1 || logs[0].TransactionHash != tx.hash || logs[0].BlockHash != hash {
		t.Errorf("logs %+v, want the one of %s", logs, tx.hash)
	}
	ranged := ask[[]entry](t, n, "eth_getLogs", map[string]any{"fromBlock": "0x0", "toBlock": "latest"})
	if len(ranged) != 1 {
		t.Errorf("logs of all blocks: %+v, want 1 of them", ranged)
	}
	refused(t, n, "eth_getLogs", map[string]any{"blockHash": topic.Hex()}) // a block that does not exist
}

type signed struct{ raw, hash string }

// sign makes a transaction of the last faucet account, which the tests' payments do not use. Without a receiver it
// creates a contract.
func sign(t *testing.T, n *Node, nonce uint64, price int64, to *common.Address, data []byte) signed {
	t.Helper()
	id := n.chain.Config().ChainID
	tx := types.MustSignNewTx(n.faucets[faucetCount-1].key, types.LatestSignerForChainID(id), &types.DynamicFeeTx{
		ChainID: id, Nonce: nonce, GasTipCap: big.NewInt(price), GasFeeCap: big.NewInt(price), Gas: 200_000, To: to,
		Value: big.NewInt(1), Data: data,
	})
	raw, err := tx.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return signed{hexutil.Encode(raw), tx.Hash().Hex()}
}

func TestRawTransactions(t *testing.T) {
	t.Parallel()
	n := start(t, Config{})
	to := crypto.PubkeyToAddress(n.faucets[0].key.PublicKey)
	low, slightly, high := sign(t, n, 0, 2e9, &to, nil), sign(t, n, 0, 21e8, &to, nil), sign(t, n, 0, 3e9, &to, nil)
	if hash := ask[string](t, n, "eth_sendRawTransaction", low.raw); hash != low.hash {
		t.Errorf("sent as %s, want %s", hash, low.hash)
	}
	for raw, want := range map[string]string{
		low.raw:      "already known",
		slightly.raw: "replacement transaction underpriced", // below 110 %
		"0x02":       "typed transaction too short",
		"0x03aa":     "transaction type not supported",
	} {
		if e := refused(t, n, "eth_sendRawTransaction", raw); e.Message != want {
			t.Errorf("sending %.10s: %q, want %q", raw, e.Message, want)
		}
	}
	ask[string](t, n, "eth_sendRawTransaction", high.raw)
	mine(t, n, 1)
	if txs := at(t, n, 1).Transactions; len(txs) != 1 || txs[0] != high.hash {
		t.Errorf("mined %v, want the replacement %s", txs, high.hash)
	}
	if gone := ask[*receipt](t, n, "eth_getTransactionReceipt", low.hash); gone != nil {
		t.Errorf("the replaced transaction has a receipt: %+v, want nil", gone)
	}
	for _, tx := range []signed{low, high} {
		if e := refused(t, n, "eth_sendRawTransaction", tx.raw); e.Message != "nonce too low: next nonce 1, tx nonce 0" {
			t.Errorf("sending %s again: %q", tx.hash, e.Message)
		}
	}
	refused(t, n, "eth_sendRawTransactionSync", high.raw)
}
