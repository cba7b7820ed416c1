package bitcoin

import (
	"encoding/hex"
	"math/rand/v2"
	"testing"
)

func wantHash160(t *testing.T, data []byte) {
	t.Helper()
	if got, want := fastHash160(data), hash160(data); got != want {
		t.Fatalf("%x gives %x, want %x", data, got, want)
	}
}

func TestFastHash160AgainstTheGeneralOne(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(8, 9))
	for range 20_000 {
		data := make([]byte, random.IntN(70))
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		wantHash160(t, data)
	}
}

// The key of BIP 173's examples, and the hash that their addresses show.
func TestHash160OfBIP173(t *testing.T) {
	t.Parallel()
	key, err := hex.DecodeString("0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798")
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []func([]byte) [sizeKeyHash]byte{hash160, fastHash160} {
		hash := of(key)
		if got, want := hex.EncodeToString(hash[:]), "751e76e8199196d454941c45d1b3a323f1433bd6"; got != want {
			t.Errorf("it is %s, want %s", got, want)
		}
	}
}

func FuzzFastHash160(f *testing.F) {
	f.Add([]byte{})
	f.Fuzz(wantHash160)
}
