package ethereum

import (
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

// compiledTokens is contracts/Tokens.sol by the compiler and with the settings that it names.
//
//go:embed contracts/tokens.json
var compiledTokens []byte

// contract is compiled code and its interface.
type contract struct {
	ABI  abi.ABI       `json:"abi"`
	Code hexutil.Bytes `json:"bytecode"`
}

func readContract(name string) (contract, error) {
	var compiled struct {
		Contracts map[string]contract `json:"contracts"`
	}
	if err := json.Unmarshal(compiledTokens, &compiled); err != nil {
		return contract{}, fmt.Errorf("read compiled tokens: %w", err)
	}
	c, there := compiled.Contracts[name]
	if !there {
		return contract{}, fmt.Errorf("contract %s is not compiled", name)
	}
	return c, nil
}

// creation is the call data that deploys the contract.
func (c contract) creation(arguments ...any) ([]byte, error) {
	tail, err := c.ABI.Pack("", arguments...)
	if err != nil {
		return nil, fmt.Errorf("encode creation: %w", err)
	}
	return append(append([]byte(nil), c.Code...), tail...), nil
}

// pack is the call data of a method.
func (c contract) pack(method string, arguments ...any) ([]byte, error) {
	data, err := c.ABI.Pack(method, arguments...)
	if err != nil {
		return nil, fmt.Errorf("encode call: %w", err)
	}
	return data, nil
}
