package bitcoin

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/btcsuite/btcd/txscript/v2"
)

// descriptor is the output descriptor that bitcoind infers for a script without knowing keys (InferDescriptor).
func (n *Node) descriptor(script []byte) string {
	return withChecksum(n.bareDescriptor(script))
}

func (n *Node) bareDescriptor(script []byte) string {
	switch txscript.GetScriptClass(script) {
	case txscript.PubKeyTy:
		return fmt.Sprintf("pk(%x)", script[1:len(script)-1])
	case txscript.MultiSigTy:
		return multisigDescriptor(script)
	case txscript.WitnessV1TaprootTy:
		if _, err := schnorr.ParsePubKey(script[2:]); err == nil {
			return fmt.Sprintf("rawtr(%x)", script[2:])
		}
	}
	if address := scriptAddress(script, n.params); address != "" {
		return "addr(" + address + ")"
	}
	return "raw(" + hex.EncodeToString(script) + ")"
}

func multisigDescriptor(script []byte) string {
	keys, err := txscript.PushedData(script)
	_, need, countErr := txscript.CalcMultiSigStats(script)
	if err != nil || countErr != nil {
		return "raw(" + hex.EncodeToString(script) + ")"
	}
	parts := []string{fmt.Sprint(need)}
	for _, key := range keys {
		parts = append(parts, hex.EncodeToString(key))
	}
	return "multi(" + strings.Join(parts, ",") + ")"
}

// withChecksum appends a descriptor's checksum (BIP 380).
func withChecksum(desc string) string { return desc + "#" + descriptorChecksum(desc) }

func descriptorChecksum(desc string) string {
	const (
		inputs    = "0123456789()[],'/*abcdefgh@:$%{}IJKLMNOPQRSTUVWXYZ&+-.;<=>?!^_|~ijklmnopqrstuvwxyzABCDEFGH`#\"\\ "
		checksums = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
	)
	sum, class, count := uint64(1), 0, 0
	for _, c := range desc {
		at := strings.IndexRune(inputs, c)
		if at < 0 {
			return ""
		}
		sum = descriptorStep(sum, uint64(at&31))
		class = class*3 + at>>5
		if count++; count == 3 {
			sum, class, count = descriptorStep(sum, uint64(class)), 0, 0
		}
	}
	if count > 0 {
		sum = descriptorStep(sum, uint64(class))
	}
	for range 8 {
		sum = descriptorStep(sum, 0)
	}
	sum ^= 1
	var text strings.Builder
	for i := range 8 {
		text.WriteByte(checksums[(sum>>(5*(7-i)))&31])
	}
	return text.String()
}

// descriptorStep is PolyMod of BIP 380.
func descriptorStep(sum, value uint64) uint64 {
	generators := [5]uint64{0xf5dee51989, 0xa9fdca3312, 0x1bab10e32d, 0x3706b1677a, 0x644d626ffd}
	top := sum >> 35
	sum = (sum&0x7ffffffff)<<5 ^ value
	for i, g := range generators {
		if top>>i&1 == 1 {
			sum ^= g
		}
	}
	return sum
}

// descriptorScript is the script of a scan object: addr(…) or raw(…), with or without checksum.
func (n *Node) descriptorScript(desc string) ([]byte, error) {
	body, sum, found := strings.Cut(desc, "#")
	if want := descriptorChecksum(body); found && sum != want {
		return nil, fail(codeAddressOrKey, "Provided checksum '%s' does not match computed checksum '%s'", sum, want)
	}
	name, argument, ok := strings.Cut(body, "(")
	argument, closed := strings.CutSuffix(argument, ")")
	if !ok || !closed {
		return nil, fail(codeAddressOrKey, "'%s' is not a valid descriptor function", body)
	}
	switch name {
	case "addr":
		script, err := addressScript(argument, n.params)
		if err != nil {
			return nil, fail(codeAddressOrKey, "Address is not valid")
		}
		return script, nil
	case "raw":
		script, err := decodeHex(argument)
		if err != nil {
			return nil, fail(codeAddressOrKey, "Raw script is not hex")
		}
		return script, nil
	}
	return nil, fail(codeAddressOrKey, "'%s' is not a valid descriptor function", body)
}
