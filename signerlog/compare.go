package signerlog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/store"
)

// Period is what is compared: entries and outgoing transactions from Since on and before Until. Each is looked up on
// the other side whenever that was, so nothing differs for being near the border.
type Period struct {
	Since time.Time // zero: from the beginning
	Until time.Time // zero: to the end of the log
}

// comparison is one run of Compare.
type comparison struct {
	ctx    context.Context
	log    *Log
	report *Report

	registry *bursar.Registry
	text     func(id bursar.ChainID, contract string, a bursar.Amount) string

	sums map[asset]*Sum
	used map[string]*entry // by chain and resource: the entry in a block that used it; others: one that no entry allowed
}

// others stands for every transaction in a block that no entry allowed.
var others = &entry{}

// useUp notes what a transaction in a block used that no entry allowed.
func (c *comparison) useUp(id bursar.ChainID, resources []string) {
	for _, resource := range resources {
		if use := key(id, resource); c.used[use] == nil {
			c.used[use] = others
		}
	}
}

type asset struct {
	chain    bursar.ChainID
	contract string
}

// pageSize is how many outgoing transactions are read at once.
const pageSize = 200

// Compare compares a log with the books of a database, which it only reads. The registry knows the contracts of what
// was ordered, and writes amounts in messages. An error says that the comparison is not complete.
func Compare(ctx context.Context, db *store.DB, log *Log, registry *bursar.Registry, p Period) (Report, error) {
	if p.Until.IsZero() {
		p.Until = log.Ends().Add(time.Millisecond)
	}
	c := &comparison{ctx: ctx, log: log, registry: registry, text: registry.AssetText, sums: map[asset]*Sum{},
		used: map[string]*entry{}, report: &Report{Since: p.Since, Until: p.Until, Signed: map[chain.Kind]int{}}}
	if err := c.outgoing(db); err != nil {
		return *c.report, err
	}
	if err := c.external(db); err != nil {
		return *c.report, err
	}
	for _, e := range log.entries {
		if err := c.entry(db, e); err != nil {
			return *c.report, err
		}
	}
	c.total()
	return *c.report, nil
}

func (c *comparison) within(at time.Time) bool {
	return !at.Before(c.report.Since) && at.Before(c.report.Until)
}

func (c *comparison) differ(d Difference) { c.report.Differences = append(c.report.Differences, d) }

// differs notes a difference of an entry.
func (c *comparison) differs(kind DifferenceKind, e *entry, txID, format string, args ...any) {
	c.differ(Difference{Kind: kind, Chain: e.Chain, Entry: e.number, Outgoing: &e.Outgoing, TxID: txID, At: &e.at,
		Message: fmt.Sprintf(format, args...)})
}

