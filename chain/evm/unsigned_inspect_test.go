package evm

import (
	"encoding/hex"
	"errors"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/ethkey"
)

func TestSignaturesOfOtherKeysAreRefused(t *testing.T) {
	t.Parallel()
	r := rulesOf(t, 1, fakeToken)
	ours, err := crypto.ToECDSA(crypto.Keccak256([]byte("ours")))
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := crypto.ToECDSA(crypto.Keccak256([]byte("theirs")))
	if err != nil {
		t.Fatal(err)
	}
	source := chain.Source{Key: chain.Hot("evm"), Base: address(crypto.PubkeyToAddress(ours.PublicKey)).String()}
	unsigned, err := r.pack(soundPayloads()[0], source)
	if err != nil {
		t.Fatal(err)
	}
	contents, err := r.Inspect(unsigned)
	if err != nil {
		t.Fatal(err)
	}
	right, err1 := crypto.Sign(contents.Inputs[0].Digest, ours)
	others, err2 := crypto.Sign(contents.Inputs[0].Digest, theirs)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	// The other square root signs the same digest, but only the one with the lower S is valid (EIP-2).
	high := append([]byte{}, right...)
	order := crypto.S256().Params().N
	new(big.Int).Sub(order, new(big.Int).SetBytes(right[32:64])).FillBytes(high[32:64])
	high[64] ^= 1
	for name, signatures := range map[string][][]byte{"other key": {others}, "high": {high}, "twice": {right, right}} {
		if tx, err := r.Assemble(chain.UnsignedTx{Bytes: unsigned}, signatures); !errors.Is(err, ethkey.ErrSignature) {
			t.Errorf("%s: %+v, %v, want %v", name, tx, err, ethkey.ErrSignature)
		}
	}
	if _, err := r.Assemble(chain.UnsignedTx{Bytes: unsigned}, [][]byte{right}); err != nil {
		t.Error(err)
	}
}

// TestInspectRefuses changes a sound unsigned transaction in ways that a signer must not sign.
func TestInspectRefuses(t *testing.T) {
	t.Parallel()
	token, _ := parseAddress(fakeToken)
	outsider, _ := parseAddress(fakeOutsider)
	r := rulesOf(t, 1, fakeToken)
	source := chain.Source{Key: chain.Hot("evm"), Base: base(fakeOurs)}
	transfer := transferData(outsider, bursar.Units(5))
	sound := func() payload {
		return payload{ChainID: 1, Tip: big.NewInt(1), MaxFee: big.NewInt(2), Gas: plainGas, To: outsider,
			Value: big.NewInt(5)}
	}
	cases := map[string]func(p *payload){
		"":                                 func(*payload) {},
		"another chain":                    func(p *payload) { p.ChainID = 2 },
		"no receiver":                      func(p *payload) { p.To = address{} },
		"tip above fee":                    func(p *payload) { p.Tip = big.NewInt(3) },
		"access list":                      func(p *payload) { p.Access = []accessEntry{{Address: token}} },
		"call data":                        func(p *payload) { p.Data = []byte{1} },
		"transfer of an unlisted contract": func(p *payload) { p.Data, p.Value = transfer, new(big.Int) },
		"transfer with value":              func(p *payload) { p.To, p.Data = token, transfer },
		"transfer and more": func(p *payload) {
			p.To, p.Value, p.Data = token, new(big.Int), append(transfer[:68:68], 0)
		},
		"transfer to the zero address": func(p *payload) {
			p.To, p.Value, p.Data = token, new(big.Int), transferData(address{}, bursar.Units(1))
		},
		"dirty receiver": func(p *payload) {
			p.To, p.Value, p.Data = token, new(big.Int), append([]byte{}, transfer...)
			p.Data[5] = 1
		},
		"approve": func(p *payload) {
			p.To, p.Value, p.Data = token, new(big.Int), append([]byte{9, 0x5e, 0xa7, 0xb3}, transfer[4:]...)
		},
		"more than 128 bits": func(p *payload) { p.Value = new(big.Int).Lsh(big.NewInt(1), 130) },
		"fee above 128 bits": func(p *payload) { p.MaxFee = new(big.Int).Lsh(big.NewInt(1), 127) },
	}
	for name, change := range cases {
		p := sound()
		change(&p)
		unsigned, err := r.pack(p, source)
		if err != nil {
			t.Fatal(err)
		}
		contents, err := r.Inspect(unsigned)
		if (err == nil) != (name == "") {
			t.Errorf("%s: %+v, %v", name, contents, err)
		}
		if _, err := r.Assemble(chain.UnsignedTx{Bytes: unsigned}, nil); err == nil {
			t.Errorf("%s: assembled without a signature", name)
		}
	}
	for _, unsigned := range [][]byte{nil, {0xc0}, {0x02}, []byte("draft")} {
		if _, err := r.Inspect(unsigned); !errors.Is(err, errUnsigned) {
			t.Errorf("%x: %v, want %v", unsigned, err, errUnsigned)
		}
	}
}

// soundPayloads are a payment of the native asset and one of tokens.
func soundPayloads() []payload {
	token, outsider := address(unhexed(fakeToken)), address(unhexed(fakeOutsider))
	return []payload{
		{ChainID: 1, Tip: big.NewInt(1), MaxFee: big.NewInt(2), Gas: plainGas, To: outsider, Value: big.NewInt(5)},
		{
			ChainID: 1, Nonce: 7, Tip: big.NewInt(1), MaxFee: big.NewInt(2), Gas: 60_000, To: token, Value: new(big.Int),
			Data: transferData(outsider, bursar.Units(5)),
		},
	}
}

func unhexed(text string) []byte {
	raw, err := hex.DecodeString(text[2:])
	if err != nil {
		panic(err)
	}
	return raw
}
