package bitcoin

import (
	"github.com/btcsuite/btcd/chainhash/v2"

	"github.com/bursar/bursar/chain"
)

// askedAtOnce is how many questions are asked of a watch at once: their texts stay in the processor's nearest memory.
const askedAtOnce = 64

// touched reports, for each transaction of a block, whether it may concern us: it pays one of our addresses, an input
// shows the key of one, or it is ours. All others have no effect that scan reports, and are not read further. Where the
// watch can be asked only one question at a time, or asks about outputs of others, or knows
// cold wallets, whose scripts are of other forms, every transaction may concern us.
func (b *block) touched(bases *baseEncoder, watch chain.Watch) []bool {
	touched := b.scratch.touched[:0]
	asks, is := watch.(chain.OutputWatch)
	many, fast := watch.(chain.ManyWatch)
	all := !fast || is && asks.AsksSpends() || chain.HasCold(watch)
	for range b.places {
		touched = append(touched, all)
	}
	b.scratch.touched = touched
	if all {
		return touched
	}
	b.ask(len(b.paid), bases.size(), many.PaysAny, func(texts []byte, i int) ([]byte, int) {
		paid := b.paid[i]
		return bases.append(texts, (*[sizeKeyHash]byte)(b.raw[paid.at:])), paid.tx
	})
	b.ask(len(b.keys), bases.size(), many.PaysAny, func(texts []byte, i int) ([]byte, int) {
		return bases.append(texts, &b.keys[i].hash), b.keys[i].tx
	})
	b.ask(len(b.ids), 2*chainhash.HashSize, many.SentAny, func(texts []byte, i int) ([]byte, int) {
		return appendID(texts, &b.ids[i]), i
	})
	return touched
}

// ask asks a number of questions, each of which text appends, and marks their transactions where the answer is yes.
func (b *block) ask(
	count, size int, of func([]byte, int, func(int)), text func(texts []byte, i int) (_ []byte, tx int),
) {
	var txs [askedAtOnce]int
	mark := func(i int) { b.scratch.touched[txs[i]] = true }
	for from := 0; from < count; from += askedAtOnce {
		texts := b.scratch.texts[:0]
		for i := range min(askedAtOnce, count-from) {
			texts, txs[i] = text(texts, from+i)
		}
		b.scratch.texts = texts
		of(texts, size, mark)
	}
}

// appendID appends the text of a transaction's id, which shows its bytes in reverse.
func appendID(to []byte, id *chainhash.Hash) []byte {
	var text [2 * chainhash.HashSize]byte
	for i, value := range id {
		at := 2 * (len(id) - 1 - i)
		text[at], text[at+1] = hexDigits[value>>4], hexDigits[value&15]
	}
	return append(to, text[:]...)
}

const hexDigits = "0123456789abcdef"
