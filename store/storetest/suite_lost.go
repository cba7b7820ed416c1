package storetest

import (
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// lostBench is an outgoing transaction over some UTXOs, with other outgoing transactions beside it.
type lostBench struct {
	*testing.T
	db       *store.DB
	outgoing bursar.OutgoingTx

	parent, void bursar.OutgoingTx
}

func outpoint(tx string) string { return strings.Repeat(tx, 64)[:64] + ":0" }

func txOf(output string) string { return output[:64] }

func (b *lostBench) want(final uint64, why string, want ...string) {
	b.Helper()
	do(b.T, b.db, func(tx *store.Tx) error {
		got, err := tx.Reservations().Lost(ctx, b.outgoing.ID, final)
		if err == nil && !slices.Equal(got, want) {
			b.Errorf("%s, up to block %d: lost are %v, want %v", why, final, got, want)
		}
		return err
	})
}

// make records an outgoing transaction that was signed as a transaction.
func (b *lostBench) make(n byte, txID string) (p bursar.OutgoingTx) {
	b.Helper()
	do(b.T, b.db, func(tx *store.Tx) (err error) {
		p = bursar.OutgoingTx{
			ID:       bursar.ID{n},
			Chain:    bursar.Bitcoin,
			Kind:     "withdrawal",
			Currency: "BTC",
			Base:     "hot",
			Request:  []byte("{}"),
		}
		if _, err = tx.Outgoing().Insert(ctx, p); err != nil {
			return err
		}
		p.Status = bursar.OutgoingNew
		for _, next := range []bursar.OutgoingStatus{bursar.OutgoingReserved, bursar.OutgoingSigned, bursar.OutgoingSent} {
			p.Unsigned = []byte("{}")
			if next == bursar.OutgoingSigned {
				err = tx.Outgoing().AddVersion(ctx, p, store.Version{TxID: txID, Unsigned: []byte("{}"), Raw: []byte{1}})
			}
			if err != nil {
				return err
			}
			if err = tx.Outgoing().SetStatus(ctx, p, next); err != nil {
				return err
			}
			p, err = tx.Outgoing().Get(ctx, p.ID)
		}
		return err
	})
	return p
}

// lostReservations holds the proofs that a UTXO can never be used apart from everything that proves nothing.
func lostReservations(t *testing.T, db *store.DB) {
	b := lostBench{T: t, db: db}
	b.reserve()
	b.usedByOthers()
	b.vanished()
	b.madeVoid()
	b.usedForNobody()
}

// usedForNobody checks that what a final outgoing transaction has reserved is used for what is no outgoing transaction
// too, such as an external spend that halted the chain.
func (b *lostBench) usedForNobody() {
	b.Helper()
	taken := outpoint("8")
	p := b.make(4, txOf(outpoint("4")))
	b.record(func(tx *store.Tx) error { return tx.Reservations().Take(ctx, p, []string{taken}) })
	b.final(p, txOf(outpoint("4")), 50)
	b.record(func(tx *store.Tx) error {
		used, err := tx.Reservations().UsedByOthers(ctx, bursar.OutgoingTx{Chain: bursar.Bitcoin}, []string{taken}, 50)
		if err == nil && !slices.Equal(used, []string{taken}) {
			b.Errorf("for what is no outgoing transaction %v are used, want %s", used, taken)
		}
		return err
	})
}

// The UTXOs that the outgoing transaction has reserved.
var used, change, vanished, moved = outpoint("a"), outpoint("c"), outpoint("d"), outpoint("e")

func (b *lostBench) reserve() {
	t, db := b.T, b.db
	do(t, db, func(tx *store.Tx) error { return tx.Chains().Ensure(ctx, bursar.Bitcoin) })
	b.outgoing = b.make(1, txOf(outpoint("1")))
	b.parent, b.void = b.make(2, txOf(change)), b.make(3, txOf(outpoint("3")))
	do(t, db, func(tx *store.Tx) error {
		for _, output := range []string{used, change, vanished, moved} {
			c := store.UTXO{Outpoint: output, Base: "hot", Amount: bursar.Units(5), Height: 10}
			if output == change {
				c.Height, c.MadeBy = 0, b.parent.ID
			}
			if err := tx.UTXOs().Put(ctx, bursar.Bitcoin, c); err != nil {
				return err
			}
		}
		return tx.Reservations().Reserve(ctx, b.outgoing, []string{used, change, vanished, moved})
	})
	b.want(100, "while nothing happened")
}

func (b *lostBench) record(f func(tx *store.Tx) error) {
	b.Helper()
	do(b.T, b.db, f)
}

func (b *lostBench) usedByOthers() {
	b.record(func(tx *store.Tx) error {
		return tx.UTXOs().RecordUsed(ctx, bursar.Bitcoin, 20, by(txOf(outpoint("1")), used))
	})
	b.want(100, "used by its own transaction")
	b.record(func(tx *store.Tx) error {
		return tx.UTXOs().RecordUsed(ctx, bursar.Litecoin, 20, by(txOf(outpoint("9")), used))
	})
	b.want(100, "used on another chain")
	b.record(func(tx *store.Tx) error {
		return tx.UTXOs().RecordUsed(ctx, bursar.Bitcoin, 20, by(txOf(outpoint("9")), used))
	})
	b.want(19, "used by others in a block that is not final")
	b.want(20, "used by others", used)
	b.record(func(tx *store.Tx) error { return tx.UTXOs().DropUses(ctx, bursar.Bitcoin, 20) })
	b.want(100, "that block was reorged out")
}

func (b *lostBench) vanished() {
	input := outpoint("f")
	b.record(func(tx *store.Tx) error {
		return tx.UTXOs().RecordFunding(ctx, bursar.Bitcoin, 10, by(txOf(vanished), input))
	})
	b.record(func(tx *store.Tx) error {
		return tx.UTXOs().RecordUsed(ctx, bursar.Bitcoin, 30, by(txOf(outpoint("8")), input))
	})
	b.want(100, "its transaction is in a block")
	b.record(func(tx *store.Tx) error { return tx.UTXOs().DropUses(ctx, bursar.Bitcoin, 10) })
	b.want(100, "the UTXO itself is still recorded in a block")
	b.record(func(tx *store.Tx) error { return tx.UTXOs().DropAt(ctx, bursar.Bitcoin, 10) })
	b.want(29, "what it needs is used in a block that is not final")
	b.want(30, "what it needs is used by others", vanished)
	b.record(func(tx *store.Tx) error {
		return tx.UTXOs().RecordUsed(ctx, bursar.Bitcoin, 31, by(txOf(vanished), input))
	})
	b.record(func(tx *store.Tx) error { return tx.UTXOs().DropUses(ctx, bursar.Bitcoin, 30) })
	b.want(100, "it came back itself")
}

func (b *lostBench) madeVoid() {
	b.record(func(tx *store.Tx) error {
		return tx.Reservations().Move(ctx, bursar.Bitcoin, b.outgoing.ID, b.void.ID, []string{moved})
	})
	b.want(100, "what is to make it void is not final")
	b.final(b.void, txOf(outpoint("3")), 40)
	b.want(39, "what made it void is in a block that is not final")
	b.want(40, "it is void", moved)

	b.final(b.parent, txOf(change), 41)
	b.want(100, "its change was made", moved)
	b.record(func(tx *store.Tx) error { _, err := tx.Outgoing().Exclude(ctx, bursar.Bitcoin, 41); return err })
	b.final(b.parent, txOf(outpoint("7")), 42)
	b.want(41, "another version was included, in a block that is not final", moved)
	b.want(42, "another version was included", change, moved)
}

// final settles an outgoing transaction in the block at a height.
func (b *lostBench) final(p bursar.OutgoingTx, txID string, height uint64) {
	b.Helper()
	b.record(func(tx *store.Tx) error {
		if err := tx.Outgoing().Include(ctx, p.ID, txID, height, false, bursar.Amount{}); err != nil {
			return err
		}
		now, err := tx.Outgoing().Get(ctx, p.ID)
		if err != nil {
			return err
		}
		return tx.Outgoing().SetStatus(ctx, now, bursar.OutgoingFinal)
	})
}

// by is what a transaction uses up.
func by(txID string, inputs ...string) store.TxInputs {
	return store.TxInputs{TxID: txID, Inputs: inputs}
}
