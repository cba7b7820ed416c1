package store

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"math/big"
	"time"

	"github.com/bursar/bursar/ledger"
)

// Checkpoint is up to where the postings of the books are in archives. It covers the links from First to Link, whose
// postings one transaction removed; those before are covered by the checkpoints before it.
type Checkpoint struct {
	First     int64
	Link      int64 // 0: nothing is archived
	KeyID     string
	Hash      []byte
	Remains   []byte // the code of what stays of these links: their entries' names, and orders
	Sums      []byte // the code of all archived sums
	Until     time.Time
	File      string // the SHA-256 of the archive's lines, in hexadecimal
	RemovedAt time.Time
	Altered   bool // somebody else than this service wrote it, or the one before it
	Unsure    bool // it was written under a key that is not here: nobody without that key can verify it
	seal      []byte
}

var checkpointColumns = columnsOf([]column[Checkpoint]{
	{"first", func(c *Checkpoint) any { return &c.First }},
	{"link", func(c *Checkpoint) any { return &c.Link }},
	{"key_id", func(c *Checkpoint) any { return &c.KeyID }},
	{"hash", func(c *Checkpoint) any { return &c.Hash }},
	{"remains", func(c *Checkpoint) any { return &c.Remains }},
	{"sums", func(c *Checkpoint) any { return &c.Sums }},
	{"until", func(c *Checkpoint) any { return instant{&c.Until} }},
	{"file", func(c *Checkpoint) any { return &c.File }},
	{"removed_at", func(c *Checkpoint) any { return instant{&c.RemovedAt} }},
	{"seal", func(c *Checkpoint) any { return &c.seal }},
})

// sealCheckpoint covers a checkpoint and, by its seal, the one before it.
func (k sealKey) sealCheckpoint(before []byte, c Checkpoint) []byte {
	f := k.sum("bursar checkpoint v1")
	f.bytes(before)
	f.number(c.First)
	f.number(c.Link)
	f.text(c.KeyID)
	f.bytes(c.Hash)
	f.bytes(c.Remains)
	f.bytes(c.Sums)
	f.number(c.Until.UnixMicro())
	f.text(c.File)
	f.number(c.RemovedAt.UnixMicro())
	return f.Sum([]byte(k.id))
}

// evaluate notes whether a checkpoint was written by this service, behind another one.
func (k sealKey) evaluate(before Checkpoint, c *Checkpoint) {
	c.Unsure = k.id == "" && c.writer() != ""
	follows := c.First == before.Link+1 && c.Link >= c.First
	c.Altered = !follows || !c.Unsure && !hmac.Equal(c.seal, k.sealCheckpoint(before.seal, *c))
}

// writer names the key that a checkpoint was written under, which need not be that of its last link: links may be older
// than the key. It is empty for none.
func (c Checkpoint) writer() string { return string(c.seal[:max(0, len(c.seal)-sha256.Size)]) }

// At returns the last link of the checkpoint, behind which the books begin.
func (c Checkpoint) At() Link { return Link{Number: c.Link, KeyID: c.KeyID, Hash: c.Hash} }

// Newest returns the newest checkpoint; the zero one where nothing is archived.
func (tx Checkpoints) Newest(ctx context.Context) (newest Checkpoint, err error) {
	list, err := checkpointColumns.rows(ctx, tx.Tx, "read the newest checkpoint",
		`FROM checkpoints WHERE link > 0 ORDER BY link DESC LIMIT 2`)
	if err != nil || len(list) == 0 {
		return newest, err
	}
	var before Checkpoint
	if len(list) > 1 {
		before = list[1]
	}
	newest = list[0]
	tx.seal.evaluate(before, &newest)
	return newest, nil
}

// After returns up to limit checkpoints that end behind a link, oldest first. The link must be that of a checkpoint, or
// 0.
func (tx Checkpoints) After(ctx context.Context, link int64, limit int) ([]Checkpoint, error) {
	var before Checkpoint
	if link > 0 {
		var err error
		if before, err = checkpointColumns.one(ctx, tx.Tx, "read a checkpoint", `FROM checkpoints WHERE link = $1`,
			link); err != nil {
			return nil, err
		}
	}
	list, err := checkpointColumns.rows(ctx, tx.Tx, "read checkpoints",
		`FROM checkpoints WHERE link > $1 ORDER BY link LIMIT $2`, link, limit)
	for i := range list {
		tx.seal.evaluate(before, &list[i])
		before = list[i]
	}
	return list, err
}

// Holds reports whether what stays of a checkpoint's links is what it was when their postings were removed: no entry
// was changed, added or removed, no order, and no posting is back. The error is ErrOtherKey where this process cannot
// verify.
func (tx Checkpoints) Holds(ctx context.Context, c Checkpoint) (bool, error) {
	if c.Altered {
		return false, nil
	}
	if c.Unsure {
		return false, ErrOtherKey
	}
	links, err := tx.Links().After(ctx, c.First-1, int(c.Link-c.First+1))
	if err != nil {
		return false, err
	}
	return hmac.Equal(c.Remains, tx.seal.remains(links)), nil
}

// remains is the code of links as they are read.
func (k sealKey) remains(links []Link) []byte {
	f := k.sum("bursar remains v1")
	for _, l := range links {
		f.number(l.Number)
		f.number(l.At.UnixMicro())
		f.text(l.KeyID)
		f.bytes(l.Hash)
		f.number(l.Size)
		f.number(int64(len(l.Entries)))
		for _, e := range l.Entries {
			f.entry(e.Number, e.Entry)
			if e.order != nil {
				f.order(*e.order)
			}
		}
	}
	return f.Sum(nil)
}

