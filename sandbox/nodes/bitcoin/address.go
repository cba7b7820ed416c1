package bitcoin

import (
	"errors"
	"fmt"
	"strings"

	"github.com/btcsuite/btcd/address/v2/base58"
	"github.com/btcsuite/btcd/address/v2/bech32"
	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/txscript/v2"
)

// errAddress is returned for a text that is not an address of this chain.
//
//nolint:staticcheck // bitcoind's text
var errAddress = errors.New("Invalid or unsupported Segwit (Bech32) or Base58 encoding.")

// addressScript is the output script of an address of the chain: P2PKH, P2SH or any witness version. It uses no
// global registry, so every chain's prefixes work.
func addressScript(text string, params *chaincfg.Params) ([]byte, error) {
	if strings.HasPrefix(strings.ToLower(text), params.Bech32HRPSegwit+"1") {
		return witnessScript(text)
	}
	hash, version, err := base58.CheckDecode(text)
	if err != nil || len(hash) != 20 {
		return nil, errAddress
	}
	b := txscript.NewScriptBuilder()
	switch version {
	case params.PubKeyHashAddrID:
		b.AddOp(txscript.OP_DUP).AddOp(txscript.OP_HASH160).AddData(hash).
			AddOp(txscript.OP_EQUALVERIFY).AddOp(txscript.OP_CHECKSIG)
	case params.ScriptHashAddrID:
		b.AddOp(txscript.OP_HASH160).AddData(hash).AddOp(txscript.OP_EQUAL)
	default:
		return nil, errAddress
	}
	return b.Script()
}

// witnessScript decodes a segwit address (BIP 173, BIP 350) whose prefix is right.
func witnessScript(text string) ([]byte, error) {
	_, words, encoding, err := bech32.DecodeGeneric(text)
	if err != nil || len(words) == 0 || words[0] > 16 {
		return nil, errAddress
	}
	version := words[0]
	program, err := bech32.ConvertBits(words[1:], 5, 8, false)
	if err != nil || len(program) < 2 || len(program) > 40 {
		return nil, errAddress
	}
	if version == 0 && (encoding != bech32.Version0 || (len(program) != 20 && len(program) != 32)) {
		return nil, errAddress
	}
	if version > 0 && encoding != bech32.VersionM {
		return nil, errAddress
	}
	op := byte(txscript.OP_0)
	if version > 0 {
		op = txscript.OP_1 - 1 + version
	}
	return append([]byte{op, byte(len(program))}, program...), nil
}

// scriptAddress is the address of an output script, or "" if it has none. As in bitcoind, a bare public key has none.
func scriptAddress(script []byte, params *chaincfg.Params) string {
	switch {
	case txscript.IsPayToPubKeyHash(script):
		return base58.CheckEncode(script[3:23], params.PubKeyHashAddrID)
	case txscript.IsPayToScriptHash(script):
		return base58.CheckEncode(script[2:22], params.ScriptHashAddrID)
	}
	if version, program, ok := witnessProgram(script); ok {
		return witnessAddress(params.Bech32HRPSegwit, version, program)
	}
	return ""
}

// witnessProgram splits a script that can be spent with a witness. Version 0 has two lengths only (BIP 141).
func witnessProgram(script []byte) (int, []byte, bool) {
	version, program, err := txscript.ExtractWitnessProgramInfo(script)
	if err != nil || (version == 0 && len(program) != 20 && len(program) != 32) {
		return 0, nil, false
	}
	return version, program, true
}

func witnessAddress(prefix string, version int, program []byte) string {
	words, err := bech32.ConvertBits(program, 8, 5, true)
	if err != nil {
		return ""
	}
	words = append([]byte{byte(version)}, words...)
	encode := bech32.EncodeM
	if version == 0 {
		encode = bech32.Encode
	}
	text, err := encode(prefix, words)
	if err != nil {
		return ""
	}
	return text
}

// checkAddress wraps addressScript for the Go methods.
func (n *Node) checkAddress(text string) ([]byte, error) {
	script, err := addressScript(text, n.params)
	if err != nil {
		return nil, fmt.Errorf("address %q: %w", text, err)
	}
	return script, nil
}
