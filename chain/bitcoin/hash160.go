package bitcoin

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"

	general "golang.org/x/crypto/ripemd160" //nolint:staticcheck // the hash that Bitcoin addresses are made of
)

// hash160 is RIPEMD-160 of SHA-256. Addresses are made by it.
func hash160(data []byte) [sizeKeyHash]byte {
	inner := sha256.Sum256(data)
	outer := general.New()
	outer.Write(inner[:])
	var hash [sizeKeyHash]byte
	outer.Sum(hash[:0])
	return hash
}

// fastHash160 is hash160 for the thousands of keys that each block shows: which of its transactions may concern us is
// decided by it, and what they do by hash160.
func fastHash160(data []byte) [sizeKeyHash]byte {
	inner := sha256.Sum256(data)
	return ripemd160(&inner)
}

// ripemd160 returns the RIPEMD-160 of 32 bytes, in 190 ns where golang.org/x/crypto/ripemd160 takes 310 for any number.
// With the padding they are one block. Dobbertin, Bosselaers and Preneel, "RIPEMD-160: A Strengthened Version of
// RIPEMD", 1996.
func ripemd160(data *[32]byte) (hash [sizeKeyHash]byte) {
	var x [16]uint32
	for i := range 8 {
		x[i] = binary.LittleEndian.Uint32(data[4*i:])
	}
	x[8], x[14] = 0x80, 8*32 // the end of the data, and its length in bits
	first := line{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0}
	left, right := first, first
	left.leftFirst(&x)
	right.rightFirst(&x, 0x50a28be6)
	left.leftSecond(&x, 0x5a827999)
	right.rightSecond(&x, 0x5c4dd124)
	left.leftThird(&x, 0x6ed9eba1)
	right.rightThird(&x, 0x6d703ef3)
	left.leftFourth(&x, 0x8f1bbcdc)
	right.rightFourth(&x, 0x7a6d76e9)
	left.leftFifth(&x, 0xa953fd4e)
	right.rightFifth(&x)
	for i, word := range [5]uint32{first.b + left.c + right.d, first.c + left.d + right.e, first.d + left.e + right.a,
		first.e + left.a + right.b, first.a + left.b + right.c} {
		binary.LittleEndian.PutUint32(hash[4*i:], word)
	}
	return hash
}

// line is one of the function's two lines, which do not depend on each other: called by turns, a processor makes both
// at once. Each of their five rounds has sixteen steps. In place of moving all words after each step, the next step
// uses them under the next names; after sixteen steps they have moved by one.
type line struct{ a, b, c, d, e uint32 }

func (l *line) leftFirst(x *[16]uint32) {
	a, b, c, d, e := l.a, l.b, l.c, l.d, l.e
	a, c = bits.RotateLeft32(a+x[0]+(c^d^b), 11)+e, bits.RotateLeft32(c, 10)
	e, b = bits.RotateLeft32(e+x[1]+(b^c^a), 14)+d, bits.RotateLeft32(b, 10)
	d, a = bits.RotateLeft32(d+x[2]+(a^b^e), 15)+c, bits.RotateLeft32(a, 10)
	c, e = bits.RotateLeft32(c+x[3]+(e^a^d), 12)+b, bits.RotateLeft32(e, 10)
	b, d = bits.RotateLeft32(b+x[4]+(d^e^c), 5)+a, bits.RotateLeft32(d, 10)
	a, c = bits.RotateLeft32(a+x[5]+(c^d^b), 8)+e, bits.RotateLeft32(c, 10)
	e, b = bits.RotateLeft32(e+x[6]+(b^c^a), 7)+d, bits.RotateLeft32(b, 10)
	d, a = bits.RotateLeft32(d+x[7]+(a^b^e), 9)+c, bits.RotateLeft32(a, 10)
	c, e = bits.RotateLeft32(c+x[8]+(e^a^d), 11)+b, bits.RotateLeft32(e, 10)
	b, d = bits.RotateLeft32(b+x[9]+(d^e^c), 13)+a, bits.RotateLeft32(d, 10)
	a, c = bits.RotateLeft32(a+x[10]+(c^d^b), 14)+e, bits.RotateLeft32(c, 10)
	e, b = bits.RotateLeft32(e+x[11]+(b^c^a), 15)+d, bits.RotateLeft32(b, 10)
	d, a = bits.RotateLeft32(d+x[12]+(a^b^e), 6)+c, bits.RotateLeft32(a, 10)
	c, e = bits.RotateLeft32(c+x[13]+(e^a^d), 7)+b, bits.RotateLeft32(e, 10)
	b, d = bits.RotateLeft32(b+x[14]+(d^e^c), 9)+a, bits.RotateLeft32(d, 10)
	a, c = bits.RotateLeft32(a+x[15]+(c^d^b), 8)+e, bits.RotateLeft32(c, 10)
	l.a, l.b, l.c, l.d, l.e = e, a, b, c, d
}

