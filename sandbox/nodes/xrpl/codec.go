package xrpl

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// field is one field of a transaction, as rippled's SField.cpp numbers them.
type field struct {
	name string
	kind byte
	code byte
}

// Kinds of fields.
const (
	kindUInt16  = 1
	kindUInt32  = 2
	kindHash128 = 4
	kindHash256 = 5
	kindAmount  = 6
	kindBlob    = 7
	kindAccount = 8
	kindArray   = 15
)

// fields lists the fields that a transaction may have here, in the order of the encoding.
func fields() []field {
	return []field{
		{"TransactionType", kindUInt16, 2},
		{"NetworkID", kindUInt32, 1}, {"Flags", kindUInt32, 2}, {"SourceTag", kindUInt32, 3}, {"Sequence", kindUInt32, 4},
		{"TransferRate", kindUInt32, 11}, {"DestinationTag", kindUInt32, 14}, {"LastLedgerSequence", kindUInt32, 27},
		{"SetFlag", kindUInt32, 33}, {"ClearFlag", kindUInt32, 34}, {"SignerQuorum", kindUInt32, 35},
		{"TicketSequence", kindUInt32, 41},
		{"EmailHash", kindHash128, 1},
		{"AccountTxnID", kindHash256, 9}, {"InvoiceID", kindHash256, 17},
		{"Amount", kindAmount, 1}, {"Fee", kindAmount, 8}, {"SendMax", kindAmount, 9}, {"DeliverMin", kindAmount, 10},
		{"SigningPubKey", kindBlob, 3}, {"TxnSignature", kindBlob, 4}, {"Domain", kindBlob, 7},
		{"Account", kindAccount, 1}, {"Destination", kindAccount, 3},
		{"Signers", kindArray, 3}, {"SignerEntries", kindArray, 4},
	}
}

// types are the transaction types that can be submitted here.
func types() map[uint16]string {
	return map[uint16]string{0: "Payment", 3: "AccountSet", 12: "SignerListSet"}
}

var errCodec = errors.New("not a transaction type that is simulated here")

// values are a transaction's fields as the API shows them.
type values map[string]any

func (v values) text(name string) string { s, _ := v[name].(string); return s }

func (v values) number(name string) (n uint32, has bool) { n, has = v[name].(uint32); return n, has }

// drops reads an amount of XRP; an issued currency is not an amount of XRP.
func (v values) drops(name string) (uint64, bool) {
	n, err := strconv.ParseUint(v.text(name), 10, 63)
	return n, err == nil
}

// decode reads a serialized transaction. Fields must be known, in order, and unique.
func decode(blob []byte) (values, error) {
	v, known, at := values{}, fields(), 0
	for left := blob; len(left) > 0; {
		kind, code, rest, err := header(left)
		if err != nil {
			return nil, err
		}
		for at < len(known) && (known[at].kind != kind || known[at].code != code) {
			at++
		}
		if at == len(known) {
			return nil, fmt.Errorf("%w: field %d of type %d", errCodec, code, kind)
		}
		value, rest, err := known[at].read(rest)
		if err != nil {
			return nil, fmt.Errorf("%w: field %s", err, known[at].name)
		}
		v[known[at].name] = value
		left = rest
		at++
	}
	for _, name := range []string{"TransactionType", "Sequence", "Fee", "SigningPubKey", "Account"} {
		if v[name] == nil {
			return nil, fmt.Errorf("%w: no %s", errCodec, name)
		}
	}
	return v, nil
}

func header(b []byte) (kind, code byte, rest []byte, err error) {
	kind, code, rest = b[0]>>4, b[0]&15, b[1:]
	if kind == 0 {
		if len(rest) == 0 || rest[0] < 16 {
			return 0, 0, nil, errCodec
		}
		kind, rest = rest[0], rest[1:]
	}
	if code == 0 {
		if len(rest) == 0 || rest[0] < 16 {
			return 0, 0, nil, errCodec
		}
		code, rest = rest[0], rest[1:]
	}
	return kind, code, rest, nil
}

func (f field) read(b []byte) (value any, rest []byte, err error) {
	if f.kind == kindArray {
		return readList(b)
	}
	size := map[byte]int{kindUInt16: 2, kindUInt32: 4, kindHash128: 16, kindHash256: 32, kindAmount: 8}[f.kind]
	if f.kind == kindBlob || f.kind == kindAccount {
		if len(b) == 0 || b[0] > 192 {
			return nil, nil, errCodec
		}
		size, b = int(b[0]), b[1:]
	}
	if f.kind == kindAmount && len(b) > 0 && b[0]&0x80 != 0 {
		size = 48
	}
	if len(b) < size {
		return nil, nil, errCodec
	}
	raw, rest := b[:size], b[size:]
	switch f.kind {
	case kindUInt16:
		name, known := types()[binary.BigEndian.Uint16(raw)]
		if !known {
			return nil, nil, errCodec
		}
		return name, rest, nil
	case kindUInt32:
		return binary.BigEndian.Uint32(raw), rest, nil
	case kindAmount:
		return amount(raw), rest, nil
	case kindAccount:
		if size != 20 {
			return nil, nil, errCodec
		}
		return accountID(raw).String(), rest, nil
	}
	return strings.ToUpper(hex.EncodeToString(raw)), rest, nil
}

// amount shows drops as a string, a negative one with a sign, and an issued currency as an object without its value's
// digits, because no account holds any here.
func amount(raw []byte) any {
	if len(raw) == 48 {
		return map[string]any{"value": "1", "currency": strings.ToUpper(hex.EncodeToString(raw[8:28])),
			"issuer": accountID(raw[28:]).String()}
	}
	n := binary.BigEndian.Uint64(raw)
	text := strconv.FormatUint(n&^(1<<62), 10)
	if n&(1<<62) == 0 && text != "0" {
		return "-" + text
	}
	return text
}

// encode encodes fields. Only XRP amounts can be encoded.
func encode(v values) []byte {
	var b []byte
	for _, f := range fields() {
		if v[f.name] == nil {
			continue
		}
		if f.code < 16 {
			b = append(b, f.kind<<4|f.code)
		} else {
			b = append(b, f.kind<<4, f.code)
		}
		switch f.kind {
		case kindUInt16:
			for number, name := range types() {
				if name == v[f.name] {
					b = binary.BigEndian.AppendUint16(b, number)
				}
			}
		case kindUInt32:
			b = binary.BigEndian.AppendUint32(b, v[f.name].(uint32))
		case kindAmount:
			drops, _ := v.drops(f.name)
			b = binary.BigEndian.AppendUint64(b, 1<<62|drops)
		case kindArray:
			l, _ := v[f.name].(list)
			b = append(b, l.raw...)
		case kindAccount:
			id, _ := parseAddress(v.text(f.name))
			b = append(append(b, 20), id[:]...)
		default:
			raw, _ := hex.DecodeString(v.text(f.name))
			if f.kind == kindBlob {
				b = append(b, byte(len(raw)))
			}
			b = append(b, raw...)
		}
	}
	return b
}
