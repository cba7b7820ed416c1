package chain

import "github.com/bursar/bursar"

// Gathered adds up what a transaction delivered: one item for each receiver and asset, in the order of their first. The
// zero value is empty and ready.
type Gathered struct {
	list   []Payment
	places map[place]int
}

type place struct {
	address  bursar.Address
	contract string
}

// Add adds a payment. Nothing is no payment. What would be more than an amount can be stays an item of its own.
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

// List returns what was added, nil if nothing was.
func (g *Gathered) List() []Payment { return g.list }
