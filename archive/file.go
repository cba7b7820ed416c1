package archive

import (
	"bufio"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// form is the first line's mark of a file of this form.
const form = "bursar events 1"

// The lines of a file, each an object of JSON, compressed together by gzip: a head, the events in the order of their
// numbers, and an end with their number and the SHA-256 of all lines before it.
type (
	head struct {
		Form   string    `json:"form"`
		Before time.Time `json:"before"`
	}

	// Event is an event of an archive with its attempts, the oldest first. Body is what was posted, byte for byte.
	Event struct {
		Number      int64     `json:"number"`
		ID          bursar.ID `json:"id"`
		Account     bursar.ID `json:"account"`
		Kind        string    `json:"kind"`
		Subject     bursar.ID `json:"subject"`
		URL         string    `json:"url"`
		Body        []byte    `json:"body"`
		CreatedAt   time.Time `json:"createdAt"`
		DeliveredAt time.Time `json:"deliveredAt"`
		Leases      int64     `json:"leases"`
		Attempts    []Attempt `json:"attempts"`
	}

	// Attempt is one request.
	Attempt struct {
		Number   int64         `json:"number"`
		At       time.Time     `json:"at"`
		Duration time.Duration `json:"nanoseconds"`
		Code     int64         `json:"code"`
		Error    string        `json:"error,omitempty"`
	}

	end struct {
		Events int64  `json:"events"`
		SHA256 string `json:"sha256"`
	}
)

func (e Event) named() store.DeliveredEvent {
	return store.DeliveredEvent{Number: e.Number, ID: e.ID, Attempts: e.Leases}
}

// writer writes the lines of a file.
type writer struct {
	packed *gzip.Writer
	sum    hash.Hash
	count  int64
}

func newWriter(to io.Writer) *writer { return &writer{packed: gzip.NewWriter(to), sum: sha256.New()} }

func (w *writer) line(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	text = append(text, '\n')
	w.sum.Write(text)
	_, err = w.packed.Write(text)
	return err
}

func (w *writer) begin(before time.Time) error { return w.line(head{form, before.UTC()}) }

func (w *writer) event(e store.Delivery, attempts []store.Attempt) error {
	kept := Event{Number: e.Number, ID: e.ID, Account: e.AccountID, Kind: string(e.Kind), Subject: e.Subject, URL: e.URL,
		Body: e.Body, CreatedAt: e.CreatedAt, DeliveredAt: e.DeliveredAt, Leases: e.Attempts}
	for _, a := range attempts {
		kept.Attempts = append(kept.Attempts, Attempt(a))
	}
	w.count++
	return w.line(kept)
}

func (w *writer) end() error {
	err := w.line(end{w.count, hex.EncodeToString(w.sum.Sum(nil))})
	return errors.Join(err, w.packed.Close())
}

// read verifies a file while it calls f with each event. What f was called with is verified only once read returns nil.
func read(name string, f func(Event) error) (Summary, error) {
	file, err := os.Open(name)
	if err != nil {
		return Summary{}, fmt.Errorf("open the archive: %w", err)
	}
	defer file.Close()
	packed, err := gzip.NewReader(bufio.NewReader(file))
	if err != nil {
		return Summary{}, damaged(name, err)
	}
	r := reader{lines: bufio.NewReaderSize(packed, 1<<16), sum: sha256.New(), f: f, summary: Summary{File: name}}
	for !r.ended {
		if err := r.next(); err != nil {
			return r.summary, damaged(name, err)
		}
	}
	if _, err := r.lines.ReadByte(); !errors.Is(err, io.EOF) {
		return r.summary, damaged(name, errors.Join(errors.New("something follows its last line"), err))
	}
	return r.summary, nil
}

// errOfCaller is an error of the caller, which says nothing of the file.
type errOfCaller struct{ error }

func (e errOfCaller) Unwrap() error { return e.error }

func damaged(name string, err error) error {
	if caller := (errOfCaller{}); errors.As(err, &caller) {
		return caller.error
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("%s: %w: %w", name, ErrDamaged, err)
}

// reader reads the lines of a file.
type reader struct {
	lines   *bufio.Reader
	sum     hash.Hash
	f       func(Event) error
	started bool
	ended   bool
	number  int64 // of the last event
	summary Summary
}

func (r *reader) next() error {
	text, err := r.lines.ReadBytes('\n')
	if err != nil {
		return err
	}
	var line struct {
		head
		end
		Event
	}
	if err := json.Unmarshal(text, &line); err != nil {
		return err
	}
	switch {
	case !r.started:
		r.started, r.summary.Before = true, line.Before
		if line.Form != form {
			return fmt.Errorf("the archive's first line is not that of %q", form)
		}
	case line.SHA256 != "":
		r.summary.SHA256 = hex.EncodeToString(r.sum.Sum(nil))
		if r.ended = true; line.SHA256 != r.summary.SHA256 || line.Events != r.summary.Events {
			return errors.New("the archive's lines are not those that its last line counts")
		}
	default:
		if err := r.event(line.Event); err != nil {
			return err
		}
	}
	r.sum.Write(text)
	return nil
}

func (r *reader) event(e Event) error {
	if e.Number <= r.number {
		return fmt.Errorf("event %d follows event %d", e.Number, r.number)
	}
	if r.number = e.Number; r.summary.Events == 0 {
		r.summary.First = e.CreatedAt
	}
	r.summary.Events++
	r.summary.Last = e.CreatedAt
	if err := r.f(e); err != nil {
		return errOfCaller{err}
	}
	return nil
}
