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

// TokenKind says after which real token a contract behaves.
type TokenKind string

// The kinds of tokens that there are. Their source is contracts/Tokens.sol.
const (
	// UsdtLike returns nothing from its transfers, as Tether's contract on Ethereum; listed addresses cannot send, and
	// what they hold can be destroyed without a Transfer.
	UsdtLike TokenKind = "usdt-like"
	// UsdcLike returns true from its transfers; listed addresses can neither send nor receive.
	UsdcLike TokenKind = "usdc-like"
)

// TokenSpec describes a token. Its contract's address follows from all of it, and is the same on every chain.
type TokenSpec struct {
	Name, Symbol string
	Decimals     int
	Kind         TokenKind
}

const (
	tokenHolders = 256                   // how many faucet accounts hold tokens
	wholeTokens  = 1_000_000_000_000     // what each of them holds, in whole tokens
	deployGas    = 3_000_000             // for one contract
	mintGas      = 30_000 * tokenHolders // a new balance and a log for each
	maxRounds    = 50                    // blocks that bringing the contracts out may take
)

// keeperFunds is what a contract's maker has for its fees: a hundred UTXOs.
func keeperFunds() *big.Int { return new(big.Int).Mul(big.NewInt(100), big.NewInt(params.Ether)) }

// token is a contract on the chain and who made it, with its first transaction.
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
			return nil, fmt.Errorf("token %+v is of no known kind, is there twice, or has no symbol or impossible decimals",
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

// each is what every holder is given.
func (t token) each() *big.Int {
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.spec.Decimals)), nil)
	return unit.Mul(unit, big.NewInt(wholeTokens))
}

// bringOut makes blocks until every configured token is on the chain and given out. On a chain that has them it makes
// none, and one that was stopped in the middle goes on from there.
func (n *Node) bringOut(ctx context.Context) error {
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
			return fmt.Errorf("bring out tokens: %w", err)
		}
	}
	return errors.New("bring out tokens: they do not come to the chain")
}

// missing sends the next transaction of each contract that is not complete, and returns how many are not.
func (n *Node) missing() (int, error) {
	head, err := n.chain.State()
	if err != nil {
		return 0, fmt.Errorf("bring out tokens: %w", err)
	}
	count := 0
	for _, t := range n.contracts() {
		complete, err := n.nextStep(head, t)
		if err != nil {
			return 0, fmt.Errorf("bring out token %q: %w", t.spec.Symbol, err)
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

// nextStep funds a contract's maker, or deploys, or gives out, whichever is next. What waits in the pool is not sent
// again.
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

// balanceIn reads a holding where the compiler has put it: in the mapping of the contract's first slot.
func balanceIn(head *state.StateDB, t token, holder common.Address) *big.Int {
	slot := crypto.Keccak256Hash(common.LeftPadBytes(holder[:], 32), make([]byte, 32))
	return head.GetState(t.at, slot).Big()
}
