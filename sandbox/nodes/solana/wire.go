package solana

import (
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/address/v2/base58"
)

const (
	// packetSize is PACKET_DATA_SIZE, the largest size in bytes of a transaction that is legacy or of version 0.
	packetSize = 1232
	// maxTransaction is the largest size in bytes of a transaction of version 1 (SIMD-0296).
	maxTransaction = 4096
	// legacy is transaction.version of a transaction without a version.
	legacy = -1
)

type key [32]byte

type signature [64]byte

func (k key) String() string       { return base58.Encode(k[:]) }
func (s signature) String() string { return base58.Encode(s[:]) }

// MarshalText encodes as base 58.
func (k key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText decodes base 58.
func (k *key) UnmarshalText(text []byte) error { return parse58(string(text), k[:]) }

// MarshalText encodes as base 58.
func (s signature) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText decodes base 58.
func (s *signature) UnmarshalText(text []byte) error { return parse58(string(text), s[:]) }

var errBase58 = errors.New("not base 58 of the right length")

func parseKey(s string) (k key, err error) { return k, parse58(s, k[:]) }

func parseSignature(s string) (sig signature, err error) { return sig, parse58(s, sig[:]) }

func parse58(s string, out []byte) error {
	if len(s) > 2*len(out) {
		return errBase58
	}
	raw := base58.Decode(s)
	if len(raw) != len(out) {
		return errBase58
	}
	copy(out, raw)
	return nil
}

// mustKey parses a constant of this package.
func mustKey(s string) key {
	k, err := parseKey(s)
	if err != nil {
		panic("solana: " + s + " is not a key")
	}
	return k
}

// transaction is a transaction as sent: legacy or of version 0 or 1.
type transaction struct {
	raw          []byte
	message      []byte // the part that is signed
	signatures   []signature
	version      int // or legacy
	signers      int // accounts that sign, the payer first
	readSigned   int // number of those, at the end, that are read only
	readUnsigned int // number of the others that are read only
	keys         []key
	blockhash    key
	instructions []instruction
	lookups      []lookup
	config       config // of version 1
}

type instruction struct {
	program  byte
	accounts []byte
	data     []byte
}

// lookup takes addresses from a table.
type lookup struct {
	table    key
	writable []byte
	readonly []byte
}

func (t *transaction) id() signature { return t.signatures[0] }

var errTruncated = errors.New("io error: failed to fill whole buffer")

// parseTransaction parses a transaction and sanitizes it as a validator does before anything else.
func parseTransaction(raw []byte) (*transaction, error) {
	if len(raw) > 0 && raw[0] == v1Prefix {
		return parseV1(raw)
	}
	if len(raw) > packetSize {
		return nil, tooLarge(len(raw), packetSize)
	}
	r := &reader{rest: raw}
	t := &transaction{raw: raw}
	for range r.count() {
		t.signatures = append(t.signatures, signature(r.take(64)))
	}
	t.message = r.rest
	if err := t.readMessage(r); err != nil {
		return nil, fmt.Errorf("failed to deserialize solana_transaction::versioned::VersionedTransaction: %w", err)
	}
	if len(t.signatures) != t.signers {
		return nil, errSanitize
	}
	return t, nil
}

func tooLarge(size, most int) error {
	return fmt.Errorf("decoded solana_transaction::versioned::VersionedTransaction too large: %d bytes (max: %d bytes)",
		size, most)
}

// parseMessage parses a message without signatures.
func parseMessage(raw []byte) (*transaction, error) {
	t := &transaction{message: raw}
	read := t.readMessage
	if len(raw) > 0 && raw[0] == v1Prefix {
		read = t.readV1
	}
	if err := read(&reader{rest: raw}); err != nil {
		return nil, fmt.Errorf("failed to deserialize solana_message::versions::VersionedMessage: %w", err)
	}
	return t, nil
}

// errSanitize is SanitizeError with a node's message.
var errSanitize = errors.New("invalid transaction: Transaction failed to sanitize accounts offsets correctly")

func (t *transaction) readMessage(r *reader) error {
	first := r.byte()
	t.version = legacy
	if first >= 0x80 {
		if first != 0x80 {
			return fmt.Errorf("invalid value: integer `%d`, expected a valid transaction message version", first&0x7f)
		}
		t.version = 0
		first = r.byte()
	}
	t.signers, t.readSigned, t.readUnsigned = int(first), int(r.byte()), int(r.byte())
	for range r.count() {
		t.keys = append(t.keys, key(r.take(32)))
	}
	t.blockhash = key(r.take(32))
	for range r.count() {
		i := instruction{program: r.byte()}
		i.accounts = r.take(r.count())
		i.data = r.take(r.count())
		t.instructions = append(t.instructions, i)
	}
	if t.version == 0 {
		for range r.count() {
			l := lookup{table: key(r.take(32))}
			l.writable = r.take(r.count())
			l.readonly = r.take(r.count())
			t.lookups = append(t.lookups, l)
		}
	}
	if r.short {
		return errTruncated
	}
	if len(r.rest) > 0 {
		return errors.New("io error: bytes after the transaction")
	}
	return t.sanitize()
}

func (t *transaction) sanitize() error {
	total := len(t.keys)
	for _, l := range t.lookups {
		if len(l.writable)+len(l.readonly) == 0 {
			return errSanitize
		}
		total += len(l.writable) + len(l.readonly)
	}
	if t.signers < 1 || t.readSigned >= t.signers || t.signers+t.readUnsigned > len(t.keys) || total > 256 {
		return errSanitize
	}
	for _, i := range t.instructions {
		if i.program == 0 || int(i.program) >= len(t.keys) {
			return errSanitize
		}
		for _, a := range i.accounts {
			if int(a) >= total {
				return errSanitize
			}
		}
	}
	return nil
}

// verify checks every signature.
func (t *transaction) verify() bool {
	for i, sig := range t.signatures {
		if !ed25519.Verify(t.keys[i][:], t.message, sig[:]) {
			return false
		}
	}
	return true
}

// reader takes bytes off the front. Once bytes are missing it returns zeros.
type reader struct {
	rest  []byte
	short bool
}

func (r *reader) take(n int) []byte {
	if n > len(r.rest) {
		r.short, r.rest = true, nil
		return make([]byte, n)
	}
	taken := r.rest[:n:n]
	r.rest = r.rest[n:]
	return taken
}

func (r *reader) byte() byte { return r.take(1)[0] }

// count reads a compact-u16. No list can be longer than the packet.
func (r *reader) count() int {
	n := 0
	for shift := 0; shift < 21; shift += 7 {
		b := r.byte()
		n |= int(b&0x7f) << shift
		if b&0x80 == 0 {
			if n > packetSize || n > len(r.rest) {
				r.short = true
				return 0
			}
			return n
		}
	}
	r.short = true
	return 0
}

// appendCount writes a compact-u16.
func appendCount(out []byte, n int) []byte {
	for ; n >= 0x80; n >>= 7 {
		out = append(out, byte(n)|0x80)
	}
	return append(out, byte(n))
}

func le64(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, n) }

func le32(n uint32) []byte { return binary.LittleEndian.AppendUint32(nil, n) }
