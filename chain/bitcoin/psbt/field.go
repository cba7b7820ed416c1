package psbt

import (
	"encoding/binary"
	"fmt"
)

// Types of global fields.
const (
	globalTx      = 0x00
	globalXpub    = 0x01
	globalVersion = 0xfb
)

// Types of an input's fields.
const (
	InPrevious      = 0x00 // the whole transaction that made the output which is spent
	InOutput        = 0x01 // that output alone
	InSignature     = 0x02 // key: the public key
	InSigHash       = 0x03
	InRedeemScript  = 0x04
	InWitnessScript = 0x05
	InDerivation    = 0x06 // key: the public key; value: fingerprint of the master key, and the path
	InFinalScript   = 0x07
	InFinalWitness  = 0x08
)

// Types of an output's fields.
const (
	OutRedeemScript  = 0x00
	OutWitnessScript = 0x01
	OutDerivation    = 0x02
)

// checkGlobal checks the form of the global fields' keys.
func checkGlobal(m Map) error {
	for _, f := range m {
		switch kind := f.Key[0]; {
		case (kind == globalTx || kind == globalVersion) && len(f.Key) != 1,
			kind == globalXpub && len(f.Key) != 1+78:
			return fmt.Errorf("the key %x of a global field has a wrong length", f.Key)
		}
	}
	return nil
}

// checkInput checks the form of an input's keys, and of values whose length is fixed.
func checkInput(m Map) error {
	for _, f := range m {
		kind, single := f.Key[0], true
		switch kind {
		case InSignature, InDerivation:
			single = false
			if !isKey(f.Key[1:]) {
				return fmt.Errorf("%x is no public key", f.Key[1:])
			}
		case InPrevious, InOutput, InSigHash, InRedeemScript, InWitnessScript, InFinalScript, InFinalWitness:
		default:
			continue
		}
		if single && len(f.Key) != 1 {
			return fmt.Errorf("the key %x has a wrong length", f.Key)
		}
		if kind == InSigHash && len(f.Value) != 4 || kind == InDerivation && (len(f.Value) == 0 || len(f.Value)%4 != 0) {
			return fmt.Errorf("the value of %x has %d bytes", f.Key, len(f.Value))
		}
	}
	return nil
}

func checkOutput(m Map) error {
	for _, f := range m {
		switch f.Key[0] {
		case OutRedeemScript, OutWitnessScript:
			if len(f.Key) != 1 {
				return fmt.Errorf("the key %x has a wrong length", f.Key)
			}
		case OutDerivation:
			if !isKey(f.Key[1:]) || len(f.Value) == 0 || len(f.Value)%4 != 0 {
				return fmt.Errorf("%x is no public key, or its path has %d bytes", f.Key[1:], len(f.Value))
			}
		}
	}
	return nil
}

// isKey reports whether bytes have the form of a public key.
func isKey(b []byte) bool {
	return len(b) == 33 && (b[0] == 2 || b[0] == 3) || len(b) == 65 && b[0] == 4
}

// Derivation writes the value of a derivation: the fingerprint of the master key, and the path below it.
func Derivation(fingerprint [4]byte, path []uint32) []byte {
	value := fingerprint[:]
	for _, step := range path {
		value = binary.LittleEndian.AppendUint32(value, step)
	}
	return value
}

// Path reads the path of a derivation's value, whose length Parse has checked.
func Path(value []byte) []uint32 {
	var path []uint32
	for rest := value[4:]; len(rest) >= 4; rest = rest[4:] {
		path = append(path, binary.LittleEndian.Uint32(rest))
	}
	return path
}
