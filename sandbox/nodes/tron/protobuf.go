package tron

import (
	"encoding/binary"
	"errors"
)

var errMessage = errors.New("protocol message contained an invalid tag or was cut short")

// message is an encoded message to which fields are appended in the order of their numbers; empty fields are left
// out.
type message []byte

func (m message) number(field int, value int64) message {
	if value == 0 {
		return m
	}
	m = binary.AppendUvarint(m, uint64(field)<<3)
	return binary.AppendUvarint(m, uint64(value))
}

func (m message) bytes(field int, value []byte) message {
	if len(value) == 0 {
		return m
	}
	m = binary.AppendUvarint(m, uint64(field)<<3|2)
	m = binary.AppendUvarint(m, uint64(len(value)))
	return append(m, value...)
}

// value is one decoded field.
type value struct {
	number int64
	bytes  []byte
}

// read lists the fields of a message by number, in order.
func read(data []byte) (map[int][]value, error) {
	all := map[int][]value{}
	for len(data) > 0 {
		tag, n := binary.Uvarint(data)
		if n <= 0 || tag>>3 == 0 || tag>>3 > 1<<29 {
			return nil, errMessage
		}
		data = data[n:]
		var v value
		switch tag & 7 {
		case 0:
			number, n := binary.Uvarint(data)
			if n <= 0 {
				return nil, errMessage
			}
			v.number, data = int64(number), data[n:]
		case 2:
			size, n := binary.Uvarint(data)
			if n <= 0 || size > uint64(len(data)-n) {
				return nil, errMessage
			}
			v.bytes, data = data[n:n+int(size)], data[n+int(size):]
		default:
			return nil, errMessage
		}
		all[int(tag>>3)] = append(all[int(tag>>3)], v)
	}
	return all, nil
}

// last is the value of a field that is not repeated: the last occurrence counts.
func last(fields map[int][]value, field int) value {
	all := fields[field]
	if len(all) == 0 {
		return value{}
	}
	return all[len(all)-1]
}
