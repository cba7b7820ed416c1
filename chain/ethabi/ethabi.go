// Package ethabi encodes the calls of token contracts as Ethereum and Tron have them (ERC-20, TIP-20).
//
// It owns the words of call data and the call transfer(address,uint256). It knows no chain's addresses or fees, and
// never sends anything. What it reads has exactly the form that it writes, or is refused.
package ethabi

import (
	"github.com/bursar/bursar"
)

// Word is 32 bytes of call data, of a result or of an event.
type Word [32]byte

// Amount returns the word as a number, or bursar.ErrAmountOverflow above 128 bits.
func (w Word) Amount() (bursar.Amount, error) {
	if [16]byte(w[:16]) != [16]byte{} {
		return bursar.Amount{}, bursar.ErrAmountOverflow
	}
	return bursar.AmountOf([16]byte(w[16:])), nil
}

// WordOf returns a number as an argument of a call.
func WordOf(a bursar.Amount) (w Word) {
	a.Big().FillBytes(w[:])
	return w
}

// WordOfAddress returns an address as an argument of a call.
func WordOfAddress(a [20]byte) (w Word) {
	copy(w[12:], a[:])
	return w
}

// transferSelector is the beginning of the call data of transfer(address,uint256).
var transferSelector = [4]byte{0xa9, 0x05, 0x9c, 0xbb}

// TransferData returns the call data that pays tokens.
func TransferData(to [20]byte, amount bursar.Amount) []byte {
	receiver, value := WordOfAddress(to), WordOf(amount)
	data := append([]byte{}, transferSelector[:]...)
	data = append(data, receiver[:]...)
	return append(data, value[:]...)
}

// ReadTransfer reads what TransferData returns, and reports false for anything else.
func ReadTransfer(data []byte) (to [20]byte, amount bursar.Amount, ok bool) {
	if len(data) != 4+64 || [4]byte(data) != transferSelector || [12]byte(data[4:]) != [12]byte{} {
		return to, amount, false
	}
	amount, err := Word(data[4+32:]).Amount()
	return [20]byte(data[4+12 : 4+32]), amount, err == nil
}
