package ethereum

import (
	"encoding/hex"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
)

// disperseCode reads its call data as entries of 96 bytes (address, wei, argument) and calls each address with the
// value and the argument as call data. It goes on when a call fails.
//
//	00 5f        PUSH0                          offset = 0
//	01 5b        JUMPDEST                  loop:
//	02 36811015  CALLDATASIZE DUP2 LT ISZERO
//	06 602557    PUSH1 0x25 JUMPI               end of data? to end
//	09 8060400135 DUP1 PUSH1 0x40 ADD CALLDATALOAD
//	0e 5f52      PUSH0 MSTORE                   memory[0:32] = argument
//	10 5f5f60205f PUSH0 PUSH0 PUSH1 0x20 PUSH0  no result; call data = memory[0:32]
//	15 8460200135 DUP5 PUSH1 0x20 ADD CALLDATALOAD  value
//	1a 8535      DUP6 CALLDATALOAD              address
//	1c 5af150    GAS CALL POP                   the outcome is ignored
//	1f 606001600156 PUSH1 0x60 ADD PUSH1 0x01 JUMP  next entry
//	25 5b00      JUMPDEST STOP             end:
const disperseCode = "5f" + "5b" + "36811015" + "602557" + "8060400135" + "5f52" + "5f5f60205f" + "8460200135" +
	"8535" + "5af150" +
	"606001600156" + "5b00"

// reverterCode passes its value on to the address in the first word of its call data, then reverts, which takes it
// back.
//
//	5f5f5f5f 34    PUSH0 x4, CALLVALUE
//	5f35           PUSH0 CALLDATALOAD      address
//	5af1           GAS CALL
//	5f5ffd         PUSH0 PUSH0 REVERT
const reverterCode = "5f5f5f5f34" + "5f35" + "5af1" + "5f5ffd"

func disperseAddress() common.Address { return common.BytesToAddress([]byte("sandbox disperser")) }
func reverterAddress() common.Address { return common.BytesToAddress([]byte("sandbox reverter")) }

// testContracts are in the chain from genesis, so that no deployment uses the faucets' nonces.
func testContracts() types.GenesisAlloc {
	contract := func(code string) types.Account {
		raw, err := hex.DecodeString(code)
		if err != nil {
			panic("contract code is not hexadecimal: " + code) // a constant of this file: never wrong
		}
		return types.Account{Nonce: 1, Balance: new(big.Int), Code: raw} // nonce 1 as after a creation under EIP-161
	}
	return types.GenesisAlloc{
		disperseAddress(): contract(disperseCode),
		reverterAddress(): contract(reverterCode),
	}
}

// disperseEntry is one entry of the disperser's call data.
func disperseEntry(to common.Address, wei *big.Int, argument common.Address) []byte {
	entry := common.LeftPadBytes(to[:], 32)
	entry = append(entry, common.LeftPadBytes(wei.Bytes(), 32)...)
	return append(entry, common.LeftPadBytes(argument[:], 32)...)
}