// outgoing goes through all outgoing transactions of the books.
func (c *comparison) outgoing(db *store.DB) error {
	for after := int64(0); ; {
		var page []bursar.OutgoingTx
		err := db.View(c.ctx, func(tx *store.Tx) (err error) {
			if page, err = tx.Outgoing().After(c.ctx, after, pageSize); err != nil || len(page) == 0 {
				return err
			}
			ids := make([]bursar.ID, len(page))
			for i, p := range page {
				ids[i] = p.ID
			}
			versions, err := tx.Outgoing().VersionsOf(c.ctx, ids)
			if err != nil {
				return err
			}
			for _, p := range page {
				of := slices.DeleteFunc(slices.Clone(versions), func(v store.StoredVersion) bool { return v.OutgoingID != p.ID })
				if err := c.one(tx, p, of); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil || len(page) == 0 {
			return err
		}
		after = page[len(page)-1].Number
	}
}

// one compares an outgoing transaction. Its unsigned transaction may be signed and not stored yet, if the service ended
// in between: the same bytes are then signed again.
func (c *comparison) one(tx *store.Tx, p bursar.OutgoingTx, versions []store.StoredVersion) error {
	var newest *entry
	compared := false
	if p.Status == bursar.OutgoingReserved {
		unsigned, err := unsignedIn(p.ID, p.Unsigned)
		if err != nil {
			return err
		}
		of := c.log.byDigest[key(p.Chain, digestOf(unsigned))]
		for _, e := range of {
			c.match(e, p, "", false)
		}
		if len(of) > 0 {
			newest = of[0]
			if err := c.sameAs(newest, p, "", false); err != nil {
				return err
			}
		}
	}
	for _, v := range versions {
		e, err := c.version(tx, p, v)
		if err != nil {
			return err
		}
		if e != nil {
			newest, compared = e, compared || p.TxID == v.TxID
		}
	}
	if newest == nil || compared || !c.counts(newest, p) {
		return nil
	}
	// The attack: somebody adds a row for what they had signed, which is of none of its transactions, or says that
	// nothing was sent yet.
	_, err := c.pays(tx, newest, p)
	return err
}

// counts reports whether an outgoing transaction is to pay what the books settle with it. What expired, was abandoned
// or failed pays nothing, by the books.
func (c *comparison) counts(e *entry, p bursar.OutgoingTx) bool {
	return p.Status != bursar.OutgoingAbandoned && !p.Failed && c.within(e.at)
}

func unsignedIn(id bursar.ID, text []byte) (unsigned chain.UnsignedTx, err error) {
	if len(text) == 0 {
		return unsigned, nil
	}
	if err := json.Unmarshal(text, &unsigned); err != nil {
		return unsigned, fmt.Errorf("read the unsigned transaction of %s: %w", id, err)
	}
	return unsigned, nil
}

func digestOf(unsigned chain.UnsignedTx) string {
	sum := sha256.Sum256(unsigned.Bytes)
	return hex.EncodeToString(sum[:])
}

// sameAs compares purpose and payments of an entry with an outgoing transaction. One that was adopted from a block has
// a purpose of its own.
func (c *comparison) sameAs(e *entry, p bursar.OutgoingTx, txID string, adopted bool) error {
	request, err := outgoing.DecodeRequest(p)
	if err != nil {
		return err
	}
	if !adopted && (e.Outgoing != p.ID || string(e.Kind) != p.Kind) {
		c.differs(OtherPurpose, e, txID, "it was signed as %s of outgoing transaction %s, and the books have it as %s "+
			"of %s", e.Kind, e.Outgoing, p.Kind, p.ID)
	}
	if why := c.unlike(e, request); why != "" {
		c.differs(OtherPayments, e, txID, "%s", why)
	}
	return nil
}

// version compares one signed form of an outgoing transaction, and returns its entry; nil: none is known.
func (c *comparison) version(tx *store.Tx, p bursar.OutgoingTx, v store.StoredVersion) (*entry, error) {
	unsigned, err := unsignedIn(p.ID, v.Unsigned)
	if err != nil {
		return nil, err
	}
	in := p.Height > 0 && p.TxID == v.TxID
	var of []*entry
	adopted := len(unsigned.Bytes) == 0
	if adopted { // from a block, by a database that was older than the chain
		of = c.log.of(p.Chain, v.TxID, unsigned.Reservations)
	} else {
		of = c.log.byDigest[key(p.Chain, digestOf(unsigned))]
	}
	if adopted {
		request, err := outgoing.DecodeRequest(p)
		if err != nil {
			return nil, err
		}
		of = paying(of, v.TxID, request.Payments)
	}
	if len(of) == 0 {
		if in {
			c.useUp(p.Chain, unsigned.Reservations)
		}
		return nil, c.unlogged(tx, p, v, in)
	}
	for _, e := range of {
		c.match(e, p, v.TxID, in)
	}
	e := of[0]
	if err := c.sameAs(e, p, v.TxID, adopted); err != nil {
		return e, err
	}
	if e.TxID != "" && e.TxID != v.TxID {
		c.differs(OtherTx, e, v.TxID, "its bytes make transaction %s, and the books call it %s", e.TxID, v.TxID)
	}
	if in && e.Fee.Less(p.Fee) {
		c.differs(HigherFee, e, v.TxID, "by the books it cost %s, and what was signed can cost no more than %s",
			c.text(p.Chain, "", p.Fee), c.text(p.Chain, "", e.Fee))
	}
	if p.TxID != v.TxID || !c.counts(e, p) {
		return e, nil
	}
	return e, c.settled(tx, e, p)
}

// paying returns of entries, of which the chain includes one, that of a transaction: the one of its ID, or else the
// newest that makes its payments. A transaction that uses a nonce for others is none of them.
func paying(of []*entry, txID string, payments []chain.Payment) []*entry {
	for i, e := range of {
		if e.TxID == txID || len(missing(e.Payments, payments)) == 0 {
			return of[i : i+1]
		}
	}
	return nil
}

// match notes what the books say of an entry.
func (c *comparison) match(e *entry, p bursar.OutgoingTx, txID string, in bool) {
	e.found, e.status = true, p.Status
	if in {
		e.included, e.failed = true, p.Failed
		for _, resource := range e.Resources() {
			c.used[key(e.Chain, resource)] = e
		}
	}
}

// unlogged notes a transaction of the books of which the log has nothing.
func (c *comparison) unlogged(tx *store.Tx, p bursar.OutgoingTx, v store.StoredVersion, in bool) error {
	at := v.CreatedAt
	why := ""
	switch {
	case at.Before(c.report.Since) || !at.Before(c.report.Until) && at.Before(c.log.Ends()):
		return nil
	case !c.log.began.IsZero() && at.Before(c.log.began.Add(bursar.ClockTolerance)):
		why = "it is older than the log"
	case at.After(c.log.Ends().Add(-bursar.ClockTolerance)):
		why = "it is newer than the log"
	}
	if why != "" {
		c.report.Uncompared = append(c.report.Uncompared, Uncompared{p.ID, v.TxID, at, why})
		return nil
	}
	state := "it is in no block"
	if in {
		state = fmt.Sprintf("it is in block %d", p.Height)
	}
	c.differ(Difference{Kind: UnknownToLog, Chain: p.Chain, Outgoing: &p.ID, TxID: v.TxID, At: &at,
		Message: fmt.Sprintf("the books have it as %s, and this log does not: another signer has the seed, or the row was "+
			"added; %s", p.Kind, state)})
	if !in || p.Status != bursar.OutgoingFinal || p.Failed {
		return nil
	}
	return c.addBooks(tx, p)
}