func (l *line) rightFirst(x *[16]uint32, k uint32) {
	a, b, c, d, e := l.a, l.b, l.c, l.d, l.e
	a, c = bits.RotateLeft32(a+x[5]+k+((c|^d)^b), 8)+e, bits.RotateLeft32(c, 10)
	e, b = bits.RotateLeft32(e+x[14]+k+((b|^c)^a), 9)+d, bits.RotateLeft32(b, 10)
	d, a = bits.RotateLeft32(d+x[7]+k+((a|^b)^e), 9)+c, bits.RotateLeft32(a, 10)
	c, e = bits.RotateLeft32(c+x[0]+k+((e|^a)^d), 11)+b, bits.RotateLeft32(e, 10)
	b, d = bits.RotateLeft32(b+x[9]+k+((d|^e)^c), 13)+a, bits.RotateLeft32(d, 10)
	a, c = bits.RotateLeft32(a+x[2]+k+((c|^d)^b), 15)+e, bits.RotateLeft32(c, 10)
	e, b = bits.RotateLeft32(e+x[11]+k+((b|^c)^a), 15)+d, bits.RotateLeft32(b, 10)
	d, a = bits.RotateLeft32(d+x[4]+k+((a|^b)^e), 5)+c, bits.RotateLeft32(a, 10)
	c, e = bits.RotateLeft32(c+x[13]+k+((e|^a)^d), 7)+b, bits.RotateLeft32(e, 10)
	b, d = bits.RotateLeft32(b+x[6]+k+((d|^e)^c), 7)+a, bits.RotateLeft32(d, 10)
	a, c = bits.RotateLeft32(a+x[15]+k+((c|^d)^b), 8)+e, bits.RotateLeft32(c, 10)
	e, b = bits.RotateLeft32(e+x[8]+k+((b|^c)^a), 11)+d, bits.RotateLeft32(b, 10)
	d, a = bits.RotateLeft32(d+x[1]+k+((a|^b)^e), 14)+c, bits.RotateLeft32(a, 10)
	c, e = bits.RotateLeft32(c+x[10]+k+((e|^a)^d), 14)+b, bits.RotateLeft32(e, 10)
	b, d = bits.RotateLeft32(b+x[3]+k+((d|^e)^c), 12)+a, bits.RotateLeft32(d, 10)
	a, c = bits.RotateLeft32(a+x[12]+k+((c|^d)^b), 6)+e, bits.RotateLeft32(c, 10)
	l.a, l.b, l.c, l.d, l.e = e, a, b, c, d
}

