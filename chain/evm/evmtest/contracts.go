package evmtest

import (
	_ "embed"
	"encoding/hex"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/bursar/bursar"
)

// The contracts are compiled from the .sol files in this directory by solc 0.8.37 with 200 optimizer runs, EVM version
// "paris" and no metadata.
var (
	//go:embed contracts/Token.hex
	tokenCode string
	//go:embed contracts/Payer.hex
	payerCode string
)

// TokenCode returns the creation code of a token with the given decimals that anyone can mint: mint(address,uint256).
func TokenCode(decimals uint8) []byte { return append(code(tokenCode), Word(uint64(decimals))...) }

// PayerCode returns the creation code of a contract that forwards native value in every way a contract can; see
// Payer.sol.
func PayerCode() []byte { return code(payerCode) }

func code(text string) []byte {
	raw, err := hex.DecodeString(strings.TrimSpace(text))
	if err != nil {
		panic("evmtest: compiled contract: " + err.Error()) // a file of this directory is corrupt
	}
	return raw
}

// Call encodes a call: the function's signature, then its arguments as 32-byte words or, for addresses and amounts, as
// themselves. Lists must be the last arguments.
func Call(signature string, arguments ...any) []byte {
	data := crypto.Keccak256([]byte(signature))[:4]
	var tail []byte
	for _, argument := range arguments {
		switch a := argument.(type) {
		case common.Address:
			data = append(data, common.LeftPadBytes(a[:], 32)...)
		case bursar.Amount:
			data = append(data, common.LeftPadBytes(a.Big().Bytes(), 32)...)
		case []common.Address:
			data = append(data, Word(uint64(32*len(arguments)+len(tail)))...)
			tail = append(tail, Word(uint64(len(a)))...)
			for _, member := range a {
				tail = append(tail, common.LeftPadBytes(member[:], 32)...)
			}
		case []bursar.Amount:
			data = append(data, Word(uint64(32*len(arguments)+len(tail)))...)
			tail = append(tail, Word(uint64(len(a)))...)
			for _, member := range a {
				tail = append(tail, common.LeftPadBytes(member.Big().Bytes(), 32)...)
			}
		default:
			panic("evmtest: an argument of an unknown type") // a test is wrong
		}
	}
	return append(data, tail...)
}

// Word returns a number in 32 bytes.
func Word(n uint64) []byte { return common.LeftPadBytes(bursar.Units(n).Big().Bytes(), 32) }
