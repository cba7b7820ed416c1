package bitcoin

// Opcodes of the known script forms.
const (
	opZero        = 0x00
	opOne         = 0x51
	opPush20      = 0x14
	opPush32      = 0x20
	opDup         = 0x76
	opHash160     = 0xa9
	opEqual       = 0x87
	opEqualVerify = 0x88
	opCheckSig    = 0xac
)

// Sizes in bytes.
const (
	sizeKeyHash = 20
	sizeProgram = 32
	sizeKey     = 33 // a compressed public key
)

// form is a kind of output script that has an address.
type form int

const (
	formNone form = iota
	formKeyHash
	formWitnessScript
	formTaproot
	formPubKeyHash
	formScriptHash
)

// formOf recognizes the five payable forms, each by its only encoding.
func formOf(script []byte) form {
	switch {
	case isKeyHash(script):
		return formKeyHash
	case len(script) == 34 && script[0] == opZero && script[1] == opPush32:
		return formWitnessScript
	case len(script) == 34 && script[0] == opOne && script[1] == opPush32:
		return formTaproot
	case len(script) == 25 && script[0] == opDup && script[1] == opHash160 && script[2] == opPush20 &&
		script[23] == opEqualVerify && script[24] == opCheckSig:
		return formPubKeyHash
	case len(script) == 23 && script[0] == opHash160 && script[1] == opPush20 && script[22] == opEqual:
		return formScriptHash
	}
	return formNone
}

// isKeyHash reports whether a script is P2WPKH, the only form of our own addresses.
func isKeyHash(script []byte) bool {
	return len(script) == 22 && script[0] == opZero && script[1] == opPush20
}

func keyHashScript(hash [sizeKeyHash]byte) []byte {
	return append([]byte{opZero, opPush20}, hash[:]...)
}

func programScript(version byte, program []byte) []byte {
	return append([]byte{version, opPush32}, program...)
}

func pubKeyHashScript(hash [sizeKeyHash]byte) []byte {
	script := append([]byte{opDup, opHash160, opPush20}, hash[:]...)
	return append(script, opEqualVerify, opCheckSig)
}

func scriptHashScript(hash [sizeKeyHash]byte) []byte {
	return append(append([]byte{opHash160, opPush20}, hash[:]...), opEqual)
}

// isWitness reports whether a script of a known form is a witness program.
func isWitness(script []byte) bool {
	return len(script) > 0 && (script[0] == opZero || script[0] == opOne)
}

// dust returns the smallest value that nodes relay in an output: the cost of spending it at the dust rate (Bitcoin
// Core, policy/policy.cpp, GetDustThreshold). At 3,000 satoshi per 1,000 vbytes: P2WPKH 294, P2TR and P2WSH 330, P2SH
// 540, P2PKH 546.
func (n Network) dust(script []byte) uint64 {
	spending := uint64(32 + 4 + 1 + 107 + 4)
	if isWitness(script) {
		spending = 32 + 4 + 1 + 107/4 + 4
	}
	return rate(n.DustRate).fee(outputSize(script) + spending)
}

// outputSize returns the serialized size of an output; the scripts of all forms are shorter than 253 bytes.
func outputSize(script []byte) uint64 { return 8 + 1 + uint64(len(script)) }

// Weights (BIP 141) of the parts of our transactions. A signature with a low S has at most 71 bytes in DER, and one
// more for its hash type: half of all signatures have that many, nearly all others one less, so the bound is close.
const (
	inputWeight    = 4*(32+4+1+4) + 1 + 1 + 72 + 1 + sizeKey
	overheadWeight = 4*(4+4) + 2 // version and lock time, and the witness marker
)

// vbytes returns the maximum virtual size of a transaction with this many P2WPKH inputs and with outputs of this many
// bytes.
func vbytes(inputs, outputs int, outputBytes uint64) uint64 {
	weight := overheadWeight + 4*(countSize(inputs)+countSize(outputs)+outputBytes) + uint64(inputs)*inputWeight
	return (weight + 3) / 4
}

// countSize returns the size of a count in Bitcoin's compact form.
func countSize(n int) uint64 {
	if n < 253 {
		return 1
	}
	return 3
}