func (l *line) leftSecond(x *[16]uint32, k uint32) {
	a, b, c, d, e := l.a, l.b, l.c, l.d, l.e
	a, c = bits.RotateLeft32(a+x[7]+k+((c^d)&b^d), 7)+e, bits.RotateLeft32(c, 10)
	e, b = bits.RotateLeft32(e+x[4]+k+((b^c)&a^c), 6)+d, bits.RotateLeft32(b, 10)
	d, a = bits.RotateLeft32(d+x[13]+k+((a^b)&e^b), 8)+c, bits.RotateLeft32(a, 10)
	c, e = bits.RotateLeft32(c+x[1]+k+((e^a)&d^a), 13)+b, bits.RotateLeft32(e, 10)
	b, d = bits.RotateLeft32(b+x[10]+k+((d^e)&c^e), 11)+a, bits.RotateLeft32(d, 10)
	a, c = bits.RotateLeft32(a+x[6]+k+((c^d)&b^d), 9)+e, bits.RotateLeft32(c, 10)
	e, b = bits.RotateLeft32(e+x[15]+k+((b^c)&a^c), 7)+d, bits.RotateLeft32(b, 10)
	d, a = bits.RotateLeft32(d+x[3]+k+((a^b)&e^b), 15)+c, bits.RotateLeft32(a, 10)
	c, e = bits.RotateLeft32(c+x[12]+k+((e^a)&d^a), 7)+b, bits.RotateLeft32(e, 10)
	b, d = bits.RotateLeft32(b+x[0]+k+((d^e)&c^e), 12)+a, bits.RotateLeft32(d, 10)
	a, c = bits.RotateLeft32(a+x[9]+k+((c^d)&b^d), 15)+e, bits.RotateLeft32(c, 10)
	e, b = bits.RotateLeft32(e+x[5]+k+((b^c)&a^c), 9)+d, bits.RotateLeft32(b, 10)
	d, a = bits.RotateLeft32(d+x[2]+k+((a^b)&e^b), 11)+c, bits.RotateLeft32(a, 10)
	c, e = bits.RotateLeft32(c+x[14]+k+((e^a)&d^a), 7)+b, bits.RotateLeft32(e, 10)
	b, d = bits.RotateLeft32(b+x[11]+k+((d^e)&c^e), 13)+a, bits.RotateLeft32(d, 10)
	a, c = bits.RotateLeft32(a+x[8]+k+((c^d)&b^d), 12)+e, bits.RotateLeft32(c, 10)
	l.a, l.b, l.c, l.d, l.e = e, a, b, c, d
}

func (l *line) rightSecond(x *[16]uint32, k uint32) {
	a, b, c, d, e := l.a, l.b, l.c, l.d, l.e
	a, c = bits.RotateLeft32(a+x[6]+k+(c&^d|b&d), 9)+e, bits.RotateLeft32(c, 10)
	e, b = bits.RotateLeft32(e+x[11]+k+(b&^c|a&c), 13)+d, bits.RotateLeft32(b, 10)
	d, a = bits.RotateLeft32(d+x[3]+k+(a&^b|e&b), 15)+c, bits.RotateLeft32(a, 10)
	c, e = bits.RotateLeft32(c+x[7]+k+(e&^a|d&a), 7)+b, bits.RotateLeft32(e, 10)
	b, d = bits.RotateLeft32(b+x[0]+k+(d&^e|c&e), 12)+a, bits.RotateLeft32(d, 10)
	a, c = bits.RotateLeft32(a+x[13]+k+(c&^d|b&d), 8)+e, bits.RotateLeft32(c, 10)
	e, b = bits.RotateLeft32(e+x[5]+k+(b&^c|a&c), 9)+d, bits.RotateLeft32(b, 10)
	d, a = bits.RotateLeft32(d+x[10]+k+(a&^b|e&b), 11)+c, bits.RotateLeft32(a, 10)
	c, e = bits.RotateLeft32(c+x[14]+k+(e&^a|d&a), 7)+b, bits.RotateLeft32(e, 10)
	b, d = bits.RotateLeft32(b+x[15]+k+(d&^e|c&e), 7)+a, bits.RotateLeft32(d, 10)
	a, c = bits.RotateLeft32(a+x[8]+k+(c&^d|b&d), 12)+e, bits.RotateLeft32(c, 10)
	e, b = bits.RotateLeft32(e+x[12]+k+(b&^c|a&c), 7)+d, bits.RotateLeft32(b, 10)
	d, a = bits.RotateLeft32(d+x[4]+k+(a&^b|e&b), 6)+c, bits.RotateLeft32(a, 10)
	c, e = bits.RotateLeft32(c+x[9]+k+(e&^a|d&a), 15)+b, bits.RotateLeft32(e, 10)
	b, d = bits.RotateLeft32(b+x[1]+k+(d&^e|c&e), 13)+a, bits.RotateLeft32(d, 10)
	a, c = bits.RotateLeft32(a+x[2]+k+(c&^d|b&d), 11)+e, bits.RotateLeft32(c, 10)
	l.a, l.b, l.c, l.d, l.e = e, a, b, c, d
}

