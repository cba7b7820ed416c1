package archive

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// booksForm is the first line's mark of a file of this form.
const booksForm = "bursar books 1"

// The lines of a file of the books, each an object of JSON, compressed together by gzip: a head, the links in their
// order, and an end with their number and the SHA-256 of all lines before it. Amounts are whole numbers of the smallest
// unit, as text.
type (
	booksHead struct {
		Form  string `json:"form"`
		After int64  `json:"after"` // the link before the first
	}

	bookLink struct {
		Link    int64       `json:"link"`
		At      time.Time   `json:"at"`
		KeyID   string      `json:"keyID"`
		Hash    []byte      `json:"hash"`
		Size    int64       `json:"size"`
		Entries []bookEntry `json:"entries"`
	}

	bookEntry struct {
		Number   int64         `json:"number"`
		Kind     ledger.Kind   `json:"kind"`
		Ref      ledger.Ref    `json:"ref"`
		At       time.Time     `json:"at"`
		Postings []bookPosting `json:"postings"`
	}

	bookPosting struct {
		Debit  ledger.Account      `json:"debit"`
		Credit ledger.Account      `json:"credit"`
		Asset  bursar.CurrencyCode `json:"asset"`
		Amount bursar.Amount       `json:"amount"`
	}

	booksEnd struct {
		Links  int64  `json:"links"`
		SHA256 string `json:"sha256"`
	}
)

func (w *writer) sumText() string { return hex.EncodeToString(w.sum.Sum(nil)) }

func (w *writer) link(l store.Link) error {
	kept := bookLink{Link: l.Number, At: l.At.UTC(), KeyID: l.KeyID, Hash: l.Hash, Size: l.Size}
	for _, e := range l.Entries {
		one := bookEntry{Number: e.Number, Kind: e.Kind, Ref: e.Ref, At: e.At.UTC()}
		for _, p := range e.Postings {
			one.Postings = append(one.Postings, bookPosting(p))
		}
		kept.Entries = append(kept.Entries, one)
	}
	w.count++
	return w.line(kept)
}

func (b bookLink) link() store.Link {
	l := store.Link{Number: b.Link, At: b.At.UTC(), KeyID: b.KeyID, Hash: b.Hash, Size: b.Size}
	for _, e := range b.Entries {
		one := store.Linked{Number: e.Number, Entry: ledger.Entry{Kind: e.Kind, Ref: e.Ref, At: e.At.UTC()}}
		for _, p := range e.Postings {
			one.Postings = append(one.Postings, ledger.Posting(p))
		}
		l.Entries = append(l.Entries, one)
	}
	return l
}

// readBooks verifies a file while it calls f with each link. What f was called with is verified only once readBooks
// returns nil.
func readBooks(name string, f func(store.Link) error) (Books, error) {
	file, err := os.Open(name)
	if err != nil {
		return Books{}, fmt.Errorf("open the archive: %w", err)
	}
	defer file.Close()
	packed, err := gzip.NewReader(bufio.NewReader(file))
	if err != nil {
		return Books{}, damaged(name, err)
	}
	r := booksReader{lines: bufio.NewReaderSize(packed, 1<<16), f: f, books: Books{File: name}}
	sum := sha256.New()
	for !r.ended {
		text, err := r.lines.ReadBytes('\n')
		if err == nil {
			err = r.next(text, hex.EncodeToString(sum.Sum(nil)))
		}
		if err != nil {
			return r.books, damaged(name, err)
		}
		sum.Write(text)
	}
	if _, err := r.lines.ReadByte(); !errors.Is(err, io.EOF) {
		return r.books, damaged(name, errors.Join(errors.New("something follows its last line"), err))
	}
	return r.books, nil
}

// booksReader reads the lines of a file of the books.
type booksReader struct {
	lines   *bufio.Reader
	f       func(store.Link) error
	started bool
	ended   bool
	last    int64 // the last link
	count   int64
	books   Books
}

// next takes a line; sum is that of the lines before it.
func (r *booksReader) next(text []byte, sum string) error {
	var line struct {
		booksHead
		bookLink
		booksEnd
	}
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&line); err != nil {
		return err
	}
	switch {
	case !r.started:
		r.started, r.last = true, line.After
		if line.Form != booksForm {
			return fmt.Errorf("the archive's first line is not that of %q", booksForm)
		}
		return nil
	case line.SHA256 != "":
		r.ended, r.books.SHA256 = true, sum
		if line.SHA256 != sum || line.Links != r.count {
			return errors.New("the archive's lines are not those that its last line counts")
		}
		return nil
	}
	return r.link(line.link())
}

func (r *booksReader) link(l store.Link) error {
	if l.Number != r.last+1 || int64(len(l.Entries)) != l.Size {
		return fmt.Errorf("link %d with %d of %d entries follows link %d", l.Number, len(l.Entries), l.Size, r.last)
	}
	if r.books.First == 0 {
		r.books.First, r.books.From = l.Number, l.At
	}
	r.last, r.books.Last, r.books.To = l.Number, l.Number, l.At
	r.count++
	r.books.Entries += int64(len(l.Entries))
	if err := r.f(l); err != nil {
		return errOfCaller{err}
	}
	return nil
}
