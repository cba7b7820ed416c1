package chaintest

import (
	"encoding/hex"
	"slices"

	"github.com/ethereum/go-ethereum/crypto"
)

// Keeper is the address that gets TaxingToken's share.
var Keeper = [20]byte{17: 0x0f, 18: 0xee, 19: 0x01}

// Both tokens are hand-written code for the EVM and for Tron's virtual machine: a balance query returns 2^40 for every
// address, and any call of another length is a transfer(to, amount). They keep no balances, because only the events of
// a payment count.
const (
	// CALLDATASIZE; PUSH1 36; EQ; PUSH1 10; JUMPI; PUSH1 26; JUMP; at 10 the result 2^40; at 26 the transfer
	oddPrefix = "36" + "6024" + "14" + "600a" + "57" + "601a" + "56" + oddBalance + "5b"
	// JUMPDEST; PUSH6 2^40; MSTORE at 0; RETURN of a word
	oddBalance = "5b" + "65010000000000" + "6000" + "52" + oddReturn
	oddReturn  = "60206000f3"
)

// SilentToken returns the code of a token whose transfers return false, move nothing, log nothing and succeed.
func SilentToken() []byte { return decoded(oddPrefix + "6000" + "6000" + "52" + oddReturn) }

// TaxingToken returns the code of a token that diverts a hundredth of each transfer to Keeper and pays the rest to the
// receiver, as its events show; transfers return true.
func TaxingToken() []byte {
	transfer := hex.EncodeToString(crypto.Keccak256([]byte("Transfer(address,address,uint256)")))
	// CALLDATALOAD of the amount; DUP1; PUSH1 100; SWAP1; DIV: the amount and its hundredth
	const shares = "602435" + "80" + "6064" + "90" + "04"
	// DUP1; MSTORE at 32: the hundredth; SWAP1; SUB; MSTORE at 0: the rest
	const stored = "80" + "602052" + "90" + "03" + "600052"
	// LOG3 of a word, from the caller to the topic on the stack
	log := func(to, at string) string { return to + "33" + "7f" + transfer + "6020" + at + "a3" }
	keeper := "73" + hex.EncodeToString(Keeper[:])
	return decoded(oddPrefix + shares + stored + log("600435", "6000") + log(keeper, "6020") + "6001" + "600052" +
		oddReturn)
}

// Creation returns the init code that deploys a contract with the given code.
func Creation(code []byte) []byte {
	// PUSH1 length; DUP1; PUSH1 11; PUSH1 0; CODECOPY; PUSH1 0; RETURN
	return slices.Concat([]byte{0x60, byte(len(code))}, decoded("80"+"600b"+"6000"+"39"+"6000"+"f3"), code)
}

func decoded(text string) []byte {
	code, err := hex.DecodeString(text)
	if err != nil {
		panic("chaintest: code of a token: " + err.Error()) // only if a constant of this file is wrong
	}
	return code
}