func (l *line) leftThird(x *[16]uint32, k uint32) {
	a, b, c, d, e := l.a, l.b, l.c, l.d, l.e
	a, c = bits.RotateLeft32(a+x[3]+k+((b|^c)^d), 11)+e, bits.RotateLeft32(c, 10)
	e, b = bits.RotateLeft32(e+x[10]+k+((a|^b)^c), 13)+d, bits.RotateLeft32(b, 10)
	d, a = bits.RotateLeft32(d+x[14]+k+((e|^a)^b), 6)+c, bits.RotateLeft32(a, 10)
	c, e = bits.RotateLeft32(c+x[4]+k+((d|^e)^a), 7)+b, bits.RotateLeft32(e, 10)
	b, d = bits.RotateLeft32(b+x[9]+k+((c|^d)^e), 14)+a, bits.RotateLeft32(d, 10)
	a, c = bits.RotateLeft32(a+x[15]+k+((b|^c)^d), 9)+e, bits.RotateLeft32(c, 10)
	e, b = bits.RotateLeft32(e+x[8]+k+((a|^b)^c), 13)+d, bits.RotateLeft32(b, 10)
	d, a = bits.RotateLeft32(d+x[1]+k+((e|^a)^b), 15)+c, bits.RotateLeft32(a, 10)
	c, e = bits.RotateLeft32(c+x[2]+k+((d|^e)^a), 14)+b, bits.RotateLeft32(e, 10)
	b, d = bits.RotateLeft32(b+x[7]+k+((c|^d)^e), 8)+a, bits.RotateLeft32(d, 10)
	a, c = bits.RotateLeft32(a+x[0]+k+((b|^c)^d), 13)+e, bits.RotateLeft32(c, 10)
	e, b = bits.RotateLeft32(e+x[6]+k+((a|^b)^c), 6)+d, bits.RotateLeft32(b, 10)
	d, a = bits.RotateLeft32(d+x[13]+k+((e|^a)^b), 5)+c, bits.RotateLeft32(a, 10)
	c, e = bits.RotateLeft32(c+x[11]+k+((d|^e)^a), 12)+b, bits.RotateLeft32(e, 10)
	b, d = bits.RotateLeft32(b+x[5]+k+((c|^d)^e), 7)+a, bits.RotateLeft32(d, 10)
	a, c = bits.RotateLeft32(a+x[12]+k+((b|^c)^d), 5)+e, bits.RotateLeft32(c, 10)
	l.a, l.b, l.c, l.d, l.e = e, a, b, c, d
}

