package oversight

import (
	"context"
	"fmt"
	"time"

	"github.com/bursar/bursar"
)

// Epoch says which epoch of the seed a chain is in, and what waits to be brought home from earlier ones.
type Epoch struct {
	Chain bursar.ChainID
	Keys  int       // of the process that is asked
	Leads int       // in which a process leads the chain
	Since time.Time // when one first did; zero: not noted, or the first epoch
	Hot   string    // hot wallet of Leads; empty: its keys are not here
	Held  []EpochHeld
}

// EpochHeld is what waits at earlier epochs, of one currency. More says that there is more than was added up.
type EpochHeld struct {
	Currency  bursar.CurrencyCode
	Hot       bursar.Amount // at their hot wallets
	Addresses bursar.Amount // at addresses that were given out in them
	More      bool
}

func readEpochs(ctx context.Context, r *reading) (s Sheet, err error) {
	s.Command = "bursar doctor"
	s.Notes = []string{"What is on its way is not listed, nor what addresses hold that is not worth a sweep. Who began " +
		"an epoch is in the log of acts: its verb is epoch.follow."}
	chains := Table{Key: "epochs", Title: "Epochs", Empty: "No chain is configured.", Columns: []Column{
		{"chain", "Chain", Plain},
		{"epoch", "Epoch", Figure},
		{"keys", "Keys here", Figure},
		{"since", "Since", Moment},
		{"hot", "Hot wallet", Ident},
		{"state", "State", State},
		{"next", "What to do", Plain},
	}}
	earlier := Table{Key: "earlier", Title: "Left of earlier epochs", Empty: "Nothing waits.", Columns: []Column{
		{"chain", "Chain", Plain},
		{"place", "At", Plain},
		{"amount", "Amount", Figure},
		{"currency", "Currency", Plain},
		{"sum", "Sum", Plain},
	}}
	if r.Epochs != nil {
		list, err := r.Epochs(ctx, r.tx)
		if err != nil {
			return s, err
		}
		for _, e := range list {
			state, next := e.state()
			chains.Rows = append(chains.Rows, []Cell{text(string(e.Chain)), number(e.Leads), number(e.Keys), at(e.Since),
				text(e.Hot), state, text(next)})
			for _, held := range e.Held {
				earlier.Rows = append(earlier.Rows, r.heldRows(e.Chain, held)...)
			}
		}
	}
	s.Tables = []Table{chains, earlier}
	return s, nil
}

// state says in two words how far a rotation is, and what an operator does next.
func (e Epoch) state() (state Cell, next string) {
	switch {
	case e.Keys < e.Leads:
		return Cell{Text: "keys missing", Tone: Bad},
			fmt.Sprintf("Give this machine the keys of epoch %d: it gives out no address of this chain.", e.Leads)
	case e.Keys > e.Leads:
		return Cell{Text: "not led", Tone: Warn},
			fmt.Sprintf("See that bursar serve runs, and its log: no service leads the chain in epoch %d.", e.Keys)
	case len(e.Held) > 0:
		return Cell{Text: "being emptied", Tone: Warn},
			"Wait while sweeps are made. After a day, see A rotation that does not finish in the documentation."
	case e.Leads == 0:
		return text("the first"), ""
	}
	return Cell{Text: "complete", Tone: Good}, "Nothing. Keep every seed: old addresses stay good."
}

func (r *reading) heldRows(chain bursar.ChainID, held EpochHeld) (rows [][]Cell) {
	sum := text("whole")
	if held.More {
		sum = text("at least")
	}
	for _, one := range []struct {
		place  string
		amount bursar.Amount
	}{{"hot wallets", held.Hot}, {"addresses", held.Addresses}} {
		if !one.amount.IsZero() {
			rows = append(rows, []Cell{text(string(chain)), text(one.place), text(r.amount(held.Currency, one.amount)),
				text(string(held.Currency)), sum})
		}
	}
	return rows
}
