package chains

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/sandbox/fault"
	"github.com/bursar/bursar/sandbox/nodes/ethereum"
)

// evmFinality is how many blocks the finalized tag trails: seconds here, minutes on the main networks.
const evmFinality = 3

// tokens are the contracts deployed on a chain, by currency code.
type tokens map[bursar.CurrencyCode]ethereum.TokenSpec

// evmNode is one of the chains that run go-ethereum.
type evmNode struct {
	*ethereum.Node
	symbols map[string]string // of the tokens, by contract
}

func startEthereum(ctx context.Context, o Options) (*Chain, error) {
	return startEVM(ctx, 1337, nil, o) // as other development chains have
}

func startBSC(ctx context.Context, o Options) (*Chain, error) { return startEVM(ctx, 1356, nil, o) }

// startPolygon deploys a token that returns nothing on transfer, as Tether's on Ethereum does, and one that returns a
// value.
func startPolygon(ctx context.Context, o Options) (*Chain, error) {
	return startEVM(ctx, 1437, tokens{
		"USDT-MATIC": {Name: "Sandbox Tether", Symbol: "USDT", Decimals: 6, Kind: ethereum.UsdtLike},
		"USDC-MATIC": {Name: "Sandbox USD Coin", Symbol: "USDC", Decimals: 6, Kind: ethereum.UsdcLike},
	}, o)
}

func startEVM(ctx context.Context, chainID uint64, deployed tokens, o Options) (*Chain, error) {
	faults := fault.New(fault.FreezeEthereum(), time.Now)
	config := ethereum.Config{
		Options:       o.host(faults),
		ChainID:       chainID,
		FinalityDepth: evmFinality,
		Tracing:       true,
	}
	for _, code := range []bursar.CurrencyCode{"USDT-MATIC", "USDC-MATIC"} {
		if spec, found := deployed[code]; found {
			config.Tokens = append(config.Tokens, spec)
		}
	}
	n, err := ethereum.Start(ctx, config)
	if err != nil {
		return nil, err
	}
	c := &Chain{
		Real:      true,
		Software:  "go-ethereum, with blocks and finality made here in place of a consensus client",
		RPC:       n.URL(),
		Faults:    faults,
		announces: n.WebSocketURL(),
		Contracts: map[bursar.CurrencyCode]string{},
		options:   fmt.Sprintf("chain_id: %d, finality: finalized, start_height: 1", chainID),
	}
	node := evmNode{n, map[string]string{}}
	for code, spec := range deployed {
		contract, err := n.Token(spec.Symbol)
		if err != nil {
			return nil, errors.Join(err, n.Close())
		}
		c.Contracts[code], node.symbols[strings.ToLower(contract)] = contract, spec.Symbol
	}
	c.node = node
	return c, nil
}

// evmAddress is the form of an address; the letter case of its two spellings does not matter to a payer.
var evmAddress = regexp.MustCompile(`^0x[0-9a-fA-F]{40}$`)

// Pay pays one payment by a plain transaction, and several through a contract, so that they arrive by internal calls.
func (n evmNode) Pay(currency bursar.Currency, payments []Payment) (string, error) {
	outputs := make([]ethereum.Output, len(payments))
	for i, p := range payments {
		if !evmAddress.MatchString(p.Address) {
			return "", fmt.Errorf("%.60q is not an address", p.Address)
		}
		outputs[i] = ethereum.Output{Address: p.Address, Wei: p.Amount.Big()}
	}
	if currency.IsToken() {
		return n.PayTokenMany(n.symbols[strings.ToLower(currency.Contract)], outputs)
	}
	if len(outputs) == 1 {
		return n.Node.Pay(outputs[0].Address, outputs[0].Wei)
	}
	return n.PayInternal(outputs)
}

func (n evmNode) Balance(currency bursar.Currency, address string) (bursar.Amount, error) {
	if !evmAddress.MatchString(address) {
		return bursar.Amount{}, fmt.Errorf("%.60q is not an address", address)
	}
	if currency.IsToken() {
		units, err := n.TokenBalance(n.symbols[strings.ToLower(currency.Contract)], address)
		if err != nil {
			return bursar.Amount{}, err
		}
		return bursar.AmountFromBig(units)
	}
	wei := n.Node.Balance(address)
	if wei == nil {
		return bursar.Amount{}, errors.New("the node has been closed")
	}
	return bursar.AmountFromBig(wei)
}

func (n evmNode) NewAddress() (string, error) { return n.Node.NewAddress(), nil }
