package ethabi

import (
	"bytes"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/bursar/bursar"
)

// The call data of a payment of 5 units is the one that ERC-20 gives, and is read back; what differs from it in any
// byte of its form is refused.
func TestATransferIsReadAsItIsWritten(t *testing.T) {
	to := [20]byte{19: 7}
	want := "a9059cbb" + "0000000000000000000000000000000000000000000000000000000000000007" +
		"0000000000000000000000000000000000000000000000000000000000000005"
	data := TransferData(to, bursar.Units(5))
	if got := hex.EncodeToString(data); got != want {
		t.Fatalf("the call data is %s, want %s", got, want)
	}
	if gotTo, amount, ok := ReadTransfer(data); !ok || gotTo != to || amount != bursar.Units(5) {
		t.Errorf("it reads as %x, %s, %v, want %x, 5, true", gotTo, amount, ok, to)
	}
	for name, other := range map[string][]byte{
		"another function":     append([]byte{0x09, 0x5e, 0xa7, 0xb3}, data[4:]...),
		"a longer call":        append(bytes.Clone(data), 0),
		"a shorter call":       data[:len(data)-1],
		"an address too long":  append(append(bytes.Clone(data[:4]), 1), data[5:]...),
		"an amount over range": append(append(bytes.Clone(data[:4+32]), 1), data[4+33:]...),
	} {
		if _, _, ok := ReadTransfer(other); ok {
			t.Errorf("%s is read as a transfer, want it to be refused", name)
		}
	}
}

func TestAWordAbove128BitsIsNoAmount(t *testing.T) {
	most := Word{}
	for i := 16; i < 32; i++ {
		most[i] = 0xff
	}
	if a, err := most.Amount(); err != nil || WordOf(a) != most {
		t.Errorf("2^128-1 reads as %s, %v, want itself", a, err)
	}
	most[15] = 1
	if _, err := most.Amount(); !errors.Is(err, bursar.ErrAmountOverflow) {
		t.Errorf("a number above 128 bits reads with %v, want %v", err, bursar.ErrAmountOverflow)
	}
}
