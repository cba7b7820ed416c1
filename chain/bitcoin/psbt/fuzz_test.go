package psbt

import (
	"bytes"
	"testing"
)

// A packet comes from the machine that faces the network, and from devices. What is read and written is read the same.
func FuzzParse(f *testing.F) {
	for _, v := range vectors(f, "valid") {
		f.Add(decode(f, v.text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Parse(data)
		if err != nil {
			return
		}
		once, err := p.Encode()
		if err != nil {
			return
		}
		again, err := Parse(once)
		if err != nil {
			t.Fatalf("%x was written, and is not read: %v", once, err)
		}
		if twice, err := again.Encode(); err != nil || !bytes.Equal(once, twice) {
			t.Errorf("got %x, %v, want %x", twice, err, once)
		}
	})
}
