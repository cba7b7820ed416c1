package bitcoin

const bech32Alphabet = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"

// baseEncoder encodes P2WPKH addresses, and only those, several times faster than a general encoder: a block has tens
// of thousands of key hashes to look up. It is not safe for concurrent use.
type baseEncoder struct {
	prefixed uint32 // the checksum after the human-readable part and witness version 0
	text     []byte // the whole address; the prefix never changes
	data     []byte // the part of text after the version
}

func newBaseEncoder(hrp string) *baseEncoder {
	const words, checksum = sizeKeyHash * 8 / 5, 6
	e := &baseEncoder{prefixed: 1, text: make([]byte, len(hrp)+2+words+checksum)}
	for _, c := range []byte(hrp) {
		e.prefixed = bech32Step(e.prefixed, uint32(c>>5))
	}
	e.prefixed = bech32Step(e.prefixed, 0)
	for _, c := range []byte(hrp) {
		e.prefixed = bech32Step(e.prefixed, uint32(c&31))
	}
	e.prefixed = bech32Step(e.prefixed, 0) // the witness version
	n := copy(e.text, hrp+"1"+bech32Alphabet[:1])
	e.data = e.text[n:]
	return e
}

// encode returns the address of a key hash.
func (e *baseEncoder) encode(hash [sizeKeyHash]byte) string {
	sum, at := e.prefixed, 0
	for i := 0; i < sizeKeyHash; i += 5 {
		group := uint64(hash[i])<<32 | uint64(hash[i+1])<<24 | uint64(hash[i+2])<<16 | uint64(hash[i+
			3])<<8 | uint64(hash[i+4])
		for shift := 35; shift >= 0; shift -= 5 {
			word := uint32(group>>shift) & 31
			sum = bech32Step(sum, word)
			e.data[at] = bech32Alphabet[word]
			at++
		}
	}
	for range 6 {
		sum = bech32Step(sum, 0)
	}
	sum ^= 1 // the constant of BIP 173; version 0 is not bech32m
	for shift := 25; shift >= 0; shift -= 5 {
		e.data[at] = bech32Alphabet[sum>>shift&31]
		at++
	}
	return string(e.text)
}

// bech32Step is one step of the BIP 173 checksum, with its five conditions made branchless.
func bech32Step(sum, value uint32) uint32 {
	top := sum >> 25
	sum = (sum&0x1ffffff)<<5 ^ value
	sum ^= -(top & 1) & 0x3b6a57b2
	sum ^= -(top >> 1 & 1) & 0x26508e6d
	sum ^= -(top >> 2 & 1) & 0x1ea119fa
	sum ^= -(top >> 3 & 1) & 0x3d4233dd
	sum ^= -(top >> 4 & 1) & 0x2a1462b3
	return sum
}
