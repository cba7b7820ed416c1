package solana

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// gambler invents transactions.
type gambler struct {
	*rivals
	dice    *rand.Rand
	holders []holder
	table   key
	tabled  []key
	last    []byte // sent before
	old     key    // a blockhash that has expired, or one that never existed
	made    int
}

func newGambler(r *rivals, dice *rand.Rand) *gambler {
	g := &gambler{rivals: r, dice: dice, table: newHolder("table").key, old: newHolder("no blockhash").key}
	for i := range 8 {
		g.holders = append(g.holders, newHolder(fmt.Sprint("holder ", i)))
	}
	for i := range 6 {
		g.tabled = append(g.tabled, newHolder(fmt.Sprint("tabled ", i)).key)
	}
	g.tabled = append(g.tabled, g.holders[0].key, g.holders[1].key)
	data := tableMeta()
	for _, k := range g.tabled {
		data = append(data, k[:]...)
	}
	r.put(g.table, account{lamports: rentMinimum(len(data)), owner: lookupProgram(), data: data})
	g.refill()
	return g
}

// refill gives the holders a new balance: much, just the minimum of an account, a little more, or nothing.
func (g *gambler) refill() {
	for i, h := range g.holders[:8] {
		lamports := []uint64{2_000_000_000, 10_000_000_000, rentMinimum(0), rentMinimum(0) + 5_000, rentMinimum(0) + 20_000,
			0, 50_000_000, 3_000_000}[i]
		g.put(h.key, account{lamports: lamports})
	}
}

func (g *gambler) one() holder { return g.holders[g.dice.IntN(len(g.holders))] }

// chance is true once in so many times.
func (g *gambler) chance(in int) bool { return g.dice.IntN(in) == 0 }

// step feeds both one more transaction.
func (g *gambler) step() report {
	if g.made++; g.made%25 == 0 {
		g.refill()
	}
	m := making{payer: g.one(), blockhash: g.hash, versioned: g.chance(3)}
	if !g.chance(4) {
		m.payer = g.holders[g.dice.IntN(2)] // who can afford it
	}
	if g.chance(4) {
		m.table, m.tabled = &g.table, g.tabled
		m.doings = append(m.doings, transferOfLamports(m.payer.key, g.tabled[g.dice.IntN(6)], 1_000_000))
	}
	for range 1 + g.dice.IntN(3) {
		m.doings = append(m.doings, g.doing(m.payer))
	}
	memo := slices.ContainsFunc(m.doings, func(d doing) bool { return d.program == memoProgram() })
	for g.chance(3) && !memo { // only the real machine knows what a memo computes
		m.doings = slices.Insert(m.doings, g.dice.IntN(len(m.doings)+1), g.budget())
	}
	if g.chance(20) {
		m.blockhash = g.old
	}
	m.others = g.holders
	raw := m.raw()
	switch {
	case len(raw) > packetSize:
		return g.step()
	case g.chance(20):
		raw[1+g.dice.IntN(64)] ^= 1 << g.dice.IntN(8)
	case g.chance(20) && g.last != nil:
		raw = g.last
	}
	g.last = raw
	return g.feed(m, raw)
}

// doing is mostly a transfer that is possible.
func (g *gambler) doing(payer holder) doing {
	from := payer
	if g.chance(5) {
		from = g.one()
	}
	d := transferOfLamports(from.key, g.receiver(), g.lamports(from))
	switch {
	case g.chance(2):
		d = transferOfLamports(payer.key, g.receiver(), rentMinimum(0)+uint64(g.dice.IntN(1000)))
	case g.chance(20):
		d.uses[1].writes = false
	case g.chance(20):
		d.uses[0].signs = false
	case g.chance(25):
		d.data = d.data[:g.dice.IntN(len(d.data))]
	case g.chance(25):
		d.uses = d.uses[:g.dice.IntN(2)]
	case g.chance(15):
		d = doing{program: memoProgram(), data: []byte(fmt.Sprint("memo ", g.made))}
	case g.chance(25):
		d.program = []key{g.one().key, newHolder("no program").key}[g.dice.IntN(2)]
	case g.chance(6):
		d = g.creation(from)
	}
	return d
}

// creation makes an account, or gives one a size or an owner.
func (g *gambler) creation(from holder) doing {
	fresh, owner := newHolder(fmt.Sprint("created ", g.made, g.dice.Uint32())), newHolder("a program").key
	size := uint64(g.dice.IntN(200))
	lamports := rentMinimum(int(size)) - uint64(g.dice.IntN(2))
	if g.chance(6) {
		fresh = g.one()
	}
	g.rememberHolder(fresh)
	switch g.dice.IntN(4) {
	case 0:
		return doing{systemProgram(), []use{{fresh.key, true, true}}, append(le32(allocateCode), le64(size)...)}
	case 1:
		return doing{systemProgram(), []use{{fresh.key, true, true}}, append(le32(assignCode), owner[:]...)}
	}
	data := slices.Concat(le32(createCode), le64(lamports), le64(size), owner[:])
	return doing{systemProgram(), []use{{from.key, true, true}, {fresh.key, true, true}}, data}
}

// rememberHolder lets a new account sign for itself.
func (g *gambler) rememberHolder(h holder) {
	if !slices.ContainsFunc(g.holders, func(x holder) bool { return x.key == h.key }) {
		g.holders = append(g.holders[:8:8], h)
	}
}

func (g *gambler) receiver() key {
	switch g.dice.IntN(8) {
	case 0, 1:
		return g.one().key
	case 2, 3:
		return g.tabled[g.dice.IntN(len(g.tabled))]
	case 4:
		if g.chance(4) {
			return []key{systemProgram(), budgetProgram(), lookupProgram(),
				mustKey("Stake11111111111111111111111111111111111111")}[g.dice.IntN(4)]
		}
	}
	return newHolder(fmt.Sprint("new ", g.made, g.dice.Uint32())).key
}

// lamports is an amount near one of the limits.
func (g *gambler) lamports(from holder) uint64 {
	held := g.node.bank.accounts[from.key].lamports
	near := []uint64{0, 1, rentMinimum(0) - 1, rentMinimum(0), held, held - 5_000, held - 5_000 - rentMinimum(0),
		held - rentMinimum(0), 1_000_000, 1 << 63}
	n := near[g.dice.IntN(len(near))]
	if g.chance(3) {
		n += uint64(g.dice.IntN(3)) - 1
	}
	return n
}

func (g *gambler) budget() doing {
	switch g.dice.IntN(6) {
	case 0, 1:
		return unitPrice([]uint64{0, 1, 100, 1_000_000, 1 << 40, 1<<64 - 1}[g.dice.IntN(6)])
	case 2, 3:
		return unitLimit([]uint32{0, 100, 149, 150, 299, 300, 450, 600, 200_000, 1_400_000, 1<<32 - 1}[g.dice.IntN(11)])
	case 4:
		return budgetDoing(append([]byte{1},
			le32([]uint32{0, 32 << 10, 64 << 10, 256 << 10, 33_000, 1 << 20}[g.dice.IntN(6)])...)...)
	}
	return budgetDoing(make([]byte, g.dice.IntN(10))...)
}