func (l *line) rightThird(x *[16]uint32, k uint32) {
	a, b, c, d, e := l.a, l.b, l.c, l.d, l.e
	a, c = bits.RotateLeft32(a+x[15]+k+((b|^c)^d), 9)+e, bits.RotateLeft32(c, 10)
	e, b = bits.RotateLeft32(e+x[5]+k+((a|^b)^c), 7)+d, bits.RotateLeft32(b, 10)
	d, a = bits.RotateLeft32(d+x[1]+k+((e|^a)^b), 15)+c, bits.RotateLeft32(a, 10)
	c, e = bits.RotateLeft32(c+x[3]+k+((d|^e)^a), 11)+b, bits.RotateLeft32(e, 10)
	b, d = bits.RotateLeft32(b+x[7]+k+((c|^d)^e), 8)+a, bits.RotateLeft32(d, 10)
	a, c = bits.RotateLeft32(a+x[14]+k+((b|^c)^d), 6)+e, bits.RotateLeft32(c, 10)
	e, b = bits.RotateLeft32(e+x[6]+k+((a|^b)^c), 6)+d, bits.RotateLeft32(b, 10)
	d, a = bits.RotateLeft32(d+x[9]+k+((e|^a)^b), 14)+c, bits.RotateLeft32(a, 10)
	c, e = bits.RotateLeft32(c+x[11]+k+((d|^e)^a), 12)+b, bits.RotateLeft32(e, 10)
	b, d = bits.RotateLeft32(b+x[8]+k+((c|^d)^e), 13)+a, bits.RotateLeft32(d, 10)
	a, c = bits.RotateLeft32(a+x[12]+k+((b|^c)^d), 5)+e, bits.RotateLeft32(c, 10)
	e, b = bits.RotateLeft32(e+x[2]+k+((a|^b)^c), 14)+d, bits.RotateLeft32(b, 10)
	d, a = bits.RotateLeft32(d+x[10]+k+((e|^a)^b), 13)+c, bits.RotateLeft32(a, 10)
	c, e = bits.RotateLeft32(c+x[0]+k+((d|^e)^a), 13)+b, bits.RotateLeft32(e, 10)
	b, d = bits.RotateLeft32(b+x[4]+k+((c|^d)^e), 7)+a, bits.RotateLeft32(d, 10)
	a, c = bits.RotateLeft32(a+x[13]+k+((b|^c)^d), 5)+e, bits.RotateLeft32(c, 10)
	l.a, l.b, l.c, l.d, l.e = e, a, b, c, d
}

func (l *line) leftFourth(x *[16]uint32, k uint32) {
	a, b, c, d, e := l.a, l.b, l.c, l.d, l.e
	a, c = bits.RotateLeft32(a+x[1]+k+(c&^d|b&d), 11)+e, bits.RotateLeft32(c, 10)
	e, b = bits.RotateLeft32(e+x[9]+k+(b&^c|a&c), 12)+d, bits.RotateLeft32(b, 10)
	d, a = bits.RotateLeft32(d+x[11]+k+(a&^b|e&b), 14)+c, bits.RotateLeft32(a, 10)
	c, e = bits.RotateLeft32(c+x[10]+k+(e&^a|d&a), 15)+b, bits.RotateLeft32(e, 10)
	b, d = bits.RotateLeft32(b+x[0]+k+(d&^e|c&e), 14)+a, bits.RotateLeft32(d, 10)
	a, c = bits.RotateLeft32(a+x[8]+k+(c&^d|b&d), 15)+e, bits.RotateLeft32(c, 10)
	e, b = bits.RotateLeft32(e+x[12]+k+(b&^c|a&c), 9)+d, bits.RotateLeft32(b, 10)
	d, a = bits.RotateLeft32(d+x[4]+k+(a&^b|e&b), 8)+c, bits.RotateLeft32(a, 10)
	c, e = bits.RotateLeft32(c+x[13]+k+(e&^a|d&a), 9)+b, bits.RotateLeft32(e, 10)
	b, d = bits.RotateLeft32(b+x[3]+k+(d&^e|c&e), 14)+a, bits.RotateLeft32(d, 10)
	a, c = bits.RotateLeft32(a+x[7]+k+(c&^d|b&d), 5)+e, bits.RotateLeft32(c, 10)
	e, b = bits.RotateLeft32(e+x[15]+k+(b&^c|a&c), 6)+d, bits.RotateLeft32(b, 10)
	d, a = bits.RotateLeft32(d+x[14]+k+(a&^b|e&b), 8)+c, bits.RotateLeft32(a, 10)
	c, e = bits.RotateLeft32(c+x[5]+k+(e&^a|d&a), 6)+b, bits.RotateLeft32(e, 10)
	b, d = bits.RotateLeft32(b+x[6]+k+(d&^e|c&e), 5)+a, bits.RotateLeft32(d, 10)
	a, c = bits.RotateLeft32(a+x[2]+k+(c&^d|b&d), 12)+e, bits.RotateLeft32(c, 10)
	l.a, l.b, l.c, l.d, l.e = e, a, b, c, d
}

