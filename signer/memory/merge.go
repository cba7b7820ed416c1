package memory

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/bursar/bursar"
)

// Imported says what an import changed.
type Imported struct {
	From      Exported
	Flows     int      // transactions, with what replaces them, that the state did not know
	Merged    int      // those that it knew
	Conflicts []string // where both states cannot be true; the state keeps its own, and the signer is frozen
}

// Import merges an export into the memory at a path, which may be one of the same signer from before or after, or of
// another signer with the same seed. It only forbids and counts more: what the memory refused before it refuses
// afterwards, whatever the export says and however old it is, and importing it again changes nothing. Clients' keys
// that the memory did not have are lost keys (OrderKey.Lost): their accounts are bound, and nothing they sign counts
// until they are added again. No signer may use the memory meanwhile. verify checks the signature over ExportText. open
// opens the counter that the memory may be bound to, so that a copy from before the import is noticed. The error is as
// of Open and Guard, ErrInterchange, or one of verify; then nothing was changed.
func Import(
	ctx context.Context, path string, now Init, from io.Reader, verify func(text, signature []byte) error,
	open func(name string) (Counter, error), who, why string,
) (done Imported, err error) {
	f, err := Open(ctx, path, now.Fingerprint)
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := f.Guard(ctx, open); err != nil {
		return done, err
	}
	err = f.do(ctx, func(tx *sqlTx) error {
		m := &merger{tx: tx, fingerprint: now.Fingerprint, alike: map[int64][]int64{}, flows: map[int64]int64{}}
		sum, err := readExport(from, verify, func(e Exported) error { return m.begin(ctx, e) },
			func(one record) error { return m.record(ctx, one) })
		if err == nil {
			err = m.settle(ctx)
		}
		if err != nil {
			return err
		}
		done = m.done
		return m.end(ctx, now.At, sum, who, why)
	})
	return done, err
}

// merger merges one export within a transaction.
type merger struct {
	tx          *sqlTx
	fingerprint string
	done        Imported
	at          int // the table whose rows come now

	alike   map[int64][]int64 // by numbers of flows in the export: flows of this memory in which the same was signed
	flows   map[int64]int64   // by numbers of flows in the export: their numbers in this memory
	current *mergedFlow       // whose rows come now
}

// mergedFlow is a flow of the export.
type mergedFlow struct {
	row       row
	resources []string
}

func (m *merger) begin(ctx context.Context, e Exported) error {
	if e.Fingerprint != m.fingerprint {
		return fmt.Errorf("%w: the file is of the seed with fingerprint %.20s", ErrInterchange, e.Fingerprint)
	}
	m.done.From = e
	if _, err := m.tx.exec(ctx, `UPDATE state SET high_water = max(high_water, ?), cold_since = max(cold_since, ?)`,
		e.HighWater, e.ColdSince); err != nil {
		return err
	}
	return nil
}

