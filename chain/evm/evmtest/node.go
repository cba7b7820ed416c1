// Package evmtest drives EVM nodes in tests: it pays, deploys contracts and queries a node directly over JSON-RPC. It
// owns the requests that it sends and never calls the adapter, which is tested against the balances that it reports.
package evmtest

import (
	"context"
	"crypto/ecdsa"
	"encoding/hex"
	"fmt"
	"math/big"
	"strings"
	"sync"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// Payers is how many outsiders pay: each payment comes from another one, so that dropping one leaves no gap of nonces.
const Payers = 24

// Node is an EVM node over JSON-RPC, with outsiders who have a native balance. Mining, finality and reorgs differ from
// node to node and are left to the type that embeds it.
type Node struct {
	URL     string
	ChainID uint64
	// Batch sends several payments of the native asset through one contract call; without it each has its own
	// transaction.
	Batch bool

	client *rpc.Client
	mu     sync.Mutex
	next   int
	people int
	payer  common.Address
	token  common.Address
	tokens map[common.Address]bool
}

// Open connects to a node. The first Payers keys of Key must have a native balance there.
func Open(t testing.TB, url string, chainID uint64) *Node {
	t.Helper()
	client, err := rpc.New(rpc.Config{URLs: []string{url}})
	if err != nil {
		t.Fatalf("open %s: %v", url, err)
	}
	t.Cleanup(client.Close)
	return &Node{URL: url, ChainID: chainID, client: client, tokens: map[common.Address]bool{}}
}

// Key returns the private key of the nth outsider.
func Key(n int) *ecdsa.PrivateKey {
	key, err := crypto.ToECDSA(crypto.Keccak256(fmt.Appendf(nil, "outsider %d", n)))
	if err != nil {
		panic("evmtest: key of an outsider: " + err.Error()) // one hash in 2^128 is not a valid key
	}
	return key
}

// Payer returns the address of the nth outsider.
func Payer(n int) common.Address { return crypto.PubkeyToAddress(Key(n).PublicKey) }

// Ask calls a method of the node and fails the test if it refuses.
func (n *Node) Ask(t testing.TB, out any, method string, params ...any) {
	t.Helper()
	if err := n.Try(out, method, params...); err != nil {
		t.Fatalf("%v", err)
	}
}

// Try calls a method of the node.
func (n *Node) Try(out any, method string, params ...any) error {
	return n.client.Call(context.Background(), method, params, out)
}

// Number reads a hexadecimal number from the node.
func (n *Node) Number(t testing.TB, method string, params ...any) *big.Int {
	t.Helper()
	var answer string
	n.Ask(t, &answer, method, params...)
	number, ok := new(big.Int).SetString(strings.TrimPrefix(answer, "0x"), 16)
	if !ok {
		t.Fatalf("%s answers %q", method, answer)
	}
	return number
}

// Balance returns the native balance of an address in the newest block.
func (n *Node) Balance(t testing.TB, address string) bursar.Amount {
	t.Helper()
	return amount(t, n.Number(t, "eth_getBalance", address, "latest"))
}

func amount(t testing.TB, number *big.Int) bursar.Amount {
	t.Helper()
	a, err := bursar.AmountFromBig(number)
	if err != nil {
		t.Fatalf("amount %s: %v", number, err)
	}
	return a
}

// Outsider returns an address that no key controls.
func (n *Node) Outsider(t testing.TB) string {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.people++
	return common.BytesToAddress(crypto.Keccak256(fmt.Appendf(nil, "outsider %d", n.people))).Hex()
}

// Pay sends each payment from an outsider. Several payments of the native asset go in one transaction if Batch is set.
func (n *Node) Pay(t testing.TB, payments ...chain.Payment) []string {
	t.Helper()
	ids := make([]string, len(payments))
	if n.Batch && len(payments) > 1 {
		to, values, sum := split(t, payments)
		id := n.Send(t, n.payer, sum, Call("pay(address[],uint256[])", to, values))
		for i := range ids {
			ids[i] = id
		}
		return ids
	}
	for i, payment := range payments {
		to := common.HexToAddress(payment.Address.Base)
		if payment.Contract == "" {
			ids[i] = n.Send(t, to, payment.Amount, nil)
			continue
		}
		call := Call("transfer(address,uint256)", to, payment.Amount)
		ids[i] = n.Send(t, common.HexToAddress(payment.Contract), bursar.Amount{}, call)
	}
	return ids
}

func split(t testing.TB, payments []chain.Payment) (to []common.Address, values []bursar.Amount, sum bursar.Amount) {
	t.Helper()
	for _, payment := range payments {
		if payment.Contract != "" {
			t.Fatal("several payments in one transaction must be of the native asset")
		}
		to, values = append(to, common.HexToAddress(payment.Address.Base)), append(values, payment.Amount)
	}
	sum, err := bursar.Sum(values...)
	if err != nil {
		t.Fatalf("sum of payments: %v", err)
	}
	return to, values, sum
}

// PayFailed pays through a contract call that reverts after the payment.
func (n *Node) PayFailed(t testing.TB, payment chain.Payment) string {
	t.Helper()
	return n.Send(t, n.payer, payment.Amount, Call("payAndFail(address)", common.HexToAddress(payment.Address.Base)))
}

// Send sends a transaction of the next outsider and returns its hash.
func (n *Node) Send(t testing.TB, to common.Address, value bursar.Amount, data []byte) string {
	t.Helper()
	return n.send(t, &to, value, data)
}

// Gas limits: a plain payment to an address without code needs 21,000; everything else in the tests stays below a
// million.
const (
	plainGas    = 100_000
	contractGas = 3_000_000
)

func (n *Node) send(t testing.TB, to *common.Address, value bursar.Amount, data []byte) string {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	who := n.next % Payers
	n.next++
	gas := uint64(plainGas)
	if len(data) > 0 {
		gas = contractGas
	}
	nonce := n.Number(t, "eth_getTransactionCount", Payer(who).Hex(), "pending").Uint64()
	tx, err := types.SignNewTx(Key(who), types.LatestSignerForChainID(new(big.Int).SetUint64(n.ChainID)),
		&types.DynamicFeeTx{
			ChainID:   new(big.Int).SetUint64(n.ChainID),
			Nonce:     nonce,
			Gas:       gas,
			To:        to,
			Value:     value.Big(),
			Data:      data,
			GasTipCap: big.NewInt(2e9),
			GasFeeCap: big.NewInt(100e9),
		})
	if err != nil {
		t.Fatalf("sign: %v", err)
	}
	raw, err := tx.MarshalBinary()
	if err != nil {
		t.Fatalf("encode: %v", err)
	}
	var id string
	n.Ask(t, &id, "eth_sendRawTransaction", "0x"+hex.EncodeToString(raw))
	if id != tx.Hash().Hex() {
		t.Fatalf("transaction %s: the node returned id %s", tx.Hash(), id)
	}
	return id
}

// Deploy sends a contract's creation code; the contract exists once it is mined.
func (n *Node) Deploy(t testing.TB, code []byte) (common.Address, string) {
	t.Helper()
	n.mu.Lock()
	who := n.next % Payers
	n.mu.Unlock()
	nonce := n.Number(t, "eth_getTransactionCount", Payer(who).Hex(), "pending").Uint64()
	return crypto.CreateAddress(Payer(who), nonce), n.send(t, nil, bursar.Amount{}, code)
}

// Prepare deploys the contracts that payments need and gives tokens of 6 decimals to all outsiders. mine must mine the
// pending transactions.
func (n *Node) Prepare(t testing.TB, mine func()) {
	t.Helper()
	n.payer, _ = n.Deploy(t, PayerCode())
	n.token, _ = n.Deploy(t, TokenCode(6))
	mine()
	million := bursar.Units(1_000_000_000_000)
	for i := range Payers {
		n.Send(t, n.token, bursar.Amount{}, Call("mint(address,uint256)", Payer(i), million))
	}
	mine()
	if balance := n.TokenBalance(t, n.token.Hex(), Payer(0).Hex()); balance != million {
		t.Fatalf("the balance of an outsider is %s tokens, want more", balance)
	}
}

// PayerContract returns the address of Payer.sol after Prepare.
func (n *Node) PayerContract() common.Address { return n.payer }

// Token returns the contract of a token that all outsiders have.
func (n *Node) Token(testing.TB) string { return n.token.Hex() }

// TokenBalance returns the token balance of an address in the newest block.
func (n *Node) TokenBalance(t testing.TB, contract, address string) bursar.Amount {
	t.Helper()
	call := map[string]string{
		"to": contract, "data": "0x" + hex.EncodeToString(Call("balanceOf(address)", common.HexToAddress(address))),
	}
	return amount(t, n.Number(t, "eth_call", call, "latest"))
}
