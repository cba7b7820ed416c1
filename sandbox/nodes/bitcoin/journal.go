package bitcoin

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/bursar/bursar/sandbox/nodes/host"
)

const (
	journalName   = "journal.v1"
	recordHeader  = 8
	stepHeader    = 5
	maxRecordSize = 512 << 20
)

// stepKind is the kind of a step. Values are on disk: never renumber.
type stepKind byte

const (
	stepOpen       stepKind = 1 // a new chain: genesis hash (32 bytes) and wallet seed (32 bytes)
	stepBlock      stepKind = 2 // a block was accepted, on any branch
	stepTx         stepKind = 3 // a transaction was accepted to the mempool
	stepEvict      stepKind = 4 // a transaction (hash) and its descendants left the mempool
	stepInvalidate stepKind = 5 // a block (hash) was declared invalid
	stepReconsider stepKind = 6 // a block (hash) was reconsidered
)

// step is one change of the node.
type step struct {
	kind stepKind
	data []byte
}

// records is the format of the journal. A record is a length (4 bytes, little endian), the CRC-32C of its body (4
// bytes) and the body: a list of steps, each a kind (1 byte), a length (4 bytes) and its bytes. The steps of a record
// happened together or not at all.
type records struct{}

// Encode appends a record.
func (records) Encode(b []byte, steps []step) ([]byte, error) {
	start := len(b)
	b = append(b, make([]byte, recordHeader)...)
	for _, s := range steps {
		b = append(b, byte(s.kind))
		b = binary.LittleEndian.AppendUint32(b, uint32(len(s.data)))
		b = append(b, s.data...)
	}
	head, body := b[start:start+recordHeader], b[start+recordHeader:]
	if len(body) > maxRecordSize {
		return nil, fmt.Errorf("a record of %d bytes is too large", len(body))
	}
	binary.LittleEndian.PutUint32(head, uint32(len(body)))
	binary.LittleEndian.PutUint32(head[4:], checksum(body))
	return b, nil
}

func checksum(body []byte) uint32 { return crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)) }

// Next decodes the first record. The last one of a file is torn also if all its bytes are there and some are wrong.
func (records) Next(raw []byte) (steps []step, size int, err error) {
	if len(raw) < recordHeader {
		return nil, 0, host.ErrTorn
	}
	length, rest := binary.LittleEndian.Uint32(raw), raw[recordHeader:]
	if uint64(len(rest)) < uint64(length) {
		return nil, 0, host.ErrTorn
	}
	body, sum := rest[:length], binary.LittleEndian.Uint32(raw[4:])
	steps, whole := parseSteps(body)
	switch {
	case whole && sum == checksum(body):
		return steps, recordHeader + len(body), nil
	case len(rest) == len(body):
		return nil, 0, host.ErrTorn
	}
	return nil, 0, errors.New("the checksum does not match")
}

// parseSteps splits a body into steps, or reports that it is not one.
func parseSteps(body []byte) (steps []step, ok bool) {
	for len(body) > 0 {
		if len(body) < stepHeader {
			return nil, false
		}
		size := uint64(binary.LittleEndian.Uint32(body[1:stepHeader]))
		if uint64(len(body)-stepHeader) < size {
			return nil, false
		}
		steps = append(steps, step{kind: stepKind(body[0]), data: body[stepHeader : stepHeader+size]})
		body = body[stepHeader+size:]
	}
	return steps, len(steps) > 0
}
