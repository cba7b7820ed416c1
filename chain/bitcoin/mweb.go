package bitcoin

// Litecoin's blocks have an extension (MimbleWimble Extension Block, LIP 2 and 3) in which amounts and owners are
// hidden. Value enters it through an output of any transaction, and leaves it through the block's last transaction, the
// HogEx: its output 0 holds the whole balance of the extension, and every other output is a peg-out, a payment like any
// other. What has no script or amount never appears here.

// opEight is the witness version of the script that holds the extension's balance.
const opEight = 0x58

// isHogAddr reports whether a script holds an extension's balance: witness version 8 and the hash of its header.
func isHogAddr(script []byte) bool {
	return len(script) == 34 && script[0] == opEight && script[1] == opPush32
}

// hogEx reads what the MWEB flag announces. Transactions in blocks do not carry their extension data, which is in the
// block's own extension: there the flag marks the HogEx (Litecoin Core, primitives/transaction.h).
func (r *reader) hogEx() bool {
	attached := r.take(1)
	if r.err == nil && (attached[0] != 0 || !isHogAddr(r.first)) {
		r.err = errForm
	}
	return r.err == nil
}

// extension skips a block's extension, which follows the transactions if the last of them is a HogEx. The merkle root
// does not cover the mark, so it is believed only where consensus has it (Litecoin Core, mweb/mweb_node.cpp): on the
// last transaction, whose first output holds the extension's balance. Nothing of the extension itself is read; the
// block's payments are in its transactions.
func (r *reader) extension(txs []place) {
	if r.err != nil || len(txs) == 0 {
		return
	}
	last := len(txs) - 1
	for i := range txs[:last] {
		if txs[i].hogEx {
			r.err = errForm
			return
		}
	}
	if !txs[last].hogEx {
		return
	}
	if there := r.take(1); r.err == nil && there[0] != 1 {
		r.err = errForm
	}
	if r.err == nil && r.pos == len(r.raw) {
		r.err = errCutOff
	}
	r.take(uint64(len(r.raw) - r.pos))
}
