package ethereum

import (
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
)

// token returns a configured token.
func (n *Node) token(symbol string) (token, error) {
	t, known := n.tokens[symbol]
	if !known {
		return token{}, fmt.Errorf("this chain has no token %q", symbol)
	}
	return t, nil
}

// Token returns the address of a configured token's contract, with checksum (EIP-55).
func (n *Node) Token(symbol string) (string, error) {
	t, err := n.token(symbol)
	if err != nil {
		return "", err
	}
	return t.at.Hex(), nil
}

// PayToken transfers an amount in the token's smallest units from a faucet account to the address, and returns the
// transaction's hash. The transaction waits in the pool for Mine.
func (n *Node) PayToken(symbol, address string, amount *big.Int) (string, error) {
	t, err := n.token(symbol)
	if err != nil {
		return "", fmt.Errorf("pay token: %w", err)
	}
	to, err := t.parsePayee(address, amount)
	if err != nil {
		return "", fmt.Errorf("pay token %s: %w", symbol, err)
	}
	data, err := t.code.pack("transfer", to, amount)
	if err != nil {
		return "", fmt.Errorf("pay token %s: %w", symbol, err)
	}
	n.payMu.Lock()
	from := n.faucets[n.tokenTurn%tokenHolders]
	n.tokenTurn++
	n.payMu.Unlock()
	return n.sendAs(from, call{to: &t.at, data: data, gas: callGas(1)})
}

// PayTokenMany pays all outputs in one transaction through a contract, each by a Transfer of its own. Their amounts are
// in the token's smallest units.
func (n *Node) PayTokenMany(symbol string, outputs []Output) (string, error) {
	t, err := n.token(symbol)
	if err != nil {
		return "", fmt.Errorf("pay token: %w", err)
	}
	if len(outputs) == 0 || len(outputs) > maxOutputs {
		return "", fmt.Errorf("pay token %s: %d outputs, want 1 to %d", symbol, len(outputs), maxOutputs)
	}
	to, amounts := make([]common.Address, len(outputs)), make([]*big.Int, len(outputs))
	for i, o := range outputs {
		if to[i], err = t.parsePayee(o.Address, o.Wei); err != nil {
			return "", fmt.Errorf("pay token %s: %w", symbol, err)
		}
		amounts[i] = o.Wei
	}
	data, err := n.purse.code.pack("pay", t.at, to, amounts)
	if err != nil {
		return "", fmt.Errorf("pay token %s: %w", symbol, err)
	}
	return n.send(n.purse.at, new(big.Int), data, callGas(len(outputs)))
}

func (t token) parsePayee(address string, amount *big.Int) (common.Address, error) {
	if !common.IsHexAddress(address) {
		return common.Address{}, fmt.Errorf("%q is not an address", address)
	}
	if amount == nil || amount.Sign() < 0 || amount.Cmp(t.each()) > 0 {
		return common.Address{}, fmt.Errorf("%v is not an amount that the faucet can pay", amount)
	}
	return common.HexToAddress(address), nil
}

// TokenBalance is the address's balance at the head block, in the token's smallest units.
func (n *Node) TokenBalance(symbol, address string) (*big.Int, error) {
	t, err := n.token(symbol)
	if err != nil {
		return nil, fmt.Errorf("token balance: %w", err)
	}
	n.gate.RLock()
	defer n.gate.RUnlock()
	head, err := n.chain.State()
	if err != nil {
		return nil, fmt.Errorf("token balance: %w", err)
	}
	return balanceIn(head, t, common.HexToAddress(address)), nil
}

// ShutOut puts an address on the token's block list, or takes it off. The transaction waits for Mine.
func (n *Node) ShutOut(symbol, address string, listed bool) (string, error) {
	methods := map[TokenKind][2]string{UsdtLike: {"removeBlackList", "addBlackList"},
		UsdcLike: {"unBlacklist", "blacklist"}}
	which := 0
	if listed {
		which = 1
	}
	return n.rule(symbol, address, func(kind TokenKind) string { return methods[kind][which] })
}

// Destroy removes all tokens of a blocked address, without a Transfer. Only a UsdtLike token supports it. The
// transaction waits for Mine.
func (n *Node) Destroy(symbol, address string) (string, error) {
	return n.rule(symbol, address, func(TokenKind) string { return "destroyBlackFunds" })
}

// rule makes the token's owner call a method about an address.
func (n *Node) rule(symbol, address string, method func(TokenKind) string) (string, error) {
	t, err := n.token(symbol)
	if err != nil {
		return "", fmt.Errorf("rule token: %w", err)
	}
	if !common.IsHexAddress(address) {
		return "", fmt.Errorf("rule token %s: %q is not an address", symbol, address)
	}
	data, err := t.code.pack(method(t.spec.Kind), common.HexToAddress(address))
	if err != nil {
		return "", fmt.Errorf("rule token %s: %w", symbol, err)
	}
	return n.sendAs(t.keeper, call{to: &t.at, data: data, gas: callGas(1)})
}
