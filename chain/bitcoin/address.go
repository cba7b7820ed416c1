package bitcoin

import (
	"errors"
	"fmt"
	"strings"

	"github.com/btcsuite/btcd/address/v2/base58"
	"github.com/btcsuite/btcd/address/v2/bech32"
	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/decred/dcrd/dcrec/secp256k1/v4"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

const maxAddress = 90 // characters, BIP 173

// Address returns the P2WPKH address (BIP 141, BIP 173) of the compressed form of a public key. There are no memos.
func (c *Chain) Address(pub chain.PublicKey, memo uint32) (bursar.Address, error) {
	if memo != 0 {
		return bursar.Address{}, errors.New("make address: this chain has no memos: memo must be 0")
	}
	key, err := compressed(pub)
	if err != nil {
		return bursar.Address{}, fmt.Errorf("make address: %w", err)
	}
	base, err := c.network.base(keyHashScript(hash160(key)))
	return bursar.Address{Base: base}, err
}

// compressed returns the short form of a public key, which may be in the long one.
func compressed(pub chain.PublicKey) ([]byte, error) {
	long := len(pub) == secp256k1.PubKeyBytesLenUncompressed && pub[0] == secp256k1.PubKeyFormatUncompressed
	if len(pub) != btcec.PubKeyBytesLenCompressed && !long {
		return nil, fmt.Errorf("a public key has %d bytes, or %d with both coordinates; got %d",
			btcec.PubKeyBytesLenCompressed, secp256k1.PubKeyBytesLenUncompressed, len(pub))
	}
	key, err := btcec.ParsePubKey(pub)
	if err != nil {
		return nil, err
	}
	return key.SerializeCompressed(), nil
}

// ParseAddress accepts what every wallet can pay today: P2PKH and P2SH in Base58Check, P2WPKH and P2WSH in bech32 (BIP
// 173), P2TR in bech32m (BIP 350). It refuses other witness versions and lengths, whose outputs anyone could take, and
// addresses of other networks. The canonical form of a segwit address is lower case.
func (c *Chain) ParseAddress(s string) (bursar.Address, error) {
	script, err := c.network.script(s)
	if err != nil {
		return bursar.Address{}, err
	}
	base, err := c.network.base(script)
	return bursar.Address{Base: base}, err
}

// ParseContract always fails: this chain has no tokens.
func (c *Chain) ParseContract(s string) (string, error) {
	return "", fmt.Errorf("%w: this chain has no contracts (%.20q)", bursar.ErrBadAddress, s)
}

// script returns the output script that pays an address.
func (n Network) script(s string) ([]byte, error) {
	if len(s) > maxAddress {
		return nil, fmt.Errorf("%w: the address is too long", bursar.ErrBadAddress)
	}
	if at := strings.LastIndexByte(s, '1'); at > 0 && strings.ToLower(s[:at]) == n.HRP {
		return witnessScript(s)
	}
	return n.legacyScript(s)
}

func witnessScript(s string) ([]byte, error) {
	_, data, version, err := bech32.DecodeGeneric(s)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", bursar.ErrBadAddress, err)
	}
	if len(data) == 0 {
		return nil, fmt.Errorf("%w: the address has no witness version", bursar.ErrBadAddress)
	}
	program, err := bech32.ConvertBits(data[1:], 5, 8, false)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", bursar.ErrBadAddress, err)
	}
	switch witness, length := data[0], len(program); {
	case witness == 0 && version == bech32.Version0 && length == sizeKeyHash:
		return keyHashScript([sizeKeyHash]byte(program)), nil
	case witness == 0 && version == bech32.Version0 && length == sizeProgram:
		return programScript(opZero, program), nil
	case witness == 1 && version == bech32.VersionM && length == sizeProgram:
		return programScript(opOne, program), nil
	}
	return nil, fmt.Errorf("%w: witness version %d with a program of %d bytes is not a known output type",
		bursar.ErrBadAddress,
		data[0], len(program))
}

func (n Network) legacyScript(s string) ([]byte, error) {
	payload, version, err := base58.CheckDecode(s)
	if err != nil || len(payload) != sizeKeyHash || base58.CheckEncode(payload, version) != s {
		return nil, fmt.Errorf("%w: the address is neither bech32 nor Base58Check of this network",
			bursar.ErrBadAddress)
	}
	hash := [sizeKeyHash]byte(payload)
	if version == n.PubKeyHash {
		return pubKeyHashScript(hash), nil
	}
	for _, known := range n.ScriptHash {
		if version == known {
			return scriptHashScript(hash), nil
		}
	}
	return nil, fmt.Errorf("%w: the address belongs to another network", bursar.ErrBadAddress)
}

// AddressOf returns the canonical address that pays a script, an error if there is none.
func (n Network) AddressOf(script []byte) (string, error) { return n.base(script) }

// base returns the canonical address of a script in one of the five payable forms.
func (n Network) base(script []byte) (string, error) {
	switch formOf(script) {
	case formKeyHash:
		return newBaseEncoder(n.HRP).encode([sizeKeyHash]byte(script[2:])), nil
	case formWitnessScript:
		return n.segwit(0, script[2:])
	case formTaproot:
		return n.segwit(1, script[2:])
	case formPubKeyHash:
		return base58.CheckEncode(script[3:23], n.PubKeyHash), nil
	case formScriptHash:
		return base58.CheckEncode(script[2:22], n.ScriptHash[0]), nil
	}
	return "", fmt.Errorf("script %.100x has no address", script)
}

func (n Network) segwit(version byte, program []byte) (string, error) {
	data, err := bech32.ConvertBits(program, 8, 5, true)
	if err != nil {
		return "", fmt.Errorf("encode address: %w", err)
	}
	data = append([]byte{version}, data...)
	if version == 0 {
		return bech32.Encode(n.HRP, data)
	}
	return bech32.EncodeM(n.HRP, data)
}