// record merges a row. Tables come in their order, so that nothing is missed that a later one needs.
func (m *merger) record(ctx context.Context, one record) error {
	for ; m.at < len(exportedTables); m.at++ {
		if t := exportedTables[m.at]; t.name == one.Table {
			return t.merge(m, ctx, row(one.Row))
		}
		if err := m.settle(ctx); err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: a row of %.40q where none belongs", ErrInterchange, one.Table)
}

func (m *merger) end(ctx context.Context, at time.Time, sum [sha256.Size]byte, who, why string) error {
	_, err := m.tx.Append(ctx, at, KindImport, detail(map[string]any{"who": who, "why": why,
		"instance": m.done.From.Instance, "entry": m.done.From.Entry, "hash": m.done.From.Hash,
		"sha256": hex.EncodeToString(sum[:]), "flows": m.done.Flows, "merged": m.done.Merged,
		"conflicts": len(m.done.Conflicts)}))
	if err == nil {
		err = voidThaw(ctx, m.tx, at, "another state was merged into this one")
	}
	if err != nil || len(m.done.Conflicts) == 0 {
		return err
	}
	return setFrozen(ctx, m.tx, Freeze{at, who, "the imported state contradicts this one: " + m.done.Conflicts[0]})
}

// mostConflicts bounds what is said of them.
const mostConflicts = 100

func (m *merger) conflict(format string, args ...any) {
	if len(m.done.Conflicts) < mostConflicts {
		m.done.Conflicts = append(m.done.Conflicts, fmt.Sprintf(format, args...))
	}
}

func (m *merger) utxo(ctx context.Context, r row) error {
	chain, outpoint := bursar.ChainID(r.text(0)), r.text(1)
	own, known, err := m.tx.UTXO(ctx, chain, outpoint)
	if err != nil {
		return err
	}
	if known {
		if own.Amount.String() != r.text(2) || own.Script != r.text(3) {
			m.conflict("%s, %s holds %s here and %.40s there", chain, outpoint, own.Amount, r.text(2))
		}
		return nil
	}
	_, err = m.tx.exec(ctx, `INSERT INTO utxos(chain, outpoint, amount, script, first_seen) VALUES (?, ?, ?, ?, ?)`,
		string(chain), outpoint, r.text(2), r.text(3), r.number(4))
	return err
}

// known finds the flows that this memory may have already, by what was signed in them.
func (m *merger) known(ctx context.Context, r row) error {
	digest, err := r.digest(1)
	if err != nil {
		return err
	}
	here, found, err := m.tx.Signed(ctx, bursar.ChainID(r.text(0)), digest)
	if flow := r.number(2); err == nil && found && !slices.Contains(m.alike[flow], here) {
		m.alike[flow] = append(m.alike[flow], here)
	}
	return err
}

// flow gathers what a flow uses, of which each row has one.
func (m *merger) flow(ctx context.Context, r row) error {
	if m.current != nil && m.current.row.number(0) != r.number(0) {
		if err := m.settle(ctx); err != nil {
			return err
		}
	}
	if m.current == nil {
		m.current = &mergedFlow{row: r}
	}
	if resource := r.text(6); resource != "" {
		m.current.resources = append(m.current.resources, resource)
	}
	return nil
}

// settle writes the flow whose rows are complete. Two states may have gone on with one flow in different ways, so that
// nothing excludes what each of them signed from what the other did: then it is another flow, and both count.
func (m *merger) settle(ctx context.Context) error {
	f := m.current
	if f == nil {
		return nil
	}
	m.current = nil
	number := f.row.number(0)
	alike := m.alike[number]
	var begun int64 // one whose digests are forgotten is known by what it is for, and when it began
	found, err := m.tx.one(ctx, `SELECT id FROM flows WHERE chain = ? AND kind = ? AND outgoing = ? AND at = ?`,
		[]any{f.row.text(1), f.row.text(2), f.row.text(3), f.row.number(4)}, &begun)
	if err != nil {
		return err
	}
	if found {
		alike = append(alike, begun)
	}
	for _, id := range alike {
		own, err := m.tx.flow(ctx, id)
		if err != nil {
			return err
		}
		both := common(own.Resources, f.resources)
		if len(both) == 0 && len(own.Resources)+len(f.resources) > 0 {
			continue
		}
		if own.Pays != f.row.text(5) {
			own.Pays = "" // unknown: once its epoch has ended, nothing replaces it
		}
		own.Resources = both
		m.flows[number] = id
		m.done.Merged++
		return m.rewrite(ctx, own)
	}
	m.done.Flows++
	m.flows[number], err = m.add(ctx, f)
	return err
}

func common(a, b []string) (both []string) {
	in := map[string]bool{}
	for _, one := range a {
		in[one] = true
	}
	for _, one := range b {
		if in[one] {
			both = append(both, one)
			delete(in, one)
		}
	}
	return both
}

func (m *merger) rewrite(ctx context.Context, f Flow) error {
	if _, err := m.tx.exec(ctx, `UPDATE flows SET pays = ? WHERE id = ?`, f.Pays, f.ID); err != nil {
		return err
	}
	return m.tx.UpdateFlow(ctx, f)
}

func (m *merger) add(ctx context.Context, f *mergedFlow) (id int64, err error) {
	done, err := m.tx.exec(ctx, `INSERT INTO flows(chain, kind, outgoing, at, pays) VALUES (?, ?, ?, ?, ?)`,
		f.row.text(1), f.row.text(2), f.row.text(3), f.row.number(4), f.row.text(5))
	if err != nil {
		return 0, err
	}
	if id, err = done.LastInsertId(); err != nil {
		return 0, err
	}
	return id, m.tx.fill(ctx, Flow{ID: id, Chain: bursar.ChainID(f.row.text(1)), Resources: f.resources})
}

// noFlow stands for a flow of the export that was forgotten there. No flow has this number.
const noFlow = -1

func (m *merger) flowOf(r row, i int) int64 {
	if id, found := m.flows[r.number(i)]; found {
		return id
	}
	return noFlow
}

// count raises what a flow counts to the higher of both, at the later time.
func (m *merger) count(ctx context.Context, r row) error {
	id := m.flowOf(r, 0)
	units, err := bursar.ParseUnits(r.text(3))
	if err != nil || id == noFlow {
		return fmt.Errorf("%w: what a transaction counts: %w", ErrInterchange, err)
	}
	f, err := m.tx.flow(ctx, id)
	if err != nil {
		return err
	}
	at := r.number(4)
	for _, own := range f.Counts {
		if string(own.Class) == r.text(1) && own.Asset == r.text(2) {
			if units.Less(own.Units) {
				units = own.Units
			}
			at = max(at, millis(own.At))
		}
	}
	_, err = m.tx.exec(ctx, `INSERT OR REPLACE INTO counts(flow, class, asset, units, at) VALUES (?, ?, ?, ?, ?)`, id,
		r.text(1), r.text(2), units, at)
	return err
}

func (m *merger) signed(ctx context.Context, r row) error {
	digest, err := r.digest(1)
	if err != nil {
		return err
	}
	_, err = m.tx.exec(ctx, `INSERT OR IGNORE INTO signed(chain, digest, flow, at) VALUES (?, ?, ?, ?)`, r.text(0),
		digest[:], m.flowOf(r, 2), r.number(3))
	return err
}