var archivedColumns = columnsOf([]column[postedRow]{
	{"account", func(p *postedRow) any { return &p.key.Account }},
	{"asset", func(p *postedRow) any { return &p.key.Asset }},
	{"debits", func(p *postedRow) any { return &p.Debits }},
	{"credits", func(p *postedRow) any { return &p.Credits }},
	{"link", func(p *postedRow) any { return &p.Link }},
	{"overdrawn", func(p *postedRow) any { return &p.Overdrawn }},
})

// SumsOf returns the sums of what is archived of some balances; those without any are not in the map.
func (tx Checkpoints) SumsOf(ctx context.Context, keys []ledger.Key) (map[ledger.Key]Posted, error) {
	found := map[ledger.Key]Posted{}
	if len(keys) == 0 {
		return found, nil
	}
	source, those, args, err := sought(tx.Tx, "archived_sums", "a", []string{"account", "asset"}, keyArgs(keys))
	if err != nil {
		return nil, err
	}
	return found, tx.archived(ctx, found, source+` WHERE `+those, args...)
}

// SumsOfAccounts returns the sums of what is archived of some accounts, in every asset.
func (tx Checkpoints) SumsOfAccounts(ctx context.Context, accounts ...ledger.Account) (map[ledger.Key]Posted, error) {
	names := make([]string, len(accounts))
	for i, a := range accounts {
		names[i] = string(a)
	}
	those, args := among(tx.Tx, "account", names)
	found := map[ledger.Key]Posted{}
	return found, tx.archived(ctx, found, `archived_sums WHERE `+those, args...)
}

// EachSum calls f with the sums of everything that is archived, in no order, and reports whether they are what the
// checkpoint says of them. It reads a bounded number of them with each statement.
func (tx Checkpoints) EachSum(ctx context.Context, c Checkpoint, f func(ledger.Key, Posted)) (hold bool,
	err error) {
	total, count := new(sumsCode), 0
	var after ledger.Key
	for {
		page, err := archivedColumns.rows(ctx, tx.Tx, "read all archived sums", `FROM archived_sums
			WHERE (account, asset) > ($1, $2) ORDER BY account, asset LIMIT $3`,
			string(after.Account), string(after.Asset), balancesAtOnce)
		if err != nil {
			return false, err
		}
		for _, p := range page {
			total.add(tx.seal, p.key, p.Posted)
			f(p.key, p.Posted)
			after = p.key
		}
		if count += len(page); len(page) < balancesAtOnce {
			return bytes.Equal(total.bytes(), c.Sums) || c.Link == 0 && count == 0, nil
		}
	}
}

func (tx *Tx) archived(ctx context.Context, into map[ledger.Key]Posted, from string, args ...any) error {
	_, err := rows(ctx, tx, "read archived sums", func(s scanner) (none struct{}, err error) {
		p, err := archivedColumns.scan(s)
		into[p.key] = p.Posted
		return none, err
	}, archivedColumns.query+`FROM `+from, args...)
	return err
}

// sumsCode is the code of a set of sums: the sum of their codes modulo 2²⁵⁶, so that one that changes is taken out and
// put in again at no cost for the others (Bellare and Micciancio, "A new paradigm for collision-free hashing",
// EUROCRYPT 1997, AdHash). Anyone who lacks the key knows no code of a single sum.
type sumsCode struct{ big.Int }

const sumsCodeBits = 256

func (c *sumsCode) of(k sealKey, key ledger.Key, p Posted) *big.Int {
	f := k.sum("bursar archived sum v1")
	f.text(string(key.Account))
	f.text(string(key.Asset))
	f.text(p.Debits.String())
	f.text(p.Credits.String())
	f.number(p.Link)
	if p.Overdrawn {
		f.number(1)
	}
	return new(big.Int).SetBytes(f.Sum(nil))
}

func (c *sumsCode) add(k sealKey, key ledger.Key, p Posted) {
	c.Add(&c.Int, c.of(k, key, p))
	c.And(&c.Int, sumsCodeMask)
}

func (c *sumsCode) remove(k sealKey, key ledger.Key, p Posted) {
	c.Sub(&c.Int, c.of(k, key, p))
	c.And(&c.Int, sumsCodeMask) // of a negative number too: two's complement (math/big, Int.And)
}

func (c *sumsCode) bytes() []byte { return c.FillBytes(make([]byte, sumsCodeBits/8)) }

var sumsCodeMask = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), sumsCodeBits), big.NewInt(1))

// AddUp adds the postings of a link to sums, entry by entry, by the same rule as booking. Every booking transaction
// keeps the balances locked until its link is written, so the order of links is the order in which each balance moved.
// A customer whom an entry took below zero against the rules is overdrawn until the balance is no longer below zero.
func AddUp(sums map[ledger.Key]Posted, l Link) error {
	for _, e := range l.Entries {
		keys, books := e.Keys(), ledger.Books{}
		for _, k := range keys {
			books[k] = sums[k].Balance
		}
		over, err := books.Replay(e.Entry)
		if err != nil {
			return fmt.Errorf("entry %d: %w", e.Number, err)
		}
		for _, k := range keys {
			_, below := books[k].Net(ledger.Liability)
			overdrawn := false
			for _, o := range over {
				overdrawn = overdrawn || o == k
			}
			sums[k] = Posted{Balance: books[k], Link: l.Number, Unchecked: true,
				Overdrawn: below && (sums[k].Overdrawn || overdrawn)}
		}
	}
	return nil
}
