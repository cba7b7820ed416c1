package chain

import "github.com/bursar/bursar"

// Gathered adds up what a transaction delivered: one item for each receiver and asset, in the order in which each was
// first added. The zero value is empty and ready to use.
type Gathered struct {
	list   []Payment
	places map[place]int
}

type place struct {
	address  bursar.Address
	contract string
}

// Add adds a payment; one of 0 is ignored. A payment whose sum would overflow an amount stays an item of its own.
func (g *Gathered) Add(p Payment) {
	if p.Amount.IsZero() {
		return
	}
	at := place{p.Address, p.Contract}
	i, there := g.places[at]
	if there {
		if sum, err := g.list[i].Amount.Add(p.Amount); err == nil {
			g.list[i].Amount = sum
			return
		}
	}
	if g.places == nil {
		g.places = map[place]int{}
	}
	g.places[at] = len(g.list)
	g.list = append(g.list, p)
}

// List returns the sums, nil if nothing was added.
func (g *Gathered) List() []Payment { return g.list }
