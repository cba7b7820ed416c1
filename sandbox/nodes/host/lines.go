package host

import (
	"bytes"
	"encoding/json"
)

// Lines is the format of one line of JSON for each record. A line without its end is torn.
type Lines[R any] struct{}

// Encode appends the record's line.
func (Lines[R]) Encode(b []byte, record R) ([]byte, error) {
	line, err := json.Marshal(record)
	return append(append(b, line...), '\n'), err
}

// Next decodes the first line.
func (Lines[R]) Next(raw []byte) (record R, size int, err error) {
	line, _, whole := bytes.Cut(raw, []byte{'\n'})
	if !whole {
		return record, 0, ErrTorn
	}
	err = json.Unmarshal(line, &record)
	return record, len(line) + 1, err
}
