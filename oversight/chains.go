package oversight

import (
	"context"
	"fmt"

	"github.com/bursar/bursar/store"
)

// behind is how many blocks a follower may lack before the page says that it is behind.
const behind = 20

func (r *reading) addChains(ctx context.Context, s *Sheet) error {
	states, err := r.tx.Chains().States(ctx)
	if err != nil {
		return err
	}
	t := Table{Key: "chains", Title: "Chains", Empty: "No chain is configured, or none has been followed yet.",
		Columns: []Column{
			{"chain", "Chain", Plain},
			{"height", "Recorded", Figure},
			{"behind", "Behind", Figure},
			{"final", "Final", Figure},
			{"heard", "Last heard", Plain},
			{"nodes", "Nodes in use", Plain},
			{"payments", "Payments", State},
			{"failing", "Fault", Written},
			{"hot", "Hot wallet", Ident},
			{"holder", "Led by", Plain},
		}}
	for _, c := range states {
		t.Rows = append(t.Rows, r.chainRow(c))
	}
	s.Tables = append(s.Tables, t)
	return nil
}

func (r *reading) chainRow(c store.ChainState) []Cell {
	recorded, late, heard, payments := text("none yet"), number(max(0, int64(c.Latest)-c.Height)), text("never"),
		Cell{Text: "running", Tone: Good}
	if c.Height >= 0 {
		recorded = number(c.Height)
	}
	if int64(c.Latest)-c.Height > behind {
		late.Tone = Warn
	}
	if !c.CheckedAt.IsZero() {
		heard = text(age(r.tx.Now(), c.CheckedAt) + " ago")
	}
	if c.Halted != "" {
		payments = Cell{Text: "halted", Tone: Bad}
	}
	failing := Cell{Text: c.Failing, Tone: Bad}
	return []Cell{text(string(c.Chain)), recorded, late, number(int64(c.Final)), heard, r.nodesInUse(c), payments, failing,
		text(r.Hot(c.Chain)), text(c.Holder)}
}

func (r *reading) nodesInUse(c store.ChainState) Cell {
	if r.Nodes == nil {
		return Cell{}
	}
	all, used := r.Nodes(c.Chain), 0
	for _, n := range all {
		if n.InUse {
			used++
		}
	}
	if len(all) == 0 {
		return Cell{}
	}
	cell := text(fmt.Sprintf("%d of %d", used, len(all)))
	if used == 0 {
		cell.Tone = Bad
	}
	return cell
}

func readChains(ctx context.Context, r *reading) (s Sheet, err error) {
	s.Command = "bursar chain status"
	s.Links = []Cell{{Text: "Epochs of the seed, and what is left of earlier ones", Link: "/epochs"}}
	if err := r.addChains(ctx, &s); err != nil {
		return s, err
	}
	s.Tables = append(s.Tables, r.nodeTable(), r.walletTable())
	halts, err := r.tx.Halts().List(ctx)
	if err != nil {
		return s, err
	}
	s.Tables = append(s.Tables, haltTable(halts))
	events, err := r.tx.Halts().Events(ctx, usualRows)
	t := Table{Key: "haltLog", Title: "Halted and resumed", Empty: "Never.", Columns: []Column{
		{"at", "When", Moment},
		{"what", "What", Plain},
		{"scope", "Of", Plain},
		{"actor", "By", Written},
		{"reason", "Why", Written},
	}}
	for _, e := range events {
		what := text("halted")
		if e.Resumed {
			what = text("resumed")
		}
		t.Rows = append(t.Rows, []Cell{at(e.At), what, text(e.Scope.String()), text(e.Actor), text(e.Reason)})
	}
	s.Tables = append(s.Tables, t)
	return s, err
}

// nodeTable lists the nodes as this process knows them.
func (r *reading) nodeTable() Table {
	t := Table{Key: "nodes", Title: "Nodes", Empty: "None has been asked yet.", Columns: []Column{
		{"chain", "Chain", Plain},
		{"node", "Node", Ident},
		{"height", "Newest block", Figure},
		{"state", "State", State},
		{"fault", "Last fault", Written},
	}, Note: "As this process knows them; another replica may know others."}
	for _, id := range r.everyChain() {
		if r.Nodes == nil {
			break
		}
		for _, n := range r.Nodes(id) {
			state := Cell{Text: "in use", Tone: Good}
			if !n.InUse {
				state = Cell{Text: "in cool-down", Tone: Warn}
			}
			height := Cell{}
			if n.Height > 0 {
				height = number(int64(n.Height))
			}
			t.Rows = append(t.Rows, []Cell{text(string(id)), text(n.Name), height, state, text(n.Fault)})
		}
	}
	return t
}

// walletTable lists the service's own addresses.
func (r *reading) walletTable() Table {
	t := Table{Key: "own", Title: "Hot and cold wallets", Columns: []Column{{"chain", "Chain", Plain},
		{"kind", "Kind", Plain}, {"address", "Address", Ident}}}
	for _, id := range r.everyChain() {
		if hot := r.Hot(id); hot != "" {
			t.Rows = append(t.Rows, []Cell{text(string(id)), text("hot"), text(hot)})
		}
		for _, cold := range r.Cold[id] {
			t.Rows = append(t.Rows, []Cell{text(string(id)), text("cold"), text(cold)})
		}
	}
	return t
}