func (l *line) rightFourth(x *[16]uint32, k uint32) {
	a, b, c, d, e := l.a, l.b, l.c, l.d, l.e
	a, c = bits.RotateLeft32(a+x[8]+k+((c^d)&b^d), 15)+e, bits.RotateLeft32(c, 10)
	e, b = bits.RotateLeft32(e+x[6]+k+((b^c)&a^c), 5)+d, bits.RotateLeft32(b, 10)
	d, a = bits.RotateLeft32(d+x[4]+k+((a^b)&e^b), 8)+c, bits.RotateLeft32(a, 10)
	c, e = bits.RotateLeft32(c+x[1]+k+((e^a)&d^a), 11)+b, bits.RotateLeft32(e, 10)
	b, d = bits.RotateLeft32(b+x[3]+k+((d^e)&c^e), 14)+a, bits.RotateLeft32(d, 10)
	a, c = bits.RotateLeft32(a+x[11]+k+((c^d)&b^d), 14)+e, bits.RotateLeft32(c, 10)
	e, b = bits.RotateLeft32(e+x[15]+k+((b^c)&a^c), 6)+d, bits.RotateLeft32(b, 10)
	d, a = bits.RotateLeft32(d+x[0]+k+((a^b)&e^b), 14)+c, bits.RotateLeft32(a, 10)
	c, e = bits.RotateLeft32(c+x[5]+k+((e^a)&d^a), 6)+b, bits.RotateLeft32(e, 10)
	b, d = bits.RotateLeft32(b+x[12]+k+((d^e)&c^e), 9)+a, bits.RotateLeft32(d, 10)
	a, c = bits.RotateLeft32(a+x[2]+k+((c^d)&b^d), 12)+e, bits.RotateLeft32(c, 10)
	e, b = bits.RotateLeft32(e+x[13]+k+((b^c)&a^c), 9)+d, bits.RotateLeft32(b, 10)
	d, a = bits.RotateLeft32(d+x[9]+k+((a^b)&e^b), 12)+c, bits.RotateLeft32(a, 10)
	c, e = bits.RotateLeft32(c+x[7]+k+((e^a)&d^a), 5)+b, bits.RotateLeft32(e, 10)
	b, d = bits.RotateLeft32(b+x[10]+k+((d^e)&c^e), 15)+a, bits.RotateLeft32(d, 10)
	a, c = bits.RotateLeft32(a+x[14]+k+((c^d)&b^d), 8)+e, bits.RotateLeft32(c, 10)
	l.a, l.b, l.c, l.d, l.e = e, a, b, c, d
}

