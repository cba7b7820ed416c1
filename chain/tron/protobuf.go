package tron

import (
	"encoding/binary"
	"errors"
)

// The part of protocol buffers that a payment needs: numbers (wire type 0) and bytes (wire type 2).

const (
	varintType = 0
	bytesType  = 2
)

var errEncoding = errors.New("not the encoding of a payment")

// message is an encoded message to which fields are appended in the order of their numbers. Empty fields are omitted
// (proto3).
type message []byte

func (m message) number(field int, value uint64) message {
	if value == 0 {
		return m
	}
	m = binary.AppendUvarint(m, uint64(field)<<3|varintType)
	return binary.AppendUvarint(m, value)
}

func (m message) bytes(field int, value []byte) message {
	if len(value) == 0 {
		return m
	}
	m = binary.AppendUvarint(m, uint64(field)<<3|bytesType)
	m = binary.AppendUvarint(m, uint64(len(value)))
	return append(m, value...)
}

// fields is a message being read: the values by field number. A repeated field is an error, and so is a wire type that
// no payment has.
type fields struct {
	numbers map[int]uint64
	strings map[int][]byte
}

func readFields(data []byte) (fields, error) {
	f := fields{numbers: map[int]uint64{}, strings: map[int][]byte{}}
	for len(data) > 0 {
		tag, n := binary.Uvarint(data)
		if n <= 0 || tag>>3 == 0 || tag>>3 > 1<<29 {
			return f, errEncoding
		}
		data = data[n:]
		field := int(tag >> 3)
		if _, twice := f.numbers[field]; twice || f.strings[field] != nil {
			return f, errEncoding
		}
		value, n := binary.Uvarint(data)
		if n <= 0 {
			return f, errEncoding
		}
		data = data[n:]
		switch tag & 7 {
		case varintType:
			f.numbers[field] = value
		case bytesType:
			if value > uint64(len(data)) {
				return f, errEncoding
			}
			f.strings[field], data = data[:value:value], data[value:]
		default:
			return f, errEncoding
		}
	}
	return f, nil
}

// cut takes the first field of a message, which must be bytes of that number.
func cut(data []byte, field int) (value, rest []byte, err error) {
	tag, n := binary.Uvarint(data)
	if n <= 0 || tag != uint64(field)<<3|bytesType {
		return nil, nil, errEncoding
	}
	data = data[n:]
	size, n := binary.Uvarint(data)
	if n <= 0 || size == 0 || size > uint64(len(data)-n) {
		return nil, nil, errEncoding
	}
	data = data[n:]
	return data[:size:size], data[size:], nil
}
