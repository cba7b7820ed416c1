package evmtest

import (
	"encoding/hex"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

// Keeper is who gets what a taxed token keeps.
var Keeper = common.HexToAddress("0x00000000000000000000000000000000000fee01")

// SilentCode returns 0 to every call and does nothing: a transfer returns false.
func SilentCode() string { return "0x60006000526020" + "6000f3" }

// TaxingCode logs for every call transfer(to, amount) that a hundredth of the amount goes to Keeper and the rest to the
// receiver, and returns true. It keeps no balances: what counts of a payment are its events.
func TaxingCode() string {
	transfer := hex.EncodeToString(crypto.Keccak256([]byte("Transfer(address,address,uint256)")))
	// CALLDATALOAD 0x24; DUP1; PUSH1 100; SWAP1; DIV: the amount and its hundredth
	const shares = "602435" + "80" + "6064" + "90" + "04"
	// DUP1; MSTORE at 0x20: the hundredth; SWAP1; SUB; MSTORE at 0: the rest
	const stored = "80" + "602052" + "90" + "03" + "600052"
	// LOG3 of a word from CALLER to the topic on the stack
	log := func(to, at string) string { return to + "33" + "7f" + transfer + "6020" + at + "a3" }
	keeper := "73" + hex.EncodeToString(Keeper[:])
	return "0x" + shares + stored + log("600435", "6000") + log(keeper, "6020") + "60016000526020" + "6000f3"
}

// Silence makes a token move nothing from now on and return false.
func (a *Anvil) Silence(t testing.TB, contract string) {
	t.Helper()
	a.Ask(t, nil, "anvil_setCode", contract, SilentCode())
}

// Tax makes a token keep a hundredth of each transfer from now on.
func (a *Anvil) Tax(t testing.TB, contract string) string {
	t.Helper()
	a.Ask(t, nil, "anvil_setCode", contract, TaxingCode())
	return Keeper.Hex()
}

// Silence makes a token move nothing from now on and return false.
func (h *Hardhat) Silence(t testing.TB, contract string) {
	t.Helper()
	h.Ask(t, nil, "hardhat_setCode", contract, SilentCode())
}

// Tax makes a token keep a hundredth of each transfer from now on.
func (h *Hardhat) Tax(t testing.TB, contract string) string {
	t.Helper()
	h.Ask(t, nil, "hardhat_setCode", contract, TaxingCode())
	return Keeper.Hex()
}
