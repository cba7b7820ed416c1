package ethereum

import (
	"crypto/ecdsa"
	"fmt"
	"math/big"
	"sync"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/params"
)

const (
	// faucetCount accounts take turns, so that a payment dropped by Reorg leaves no nonce gap in front of the others.
	faucetCount = 1000
	// payGas lets a payment reach a contract too; a plain transfer uses 21,000 of it.
	payGas = 100_000
	// maxOutputs keeps PayInternal below the protocol's limit for one transaction, 2^24 gas (EIP-7825).
	maxOutputs = 300
)

// faucet is one prefunded account. Its key is not secret: it is computed from its number.
type faucet struct {
	key     *ecdsa.PrivateKey
	address common.Address
}

// newFaucets derives the keys once for all nodes of a process, which takes a tenth of a second. Nobody changes them.
var newFaucets = sync.OnceValue(func() []faucet {
	faucets := make([]faucet, faucetCount)
	for i := range faucets {
		faucets[i] = newFaucet(fmt.Sprintf("bursar sandbox faucet %d", i))
	}
	return faucets
})

func newFaucet(name string) faucet {
	key := crypto.ToECDSAUnsafe(crypto.Keccak256([]byte(name))) // a hash is below the order but for 2^-128
	return faucet{key, crypto.PubkeyToAddress(key.PublicKey)}
}

// faucetBalance is a billion ether.
func faucetBalance() *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(27), nil) }

// Output is one output of PayInternal or PayTokenMany: an address and an amount in wei or a token's smallest units.
type Output struct {
	Address string
	Wei     *big.Int
}

// Pay sends wei to the address by a plain transaction from the faucet and returns its hash. The transaction waits in
// the pool for Mine.
func (n *Node) Pay(address string, wei *big.Int) (string, error) {
	to, err := parsePayee(address, wei)
	if err != nil {
		return "", fmt.Errorf("pay: %w", err)
	}
	return n.send(to, wei, nil, payGas)
}

// PayInternal pays all outputs in one transaction through a contract, so the value arrives by internal calls only.
func (n *Node) PayInternal(outputs []Output) (string, error) {
	if len(outputs) == 0 || len(outputs) > maxOutputs {
		return "", fmt.Errorf("pay internally: %d outputs, want 1 to %d", len(outputs), maxOutputs)
	}
	var data []byte
	sum := new(big.Int)
	for _, o := range outputs {
		to, err := parsePayee(o.Address, o.Wei)
		if err != nil {
			return "", fmt.Errorf("pay internally: %w", err)
		}
		data = append(data, disperseEntry(to, o.Wei, common.Address{})...)
		sum.Add(sum, o.Wei)
	}
	return n.send(disperseAddress(), sum, data, callGas(len(outputs)))
}

// PayReverted makes a transaction that succeeds (status 1) while its inner call, which passes the value on to the
// address, reverts: a trace shows the transfer inside a failed frame, and the address gets nothing.
func (n *Node) PayReverted(address string, wei *big.Int) (string, error) {
	to, err := parsePayee(address, wei)
	if err != nil {
		return "", fmt.Errorf("pay reverted: %w", err)
	}
	return n.send(disperseAddress(), wei, disperseEntry(reverterAddress(), wei, to), callGas(2))
}

// PayFailed makes a transaction that passes the value on to the address by an internal call and then fails (status 0):
// the address gets nothing.
func (n *Node) PayFailed(address string, wei *big.Int) (string, error) {
	to, err := parsePayee(address, wei)
	if err != nil {
		return "", fmt.Errorf("pay failed: %w", err)
	}
	return n.send(reverterAddress(), wei, common.LeftPadBytes(to[:], 32), callGas(1))
}

func parsePayee(address string, wei *big.Int) (common.Address, error) {
	if !common.IsHexAddress(address) {
		return common.Address{}, fmt.Errorf("%q is not an address", address)
	}
	if wei == nil || wei.Sign() < 0 || wei.Cmp(faucetBalance()) >= 0 {
		return common.Address{}, fmt.Errorf("%v wei is not an amount that the faucet can pay", wei)
	}
	return common.HexToAddress(address), nil
}

// callGas covers calls with value to addresses that do not exist yet (34,000 gas each) with a margin.
func callGas(calls int) uint64 { return 100_000 + 50_000*uint64(calls) }

// send signs a transaction of the next faucet account and hands it to the pool.
func (n *Node) send(to common.Address, wei *big.Int, data []byte, gas uint64) (string, error) {
	n.payMu.Lock()
	from := n.faucets[n.turn%len(n.faucets)]
	n.turn++
	n.payMu.Unlock()
	return n.sendAs(from, call{to: &to, wei: wei, data: data, gas: gas})
}

// call is what a transaction does. Without a receiver it creates a contract; without wei it carries no value.
type call struct {
	to   *common.Address
	wei  *big.Int
	data []byte
	gas  uint64
}

// sendAs signs a transaction of an account and hands it to the pool.
func (n *Node) sendAs(from faucet, c call) (string, error) {
	n.gate.RLock()
	defer n.gate.RUnlock()
	n.payMu.Lock()
	defer n.payMu.Unlock()
	tip := big.NewInt(params.GWei)
	// The fee cap is valid for many full blocks: each increases the base fee by an eighth at most.
	feeCap := new(big.Int).Add(new(big.Int).Lsh(n.chain.CurrentBlock().BaseFee, 1), big.NewInt(100*params.GWei))
	chainID := n.chain.Config().ChainID
	tx, err := types.SignNewTx(from.key, types.LatestSignerForChainID(chainID), &types.DynamicFeeTx{
		ChainID: chainID, Nonce: n.eth.TxPool().PoolNonce(from.address), GasTipCap: tip, GasFeeCap: feeCap,
		Gas: c.gas, To: c.to, Value: c.wei, Data: c.data,
	})
	if err != nil {
		return "", fmt.Errorf("sign faucet payment: %w", err)
	}
	raw, err := tx.MarshalBinary()
	if err != nil {
		return "", fmt.Errorf("encode faucet payment: %w", err)
	}
	if err := n.journal.Append(raw); err != nil {
		return "", err
	}
	// The next nonce of this account is right only after the pool has done its own bookkeeping.
	if err := n.eth.TxPool().Add([]*types.Transaction{tx}, true)[0]; err != nil {
		return "", fmt.Errorf("send faucet payment: %w", err)
	}
	return tx.Hash().Hex(), nil
}
