package tron

import (
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"math/big"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

// The contracts are compiled from the .sol files in this directory by solc 0.8.37 with 200 optimizer runs, EVM
// version "paris" and no metadata.
var (
	//go:embed contracts/Token.hex
	tokenCode string
	//go:embed contracts/Token.abi.json
	tokenABI []byte
	//go:embed contracts/Purse.hex
	purseCode string
	//go:embed contracts/Teller.hex
	tellerCode string
)

func code(text string) []byte {
	raw, err := hex.DecodeString(strings.TrimSpace(text))
	if err != nil {
		panic("compiled contract: " + err.Error()) // only if a file of this directory is wrong
	}
	return raw
}

// abiEntries are a contract's functions in java-tron's form, where types and mutability begin with a capital letter.
func abiEntries(solidity []byte) []map[string]any {
	var entries []map[string]any
	if err := json.Unmarshal(solidity, &entries); err != nil {
		panic("contract interface: " + err.Error()) // only if a file of this directory is wrong
	}
	for _, e := range entries {
		for _, key := range []string{"type", "stateMutability"} {
			if word, ok := e[key].(string); ok && word != "" {
				e[key] = strings.ToUpper(word[:1]) + word[1:]
			}
		}
	}
	return entries
}

// selector is the first four bytes of a function's call data.
func selector(signature string) []byte { return crypto.Keccak256([]byte(signature))[:4] }

func word(n *big.Int) []byte { return common.LeftPadBytes(n.Bytes(), 32) }

func wordOf(a common.Address) []byte { return common.LeftPadBytes(a[:], 32) }

// callAddressAmount is the call data of f(address,uint256).
func callAddressAmount(signature string, a common.Address, amount *big.Int) []byte {
	return append(append(selector(signature), wordOf(a)...), word(amount)...)
}

// callAddress is the call data of f(address).
func callAddress(signature string, a common.Address) []byte {
	return append(selector(signature), wordOf(a)...)
}

// callPay is the call data of the purse's pay(address[],uint256[]).
func callPay(outputs []Output) ([]byte, int64, error) {
	receivers, amounts, sum, err := lists(outputs)
	if err != nil {
		return nil, 0, err
	}
	data := append(selector("pay(address[],uint256[])"), word(big.NewInt(2*32))...)
	data = append(data, word(big.NewInt(int64(2*32+len(receivers))))...)
	return append(append(data, receivers...), amounts...), sum, nil
}

// lists encodes the receivers and the amounts of outputs as two arrays, each with its length before it.
func lists(outputs []Output) (receivers, amounts []byte, sum int64, err error) {
	count := word(big.NewInt(int64(len(outputs))))
	receivers, amounts = append(receivers, count...), append(amounts, count...)
	for _, o := range outputs {
		to, err := payee(o.Address, o.Sun)
		if err != nil {
			return nil, nil, 0, err
		}
		receivers, amounts = append(receivers, wordOf(to)...), append(amounts, word(big.NewInt(o.Sun))...)
		sum += o.Sun
	}
	return receivers, amounts, sum, nil
}
