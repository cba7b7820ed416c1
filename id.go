package bursar

import (
	"bytes"
	"crypto/rand"
	"database/sql/driver"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// ID is a UUID (RFC 9562). IDs made by this package are of version 7, so they sort by creation time.
type ID [16]byte

// ErrBadID is returned for a text that is not a UUID in its 8-4-4-4-12 form.
var ErrBadID = errors.New("not a UUID")

// IsZero reports whether the ID is unset.
func (id ID) IsZero() bool { return id == ID{} }

// String returns the lower-case 8-4-4-4-12 form.
func (id ID) String() string {
	var b [36]byte
	hex.Encode(b[0:8], id[0:4])
	hex.Encode(b[9:13], id[4:6])
	hex.Encode(b[14:18], id[6:8])
	hex.Encode(b[19:23], id[8:10])
	hex.Encode(b[24:36], id[10:16])
	b[8], b[13], b[18], b[23] = '-', '-', '-', '-'
	return string(b[:])
}

// Compare orders IDs as rows are locked.
func (id ID) Compare(other ID) int { return bytes.Compare(id[:], other[:]) }

// ParseID reads the 8-4-4-4-12 form in upper or lower case and nothing else.
func ParseID(s string) (ID, error) {
	var id ID
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return ID{}, ErrBadID
	}
	text := s[0:8] + s[9:13] + s[14:18] + s[19:23] + s[24:36]
	if _, err := hex.Decode(id[:], []byte(text)); err != nil {
		return ID{}, ErrBadID
	}
	return id, nil
}

// Value stores the 16 bytes; the zero ID is NULL.
func (id ID) Value() (driver.Value, error) {
	if id.IsZero() {
		return nil, nil
	}
	return id[:], nil
}

// Scan reads what Value stored.
func (id *ID) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*id = ID{}
	case []byte:
		if len(v) != len(id) {
			return fmt.Errorf("scan id: %d bytes", len(v))
		}
		copy(id[:], v)
	default:
		return fmt.Errorf("scan id: unexpected %T", src)
	}
	return nil
}

// MarshalText writes the 8-4-4-4-12 form.
func (id ID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (id *ID) UnmarshalText(text []byte) (err error) {
	*id, err = ParseID(string(text))
	return err
}

// IDs makes version 7 UUIDs that increase within one process even inside one millisecond. It is safe for concurrent
// use.
type IDs struct {
	now    func() time.Time
	random io.Reader

	mu   sync.Mutex
	last uint64 // milliseconds<<12 | counter
}

// NewIDs returns a source of IDs that uses a clock and a source of randomness; production uses crypto/rand.Reader.
func NewIDs(now func() time.Time, random io.Reader) *IDs {
	if random == nil {
		random = rand.Reader
	}
	return &IDs{now: now, random: random}
}

// Next returns a new ID. It panics if the source of randomness fails, because no safe ID can be made then.
func (s *IDs) Next() ID {
	var id ID
	if _, err := io.ReadFull(s.random, id[8:]); err != nil {
		panic("bursar: no randomness: " + err.Error())
	}
	stamp := s.tick()
	ms, counter := stamp>>12, stamp&0xfff
	for i := range 6 {
		id[i] = byte(ms >> (40 - 8*i))
	}
	id[6] = 0x70 | byte(counter>>8)
	id[7] = byte(counter)
	id[8] = id[8]&0x3f | 0x80
	return id
}

// Token returns 128 random bits. It panics if the source of randomness fails.
func (s *IDs) Token() (token ID) {
	if _, err := io.ReadFull(s.random, token[:]); err != nil {
		panic("bursar: no randomness: " + err.Error())
	}
	return token
}

func (s *IDs) tick() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = max(s.last+1, uint64(s.now().UnixMilli())<<12)
	return s.last
}
