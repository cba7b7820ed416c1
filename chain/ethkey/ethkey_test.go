package ethkey

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"pgregory.net/rapid"
)

// TestAddressOfAPublishedKey uses the key of go-ethereum 1.17.10, crypto/crypto_test.go (testPrivHex, testAddrHex).
func TestAddressOfAPublishedKey(t *testing.T) {
	t.Parallel()
	private, err := crypto.HexToECDSA("289c2857d4598e37fb9647507e47a309d6133539bf21a8b9cb6df88fd5232032")
	if err != nil {
		t.Fatal(err)
	}
	const want = "970e8128ab834e8eac17ab8e3812f010678cf791"
	if got, err := Address(crypto.CompressPubkey(&private.PublicKey)); err != nil || hex.EncodeToString(got[:]) != want {
		t.Errorf("the address is %x: %v, want %s", got, err, want)
	}
}

// TestKeccakOfPublishedTexts uses the hash of nothing (EIP-1052) and that of "abc" (go-ethereum 1.17.10,
// crypto/crypto_test.go).
func TestKeccakOfPublishedTexts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":    "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470",
		"abc": "4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45",
	} {
		if got := Keccak256([]byte(text[:len(text)/2]), []byte(text[len(text)/2:])); hex.EncodeToString(got[:]) != want {
			t.Errorf("the hash of %q is %x, want %s", text, got, want)
		}
	}
}

func TestKeysAndSignaturesAreThoseOfGoEthereum(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		secret := crypto.Keccak256(rapid.SliceOf(rapid.Byte()).Draw(t, "secret"))
		private, err := crypto.ToECDSA(secret)
		if err != nil {
			t.Skip("no key")
		}
		digest := Keccak256(rapid.SliceOf(rapid.Byte()).Draw(t, "message"))
		want := crypto.PubkeyToAddress(private.PublicKey)
		if got, err := Address(crypto.CompressPubkey(&private.PublicKey)); err != nil || common.Address(got) != want {
			t.Fatalf("the address is %x: %v, want %s", got, err, want)
		}
		signature, err := crypto.Sign(digest[:], private)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Signer(digest, signature); err != nil || common.Address(got) != want {
			t.Fatalf("the signer is %x: %v, want %s", got, err, want)
		}
		at := rapid.IntRange(0, len(signature)-1).Draw(t, "at")
		signature[at] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		agree(t, digest, signature)
	})
}

// TestSignaturesThatNoChainAccepts compares the edges of the ranges with go-ethereum.
func TestSignaturesThatNoChainAccepts(t *testing.T) {
	t.Parallel()
	n := crypto.S256().Params().N
	half := new(big.Int).Rsh(n, 1)
	one := big.NewInt(1)
	edges := []*big.Int{new(big.Int), one, half, new(big.Int).Add(half, one), new(big.Int).Sub(n, one), n,
		new(big.Int).Sub(new(big.Int).Lsh(one, 256), one)}
	random := rand.New(rand.NewPCG(1, 2))
	for _, r := range edges {
		for _, s := range edges {
			for recovery := range byte(5) {
				signature := make([]byte, SignatureSize)
				r.FillBytes(signature[:32])
				s.FillBytes(signature[32:64])
				signature[64] = recovery
				var digest [32]byte
				for i := range digest {
					digest[i] = byte(random.Uint32())
				}
				agree(t, digest, signature)
			}
		}
	}
	for _, size := range []int{0, 64, 66} {
		if _, err := Signer([32]byte{}, make([]byte, size)); !errors.Is(err, ErrSignature) {
			t.Errorf("%d bytes: %v, want %v", size, err, ErrSignature)
		}
	}
}

// agree checks that a signature has the same signer here and in go-ethereum, or in neither.
func agree(t interface {
	Helper()
	Errorf(format string, args ...any)
}, digest [32]byte, signature []byte,
) {
	t.Helper()
	r, s := new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:64])
	got, err := Signer(digest, signature)
	key, theirs := crypto.SigToPub(digest[:], signature)
	if !crypto.ValidateSignatureValues(signature[64], r, s, true) || theirs != nil {
		if !errors.Is(err, ErrSignature) {
			t.Errorf("signature %x: the signer is %x: %v, want %v", signature, got, err, ErrSignature)
		}
		return
	}
	if want := crypto.PubkeyToAddress(*key); err != nil || common.Address(got) != want {
		t.Errorf("signature %x: the signer is %x: %v, want %s", signature, got, err, want)
	}
}

func TestBytesThatAreNoKeyHaveNoAddress(t *testing.T) {
	t.Parallel()
	for _, key := range [][]byte{nil, make([]byte, 33), bytes.Repeat([]byte{2}, 32),
		append([]byte{4}, make([]byte, 64)...),
		append([]byte{2}, bytes.Repeat([]byte{0xff}, 32)...), append([]byte{5}, make([]byte, 32)...)} {
		if got, err := Address(key); err == nil {
			t.Errorf("%x has the address %x, want an error", key, got)
		}
	}
}

func TestAMemoIsRefusedWhereThereAreNone(t *testing.T) {
	t.Parallel()
	private, err := crypto.HexToECDSA("289c2857d4598e37fb9647507e47a309d6133539bf21a8b9cb6df88fd5232032")
	if err != nil {
		t.Fatal(err)
	}
	key := crypto.CompressPubkey(&private.PublicKey)
	want, err := Address(key)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := AddressWithoutMemo(key, 0, "somechain"); err != nil || got != want {
		t.Errorf("without a memo: %x, %v, want %x", got, err, want)
	}
	if _, err := AddressWithoutMemo(key, 7, "somechain"); err == nil ||
		!strings.Contains(err.Error(), "somechain has no memos") {
		t.Errorf("with a memo: %v, want that somechain has none", err)
	}
}
