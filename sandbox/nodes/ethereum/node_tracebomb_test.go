package ethereum_test

import (
	"context"
	"encoding/hex"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/chaintest"
	"github.com/bursar/bursar/chain/evm"
	"github.com/bursar/bursar/chain/rpc"
	"github.com/bursar/bursar/sandbox/nodes/ethereum"
)

// bombCode is init code that calls an address without code 48 times with 768 KiB of memory as input. callTracer repeats
// each call's input, so 1.3 million gas make a trace of 75 MB.
//
//	00 6030          PUSH1 48                     counter
//	02 5b            JUMPDEST                 loop:
//	03 5f5f          PUSH0 PUSH0                  no result
//	05 620c00005f    PUSH3 768 KiB PUSH0          input
//	0a 5f60ff5a      PUSH0 PUSH1 0xff GAS         value, address
//	0e f150          CALL POP
//	10 6001900380    PUSH1 1 SWAP1 SUB DUP1       counter--
//	15 600257        PUSH1 2 JUMPI
//	18 00            STOP
const bombCode = "6030" + "5b" + "5f5f" + "620c00005f" + "5f60ff5a" + "f150" + "6001900380" + "600257" + "00"

// forwarderCode is init code of a contract that sends its value to a fixed address, without an event.
func forwarderCode(to common.Address) string {
	runtime := "5f5f5f5f34" + "73" + hex.EncodeToString(to[:]) + "5af1" + "00"
	size := hex.EncodeToString([]byte{byte(len(runtime) / 2)})
	return "60" + size + "600a5f39" + "60" + size + "5ff3" + runtime
}

// attacker sends raw transactions to a node.
type attacker struct {
	t     *testing.T
	node  *ethereum.Node
	rpc   *rpc.Client
	nonce uint64
}

func newAttacker(t *testing.T, node *ethereum.Node) *attacker {
	client, err := rpc.New(rpc.Config{URLs: []string{node.URL()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	a := &attacker{t: t, node: node, rpc: client}
	if _, err := node.Pay(a.address().Hex(), new(big.Int).Mul(big.NewInt(100), big.NewInt(1e18))); err != nil {
		t.Fatal(err)
	}
	if err := node.Mine(1); err != nil {
		t.Fatal(err)
	}
	return a
}

var attackerKey = crypto.ToECDSAUnsafe(crypto.Keccak256([]byte("attacker")))

func (a *attacker) address() common.Address { return crypto.PubkeyToAddress(attackerKey.PublicKey) }

// send sends value and code or data, to a new contract where to is nil, and returns the transaction's hash.
func (a *attacker) send(to *common.Address, gas uint64, wei int64, code string) string {
	a.t.Helper()
	data, err := hex.DecodeString(code)
	if err != nil {
		a.t.Fatal(err)
	}
	tx, err := types.SignNewTx(attackerKey, types.LatestSignerForChainID(big.NewInt(56)), &types.DynamicFeeTx{
		ChainID: big.NewInt(56), Nonce: a.nonce, Gas: gas, To: to, Value: big.NewInt(wei), Data: data,
		GasTipCap: big.NewInt(2e9), GasFeeCap: big.NewInt(50e9),
	})
	if err != nil {
		a.t.Fatal(err)
	}
	raw, err := tx.MarshalBinary()
	if err != nil {
		a.t.Fatal(err)
	}
	var id string
	if err := a.rpc.Call(context.Background(), "eth_sendRawTransaction", []any{"0x" + hex.EncodeToString(raw)},
		&id); err != nil {
		a.t.Fatal(err)
	}
	a.nonce++
	return id
}

// TestTraceBomb puts a third party's transaction into a block whose trace is larger than any answer may be, together
// with payments to wallets: directly, in tokens, by a contract that is given the receiver in its call data, and by
// one that is not. The block is followed all the same. Where its trace is read as a stream all payments are found;
// where even the stream exceeds its limit, all but the last are found by balances, and an anomaly names the block.
func TestTraceBomb(t *testing.T) {
	t.Parallel()
	for name, bound := range map[string]int64{"streamed": 0, "beyond the stream's limit": 8 << 20} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := evm.BSC()
			node, _ := startWithTokens(t, cfg, 18)
			contract, err := node.Token("USDT")
			if err != nil {
				t.Fatal(err)
			}
			cfg.Tokens = []evm.Token{{Contract: contract, Decimals: 18}}
			c, err := evm.New(cfg, rpc.Config{URLs: []string{node.URL()}, MaxStream: bound, Timeout: 5 * time.Minute})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(c.Close)
			bomb := newAttacker(t, node)
			named, unnamed := node.NewAddress(), node.NewAddress()
			forwarder := crypto.CreateAddress(bomb.address(), bomb.nonce)
			bomb.send(nil, 200_000, 0, forwarderCode(common.HexToAddress(unnamed)))
			if err := node.Mine(1); err != nil {
				t.Fatal(err)
			}
			head, err := c.Head(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			ids := []string{bomb.send(nil, 1_400_000, 0, bombCode), bomb.send(&forwarder, 100_000, 13, "")}
			for _, pay := range []func() (string, error){
				func() (string, error) { return node.Pay(named, big.NewInt(7)) },
				func() (string, error) { return node.PayToken("USDT", named, big.NewInt(9)) },
				func() (string, error) {
					return node.PayInternal([]ethereum.Output{{Address: named, Wei: big.NewInt(11)}})
				},
			} {
				id, err := pay()
				if err != nil {
					t.Fatal(err)
				}
				ids = append(ids, id)
			}
			if err := node.Mine(1); err != nil {
				t.Fatal(err)
			}
			blocks, err := c.After(t.Context(), head.Latest, 10, chaintest.NewWatch(named, unnamed))
			if err != nil || len(blocks) != 1 {
				t.Fatalf("got %+v, %v, want 1 of them", blocks, err)
			}
			want := map[chain.Transfer]bool{
				{TxID: ids[1], Output: 1, Address: bursar.Address{Base: unnamed}, Amount: bursar.Units(13),
					Internal: true}: bound == 0,
				{TxID: ids[2], Output: 0, Address: bursar.Address{Base: named}, Amount: bursar.Units(7)}:                     true,
				{TxID: ids[3], Output: 0, Address: bursar.Address{Base: named}, Contract: contract, Amount: bursar.Units(9)}: true,
				{TxID: ids[4], Output: 1, Address: bursar.Address{Base: named}, Amount: bursar.Units(11), Internal: true}:    true,
			}
			for transfer, expected := range want {
				if slices.Contains(blocks[0].Transfers, transfer) != expected {
					t.Errorf("transfer %+v is present: %v", transfer, !expected)
				}
			}
			notes := blocks[0].Anomalies
			if bound == 0 && len(notes) != 0 || bound > 0 &&
				(len(notes) != 1 || !strings.Contains(notes[0].What, "no endpoint could trace the block")) {
				t.Errorf("anomalies %+v", notes)
			}
			if state := c.Stats()[0].State; state != rpc.StateUp {
				t.Errorf("the endpoint is %s, want %v", state, rpc.StateUp)
			}
		})
	}
}
