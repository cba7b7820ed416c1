package ethereum

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"strings"
	"testing"
)

// start runs a node for one test.
func start(t *testing.T, cfg Config) *Node {
	t.Helper()
	if cfg.ChainID == 0 {
		cfg.ChainID = 1
	}
	n, err := Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return n
}

// server is a node in this process or in another.
type server interface{ URL() string }

// rpcError is an error member of a JSON-RPC answer.
type rpcError struct {
	Code    int
	Message string
}

func (e *rpcError) Error() string { return fmt.Sprintf("%d %s", e.Code, e.Message) }

// try makes one plain HTTP JSON-RPC call and decodes its result.
func try(url, method string, result any, params ...any) error {
	if params == nil {
		params = []any{}
	}
	request, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
	if err != nil {
		return err
	}
	response, err := http.Post(url, "application/json", bytes.NewReader(request))
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	var answer struct {
		ID     int
		Result json.RawMessage
		Error  *rpcError
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return fmt.Errorf("%s: %w", body, err)
	}
	if answer.Error != nil {
		return answer.Error
	}
	return json.Unmarshal(answer.Result, result)
}

// ask is try for calls that must succeed.
func ask[T any](t *testing.T, n server, method string, params ...any) T {
	t.Helper()
	var result T
	if err := try(n.URL(), method, &result, params...); err != nil {
		t.Fatalf("%s %v: %v", method, params, err)
	}
	return result
}

// refused is try for calls that must fail; it returns the error of the answer.
func refused(t *testing.T, n *Node, method string, params ...any) *rpcError {
	t.Helper()
	var answer *rpcError
	if err := try(n.URL(), method, new(any), params...); !errors.As(err, &answer) {
		t.Fatalf("%s %v: got %v, want an error in the answer", method, params, err)
	}
	return answer
}

// block and the types below hold the fields that the tests look at.
type block struct {
	Number, Hash, ParentHash, Timestamp                  string
	BaseFeePerGas, GasLimit, MixHash, Difficulty         string
	WithdrawalsRoot, ParentBeaconBlockRoot, RequestsHash string
	BlobGasUsed, ExcessBlobGas                           string
	Transactions                                         []string
	Withdrawals                                          []any
}

type receipt struct {
	TransactionHash, BlockHash, Status, Type, EffectiveGasPrice, GasUsed string
}

type frame struct {
	Type, From, To, Value, Error string
	Calls                        []frame
}

// at reads a block by number or tag.
func at(t *testing.T, n server, tag any) block {
	t.Helper()
	if number, ok := tag.(int); ok {
		tag = fmt.Sprintf("%#x", number)
	}
	return ask[block](t, n, "eth_getBlockByNumber", tag, false)
}

// number decodes a quantity.
func number(t *testing.T, quantity string) int {
	t.Helper()
	v, ok := new(big.Int).SetString(strings.TrimPrefix(quantity, "0x"), 16)
	if !ok || !strings.HasPrefix(quantity, "0x") {
		t.Fatalf("%q is not a quantity", quantity)
	}
	return int(v.Int64())
}

func mine(t *testing.T, n *Node, count int) {
	t.Helper()
	if err := n.Mine(count); err != nil {
		t.Fatal(err)
	}
}

func pay(t *testing.T, n *Node, address string, wei int64) string {
	t.Helper()
	hash, err := n.Pay(address, big.NewInt(wei))
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

func wantBalance(t *testing.T, n *Node, address string, want int64) {
	t.Helper()
	served := number(t, ask[string](t, n, "eth_getBalance", address, "latest"))
	if own := n.Balance(address); served != int(want) || own.Int64() != want {
		t.Errorf("balance of %s: served %d, own %v, want %d", address, served, own, want)
	}
}

func wantTags(t *testing.T, n *Node, latest, safe, finalized int) {
	t.Helper()
	for tag, want := range map[string]int{"latest": latest, "safe": safe, "finalized": finalized} {
		if got := number(t, at(t, n, tag).Number); got != want {
			t.Errorf("%s is block %d, want %d", tag, got, want)
		}
	}
}
