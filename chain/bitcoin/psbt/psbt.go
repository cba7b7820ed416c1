// Package psbt reads and writes partially signed Bitcoin transactions, version 0 (BIP 174).
//
// It owns the format and what every program does with it: combine, finalise, extract. It knows no wallet and decides
// nothing about what may be signed. Its invariants: a packet is read whole or not at all, within bounds; no key occurs
// twice in one map; fields that it does not know are kept; a packet is written with the keys of each map in order, so
// that two packets with the same fields have the same bytes.
package psbt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/btcsuite/btcd/wire/v2"
)

// MaxSize bounds a packet, in bytes. A hundred inputs with previous transactions of average size have a tenth of it.
const MaxSize = 4 << 20

// maxCount bounds the inputs and outputs of a packet each.
const maxCount = 10_000

var magic = []byte("psbt\xff")

// ErrPacket is wrapped by errors of bytes that are no packet.
var ErrPacket = errors.New("not a partially signed transaction (BIP 174)")

// Field is a key with its value. The first byte of a key is its type.
type Field struct{ Key, Value []byte }

// Map is a list of fields, each key once.
type Map []Field

// Packet is an unsigned transaction, and what signers need and add, for each of its inputs and outputs.
type Packet struct {
	Tx      *wire.MsgTx // without signatures
	Global  Map         // without the transaction
	Inputs  []Map
	Outputs []Map
}

// New returns a packet without fields for a transaction without signatures.
func New(tx *wire.MsgTx) *Packet {
	return &Packet{Tx: tx, Inputs: make([]Map, len(tx.TxIn)), Outputs: make([]Map, len(tx.TxOut))}
}

// Get returns the value of a key, nil if there is none.
func (m Map) Get(key ...byte) []byte {
	for _, f := range m {
		if bytes.Equal(f.Key, key) {
			return f.Value
		}
	}
	return nil
}

// Of returns the fields of a type whose keys have more than the type, in their order.
func (m Map) Of(kind byte) (found Map) {
	for _, f := range m {
		if len(f.Key) > 1 && f.Key[0] == kind {
			found = append(found, f)
		}
	}
	return found
}

// Set sets the value of a key.
func (m *Map) Set(key, value []byte) {
	for i, f := range *m {
		if bytes.Equal(f.Key, key) {
			(*m)[i].Value = value
			return
		}
	}
	*m = append(*m, Field{Key: key, Value: value})
}

// Parse reads a packet. Whatever is not one is an ErrPacket, other versions than 0 too.
func Parse(data []byte) (*Packet, error) {
	p, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPacket, err)
	}
	return p, nil
}

func parse(data []byte) (*Packet, error) {
	if len(data) > MaxSize || !bytes.HasPrefix(data, magic) {
		return nil, fmt.Errorf("the PSBT has %d bytes of at most %d, or begins differently", len(data), MaxSize)
	}
	r := bytes.NewReader(data[len(magic):])
	p := &Packet{}
	var err error
	if p.Global, err = readMap(r); err != nil {
		return nil, fmt.Errorf("global fields: %w", err)
	}
	if p.Tx, err = unsignedOf(&p.Global); err != nil {
		return nil, err
	}
	if version := p.Global.Get(globalVersion); version != nil && !bytes.Equal(version, make([]byte, 4)) {
		return nil, fmt.Errorf("the transaction's version is %x, not 0", version)
	}
	if p.Inputs, err = readMaps(r, len(p.Tx.TxIn), checkInput); err != nil {
		return nil, fmt.Errorf("input %w", err)
	}
	if p.Outputs, err = readMaps(r, len(p.Tx.TxOut), checkOutput); err != nil {
		return nil, fmt.Errorf("output %w", err)
	}
	if r.Len() != 0 {
		return nil, fmt.Errorf("%d bytes follow", r.Len())
	}
	return p, nil
}

// unsignedOf takes the transaction out of the global fields.
func unsignedOf(global *Map) (*wire.MsgTx, error) {
	raw := global.Get(globalTx)
	if raw == nil {
		return nil, errors.New("the packet has no unsigned transaction")
	}
	if err := checkGlobal(*global); err != nil {
		return nil, err
	}
	tx := new(wire.MsgTx)
	r := bytes.NewReader(raw)
	if err := tx.DeserializeNoWitness(r); err != nil || r.Len() != 0 {
		return nil, fmt.Errorf("the unsigned transaction has %d bytes too many, or cannot be read: %w", r.Len(), err)
	}
	if len(tx.TxIn) > maxCount || len(tx.TxOut) > maxCount {
		return nil, fmt.Errorf("the transaction has %d inputs and %d outputs, at most %d of each", len(tx.TxIn),
			len(tx.TxOut), maxCount)
	}
	for i, in := range tx.TxIn {
		if len(in.SignatureScript) != 0 {
			return nil, fmt.Errorf("the unsigned transaction's input %d has a script", i)
		}
	}
	*global = slices.DeleteFunc(*global, func(f Field) bool { return bytes.Equal(f.Key, []byte{globalTx}) })
	return tx, nil
}

func readMaps(r *bytes.Reader, n int, check func(Map) error) ([]Map, error) {
	maps := make([]Map, n)
	for i := range maps {
		var err error
		if maps[i], err = readMap(r); err == nil {
			err = check(maps[i])
		}
		if err != nil {
			return nil, fmt.Errorf("%d: %w", i, err)
		}
	}
	return maps, nil
}

// readMap reads fields up to the empty key.
func readMap(r *bytes.Reader) (m Map, err error) {
	seen := map[string]bool{}
	for {
		key, err := readBytes(r)
		if err != nil || len(key) == 0 {
			return m, err
		}
		value, err := readBytes(r)
		if err != nil {
			return nil, err
		}
		if seen[string(key)] {
			return nil, fmt.Errorf("key %x occurs twice", key)
		}
		seen[string(key)] = true
		m = append(m, Field{Key: key, Value: value})
	}
}

func readBytes(r *bytes.Reader) ([]byte, error) {
	n, err := wire.ReadVarInt(r, 0)
	if err != nil {
		return nil, err
	}
	if n > uint64(r.Len()) {
		return nil, io.ErrUnexpectedEOF
	}
	b := make([]byte, n)
	_, err = io.ReadFull(r, b)
	return b, err
}

// Encode writes a packet.
func (p *Packet) Encode() ([]byte, error) {
	var raw bytes.Buffer
	if err := p.Tx.SerializeNoWitness(&raw); err != nil {
		return nil, fmt.Errorf("write a partially signed transaction: %w", err)
	}
	var b bytes.Buffer
	b.Write(magic)
	global := append(Map{{Key: []byte{globalTx}, Value: raw.Bytes()}}, p.Global...)
	for _, m := range slices.Concat([]Map{global}, p.Inputs, p.Outputs) {
		if err := m.write(&b); err != nil {
			return nil, fmt.Errorf("write a partially signed transaction: %w", err)
		}
	}
	return b.Bytes(), nil
}

func (m Map) write(b *bytes.Buffer) error {
	sorted := slices.Clone(m)
	slices.SortFunc(sorted, func(x, y Field) int { return bytes.Compare(x.Key, y.Key) })
	for _, f := range sorted {
		if err := errors.Join(wire.WriteVarBytes(b, 0, f.Key), wire.WriteVarBytes(b, 0, f.Value)); err != nil {
			return err
		}
	}
	return b.WriteByte(0)
}
