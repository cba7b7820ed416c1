package bitcoin

import (
	"bytes"
	"encoding/hex"
	"slices"

	"github.com/btcsuite/btcd/btcec/v2/schnorr"
)

// burns are the hashes of addresses whose keys nobody has, and at which much value was lost by mistake: they were
// written as words, or made of the empty public key, which wallets with bugs paid to. As scripts they are the same on
// every network of the family.
var burns = []string{
	"759d6677091e973b9e9d99f19c68fbf43e3f05f9", // 1BitcoinEaterAddressDontSendf59kuE
	"818895f3dc2c178629d3d2d8fa3ec4a3f8179821", // 1CounterpartyXXXXXXXXXXXXXXXUWLpVr
	"b472a266d0bd89c13706a4132ccfb16f7c3b9fcb", // HASH160 of no bytes: 1HT7xU2Ngenf7D4yocz2SAcnNLW7rK8d4E
}

// refusal returns why value sent to a script is lost, or "" if it is not: no preimage of a hash of equal bytes is
// known, and an output of version 1 whose program is no point's x coordinate can never be spent (BIP 341, Script
// validation rules).
func refusal(script []byte) string {
	program := programOf(script)
	if len(program) > 0 && bytes.Count(program, program[:1]) == len(program) ||
		slices.Contains(burns, hex.EncodeToString(program)) {
		return "the address burns what it receives"
	}
	if formOf(script) == formTaproot {
		if _, err := schnorr.ParsePubKey(program); err != nil {
			return "nobody can have a key of the address"
		}
	}
	return ""
}

// programOf returns the hash or key that a payable script names.
func programOf(script []byte) []byte {
	switch formOf(script) {
	case formKeyHash, formWitnessScript, formTaproot:
		return script[2:]
	case formPubKeyHash:
		return script[3:23]
	case formScriptHash:
		return script[2:22]
	}
	return nil
}
