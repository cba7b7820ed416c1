package bitcoin

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
)

// The journal is a file of records: length (4 bytes, little endian), CRC-32C of the body (4 bytes), body. A body is a
// list of steps, each a kind (1 byte), a length (4 bytes) and its bytes. The steps of a record happened together or
// not at all.
const (
	journalName   = "journal.v1"
	recordHeader  = 8
	stepHeader    = 5
	maxRecordSize = 512 << 20
)

// errDamaged is returned if a record in the middle of a journal does not match its checksum.
var errDamaged = errors.New("journal is damaged")

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

// journal appends records to one file. It does not sync: it outlives the process, not the machine.
type journal struct{ file *os.File }

// openJournal opens or creates the journal in dir, hands every whole record to replay and cuts off a torn last one.
func openJournal(dir string, replay func([]step) error) (*journal, error) {
	file, err := os.OpenFile(filepath.Join(dir, journalName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	end, err := readJournal(file, replay)
	if err == nil {
		err = file.Truncate(end)
	}
	if err == nil {
		_, err = file.Seek(end, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read journal: %w", err), file.Close())
	}
	return &journal{file: file}, nil
}

// readJournal returns where the last whole record ends. A file that stops inside a record was torn by the end of the
// process; a bad checksum before the last record is damage.
func readJournal(file *os.File, replay func([]step) error) (int64, error) {
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	var at int64
	for {
		var head [recordHeader]byte
		if info.Size()-at < recordHeader {
			return at, nil
		}
		if _, err := file.ReadAt(head[:], at); err != nil {
			return 0, err
		}
		size := int64(binary.LittleEndian.Uint32(head[:4]))
		next := at + recordHeader + size
		if next > info.Size() {
			return at, nil
		}
		if size > maxRecordSize {
			return 0, fmt.Errorf("record at %d: %w", at, errDamaged)
		}
		body := make([]byte, size)
		if _, err := file.ReadAt(body, at+recordHeader); err != nil {
			return 0, err
		}
		steps, ok := parseRecord(head, body)
		switch {
		case !ok && next == info.Size():
			return at, nil
		case !ok:
			return 0, fmt.Errorf("record at %d: %w", at, errDamaged)
		}
		if err := replay(steps); err != nil {
			return 0, fmt.Errorf("record at %d: %w", at, err)
		}
		at = next
	}
}

// parseRecord splits a body into steps, or reports that it is not a record.
func parseRecord(head [recordHeader]byte, body []byte) ([]step, bool) {
	if binary.LittleEndian.Uint32(head[4:]) != crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)) {
		return nil, false
	}
	var steps []step
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

// append writes steps as one record with one system call.
func (j *journal) append(steps ...step) error {
	record := make([]byte, recordHeader)
	for _, s := range steps {
		record = append(record, byte(s.kind))
		record = binary.LittleEndian.AppendUint32(record, uint32(len(s.data)))
		record = append(record, s.data...)
	}
	body := record[recordHeader:]
	if len(body) > maxRecordSize {
		return fmt.Errorf("append to journal: record of %d bytes is too large", len(body))
	}
	binary.LittleEndian.PutUint32(record[:4], uint32(len(body)))
	binary.LittleEndian.PutUint32(record[4:8], crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)))
	if _, err := j.file.Write(record); err != nil {
		return fmt.Errorf("append to journal: %w", err)
	}
	return nil
}

func (j *journal) close() error { return j.file.Close() }