func (l *line) leftFifth(x *[16]uint32, k uint32) {
	a, b, c, d, e := l.a, l.b, l.c, l.d, l.e
	a, c = bits.RotateLeft32(a+x[4]+k+((c|^d)^b), 9)+e, bits.RotateLeft32(c, 10)
	e, b = bits.RotateLeft32(e+x[0]+k+((b|^c)^a), 15)+d, bits.RotateLeft32(b, 10)
	d, a = bits.RotateLeft32(d+x[5]+k+((a|^b)^e), 5)+c, bits.RotateLeft32(a, 10)
	c, e = bits.RotateLeft32(c+x[9]+k+((e|^a)^d), 11)+b, bits.RotateLeft32(e, 10)
	b, d = bits.RotateLeft32(b+x[7]+k+((d|^e)^c), 6)+a, bits.RotateLeft32(d, 10)
	a, c = bits.RotateLeft32(a+x[12]+k+((c|^d)^b), 8)+e, bits.RotateLeft32(c, 10)
	e, b = bits.RotateLeft32(e+x[2]+k+((b|^c)^a), 13)+d, bits.RotateLeft32(b, 10)
	d, a = bits.RotateLeft32(d+x[10]+k+((a|^b)^e), 12)+c, bits.RotateLeft32(a, 10)
	c, e = bits.RotateLeft32(c+x[14]+k+((e|^a)^d), 5)+b, bits.RotateLeft32(e, 10)
	b, d = bits.RotateLeft32(b+x[1]+k+((d|^e)^c), 12)+a, bits.RotateLeft32(d, 10)
	a, c = bits.RotateLeft32(a+x[3]+k+((c|^d)^b), 13)+e, bits.RotateLeft32(c, 10)
	e, b = bits.RotateLeft32(e+x[8]+k+((b|^c)^a), 14)+d, bits.RotateLeft32(b, 10)
	d, a = bits.RotateLeft32(d+x[11]+k+((a|^b)^e), 11)+c, bits.RotateLeft32(a, 10)
	c, e = bits.RotateLeft32(c+x[6]+k+((e|^a)^d), 8)+b, bits.RotateLeft32(e, 10)
	b, d = bits.RotateLeft32(b+x[15]+k+((d|^e)^c), 5)+a, bits.RotateLeft32(d, 10)
	a, c = bits.RotateLeft32(a+x[13]+k+((c|^d)^b), 6)+e, bits.RotateLeft32(c, 10)
	l.a, l.b, l.c, l.d, l.e = e, a, b, c, d
}

func (l *line) rightFifth(x *[16]uint32) {
	a, b, c, d, e := l.a, l.b, l.c, l.d, l.e
	a, c = bits.RotateLeft32(a+x[12]+(c^d^b), 8)+e, bits.RotateLeft32(c, 10)
	e, b = bits.RotateLeft32(e+x[15]+(b^c^a), 5)+d, bits.RotateLeft32(b, 10)
	d, a = bits.RotateLeft32(d+x[10]+(a^b^e), 12)+c, bits.RotateLeft32(a, 10)
	c, e = bits.RotateLeft32(c+x[4]+(e^a^d), 9)+b, bits.RotateLeft32(e, 10)
	b, d = bits.RotateLeft32(b+x[1]+(d^e^c), 12)+a, bits.RotateLeft32(d, 10)
	a, c = bits.RotateLeft32(a+x[5]+(c^d^b), 5)+e, bits.RotateLeft32(c, 10)
	e, b = bits.RotateLeft32(e+x[8]+(b^c^a), 14)+d, bits.RotateLeft32(b, 10)
	d, a = bits.RotateLeft32(d+x[7]+(a^b^e), 6)+c, bits.RotateLeft32(a, 10)
	c, e = bits.RotateLeft32(c+x[6]+(e^a^d), 8)+b, bits.RotateLeft32(e, 10)
	b, d = bits.RotateLeft32(b+x[2]+(d^e^c), 13)+a, bits.RotateLeft32(d, 10)
	a, c = bits.RotateLeft32(a+x[13]+(c^d^b), 6)+e, bits.RotateLeft32(c, 10)
	e, b = bits.RotateLeft32(e+x[14]+(b^c^a), 5)+d, bits.RotateLeft32(b, 10)
	d, a = bits.RotateLeft32(d+x[0]+(a^b^e), 15)+c, bits.RotateLeft32(a, 10)
	c, e = bits.RotateLeft32(c+x[3]+(e^a^d), 13)+b, bits.RotateLeft32(e, 10)
	b, d = bits.RotateLeft32(b+x[9]+(d^e^c), 11)+a, bits.RotateLeft32(d, 10)
	a, c = bits.RotateLeft32(a+x[11]+(c^d^b), 11)+e, bits.RotateLeft32(c, 10)
	l.a, l.b, l.c, l.d, l.e = e, a, b, c, d
}
