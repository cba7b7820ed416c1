package ethereum

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/params"
)

// TokenKind is the real token whose behaviour a contract has.
type TokenKind string

// The kinds of tokens. Their source is contracts/Tokens.sol.
const (
	// UsdtLike returns nothing from its transfers, like Tether's contract on Ethereum; blocked addresses cannot send,
	// and their tokens can be destroyed without a Transfer.
	UsdtLike TokenKind = "usdt-like"
	// UsdcLike returns true from its transfers; blocked addresses can neither send nor receive.
	UsdcLike TokenKind = "usdc-like"
)

// TokenSpec describes a token. Its contract's address follows from all of it, and is the same on every chain.
type TokenSpec struct {
	Name, Symbol string
	Decimals     int
	Kind         TokenKind
}

const (
	tokenHolders = 256                   // number of faucet accounts that hold tokens
	wholeTokens  = 1_000_000_000_000     // balance of each of them, in whole tokens
	deployGas    = 3_000_000             // for one contract
	mintGas      = 30_000 * tokenHolders // a new balance and a log for each
	maxRounds    = 50                    // limit of blocks for deploying the contracts
)

// keeperFunds is what the deployer of a contract has for its fees: a hundred of the native asset.
func keeperFunds() *big.Int { return new(big.Int).Mul(big.NewInt(100), big.NewInt(params.Ether)) }

// token is a contract on the chain and its deployer, with the first transaction.
type token struct {
	spec   TokenSpec
	code   contract
	keeper faucet
	at     common.Address
}

// newTokens prepares the configured tokens, by symbol.
func newTokens(specs []TokenSpec) (map[string]token, error) {
	tokens := make(map[string]token, len(specs))
	for _, spec := range specs {
		kinds := map[TokenKind]string{UsdtLike: "UsdtLike", UsdcLike: "UsdcLike"}
		name, known := kinds[spec.Kind]
		_, twice := tokens[spec.Symbol]
		if !known || twice || spec.Symbol == "" || spec.Decimals < 0 || spec.Decimals > 36 {
			return nil, fmt.Errorf("token %+v has an unknown kind, no symbol, impossible decimals, or is configured "+
				"twice",
				spec)
		}
		code, err := readContract(name)
		if err != nil {
			return nil, err
		}
		tokens[spec.Symbol] = newToken(spec, code)
	}
	return tokens, nil
}

func newToken(spec TokenSpec, code contract) token {
	keeper := newFaucet(fmt.Sprintf("bursar sandbox token %q", []any{spec.Name, spec.Symbol, spec.Decimals, spec.Kind}))
	return token{spec: spec, code: code, keeper: keeper, at: crypto.CreateAddress(keeper.address, 0)}
}

// newPurse prepares the contract that pays several addresses in one transaction.
func newPurse() (token, error) {
	code, err := readContract("Purse")
	return newToken(TokenSpec{}, code), err
}

// each is the balance that every holder is given.
func (t token) each() *big.Int {
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.spec.Decimals)), nil)
	return unit.Mul(unit, big.NewInt(wholeTokens))
}

// deployTokens makes blocks until every configured token is deployed and distributed. On a chain that has them it makes
// none; after an interruption it continues.
func (n *Node) deployTokens(ctx context.Context) error {
	if len(n.tokens) == 0 {
		return nil
	}
	for range maxRounds {
		missing, err := n.missing()
		if err != nil || missing == 0 {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := n.mineOne(); err != nil {
			return fmt.Errorf("deploy tokens: %w", err)
		}
	}
	return errors.New("deploy tokens: not on the chain within the limit of blocks")
}

// missing sends the next transaction of each contract that is not complete, and returns how many are not.
func (n *Node) missing() (int, error) {
	head, err := n.chain.State()
	if err != nil {
		return 0, fmt.Errorf("deploy tokens: %w", err)
	}
	count := 0
	for _, t := range n.contracts() {
		complete, err := n.nextStep(head, t)
		if err != nil {
			return 0, fmt.Errorf("deploy token %q: %w", t.spec.Symbol, err)
		}
		if !complete {
			count++
		}
	}
	return count, nil
}

// contracts are the purse and the tokens.
func (n *Node) contracts() []token {
	all := []token{n.purse}
	for _, spec := range n.cfg.Tokens {
		all = append(all, n.tokens[spec.Symbol])
	}
	return all
}

// nextStep funds a contract's deployer, or deploys, or distributes, whichever is next. Transactions that wait in the
// pool are not sent again.
func (n *Node) nextStep(head *state.StateDB, t token) (complete bool, err error) {
	isToken, nonce := t.at != n.purse.at, n.eth.TxPool().PoolNonce(t.keeper.address)
	switch {
	case head.GetCodeSize(t.at) > 0 && (!isToken || balanceIn(head, t, n.purse.at).Sign() > 0):
		return true, nil
	case nonce == 0 && head.GetBalance(t.keeper.address).IsZero():
		_, err = n.send(t.keeper.address, keeperFunds(), nil, payGas)
	case nonce == 0:
		var data []byte
		if data, err = t.creation(isToken); err == nil {
			_, err = n.sendAs(t.keeper, call{data: data, gas: deployGas})
		}
	case nonce == 1 && isToken && head.GetCodeSize(t.at) > 0:
		var data []byte
		if data, err = t.code.pack("mint", n.holders(), t.each()); err == nil {
			_, err = n.sendAs(t.keeper, call{to: &t.at, data: data, gas: mintGas + deployGas})
		}
	}
	return false, err
}

func (t token) creation(isToken bool) ([]byte, error) {
	if !isToken {
		return t.code.creation()
	}
	return t.code.creation(t.spec.Name, t.spec.Symbol, uint8(t.spec.Decimals))
}

// holders are the purse and the faucet accounts that pay tokens.
func (n *Node) holders() []common.Address {
	holders := []common.Address{n.purse.at}
	for _, f := range n.faucets[:tokenHolders] {
		holders = append(holders, f.address)
	}
	return holders
}

// balanceIn reads a balance from the contract's storage: the compiler puts the mapping into the first slot.
func balanceIn(head *state.StateDB, t token, holder common.Address) *big.Int {
	slot := crypto.Keccak256Hash(common.LeftPadBytes(holder[:], 32), make([]byte, 32))
	return head.GetState(t.at, slot).Big()
}
