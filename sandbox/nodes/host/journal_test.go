package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// change is a record of these tests. A channel in Bad cannot be encoded.
type change struct {
	Text string `json:"text"`
	Bad  any    `json:"bad,omitempty"`
}

const name = "journal.jsonl"

// open opens the journal in a directory until the end of the test, and returns the texts that it held.
func open(t *testing.T, dir string) (*Host, *Journal[change], []string, error) {
	t.Helper()
	var (
		h     = New("test", Options{DataDir: dir})
		j     *Journal[change]
		texts []string
	)
	err := h.Start(t.Context(), func(ctx context.Context) (err error) {
		j, err = OpenJournal(ctx, h, name, Lines[change]{}, func(c change) error {
			if c.Text == "refused" {
				return errors.New("it is refused")
			}
			texts = append(texts, c.Text)
			return nil
		})
		return err
	})
	t.Cleanup(func() { h.Close() })
	return h, j, texts, err
}

// mustOpen is open for a journal that can be read and holds these texts.
func mustOpen(t *testing.T, dir string, want ...string) (*Host, *Journal[change]) {
	t.Helper()
	h, j, texts, err := open(t, dir)
	if err != nil || !slices.Equal(texts, want) || j.Count() != len(want) {
		t.Fatalf("the journal holds %d records %q, want %q: %v", j.Count(), texts, want, err)
	}
	return h, j
}

func add(t *testing.T, j *Journal[change], texts ...string) {
	t.Helper()
	for _, text := range texts {
		if err := j.Append(change{Text: text}); err != nil {
			t.Fatal(err)
		}
	}
}

func check(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func content(t *testing.T, dir string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, name))
	check(t, err)
	return string(raw)
}

// withContent is a directory with a journal of this content.
func withContent(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	check(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	return dir
}

// TestRecordsSurviveAnAbruptEnd opens what is in the directory while its node runs, which is what a kill leaves behind.
func TestRecordsSurviveAnAbruptEnd(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, j := mustOpen(t, dir)
	add(t, j, "one", "two\n", "")
	left := withContent(t, content(t, dir))
	h, j := mustOpen(t, left, "one", "two\n", "")
	add(t, j, "four")
	check(t, h.Close())
	mustOpen(t, left, "one", "two\n", "", "four")
	info, err := os.Stat(filepath.Join(dir, name))
	if err != nil || info.Mode() != fs.FileMode(0o600) {
		t.Errorf("the journal was created with %v: %v", info.Mode(), err)
	}
}

// TestATornLastRecordIsCutOff tears the last record at each of its bytes.
func TestATornLastRecordIsCutOff(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, j := mustOpen(t, dir)
	add(t, j, "one", "two")
	whole := content(t, dir)
	add(t, j, "three")
	for size, all := len(whole), content(t, dir); size < len(all); size++ {
		torn := withContent(t, all[:size])
		h, j := mustOpen(t, torn, "one", "two")
		if content(t, torn) != whole {
			t.Fatalf("torn at byte %d, the file holds %q, want %v", size, content(t, torn), whole)
		}
		add(t, j, "four")
		check(t, h.Close())
		mustOpen(t, torn, "one", "two", "four")
	}
}

// TestDamageIsNamed checks that what cannot be read is refused by its place, also as the last line, and that the file
// stays as it was.
func TestDamageIsNamed(t *testing.T) {
	t.Parallel()
	const first = `{"text":"one"}` + "\n"
	for text, want := range map[string]string{
		first + "rubbish\n" + first:               "record 2 at byte 15: the journal is damaged: invalid character",
		first + first + `{"text":` + "\n":         "record 3 at byte 30: the journal is damaged: unexpected end",
		first + "\n" + first:                      "record 2 at byte 15: the journal is damaged: unexpected end",
		"\x00\n" + first:                          "record 1 at byte 0: the journal is damaged: invalid character",
		first + `{"text":"refused"}` + "\n" + "x": "record 2 at byte 15: it is refused",
	} {
		dir := withContent(t, text)
		_, _, _, err := open(t, dir)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), filepath.Join(dir, name)) {
			t.Errorf("%q is read with %v, want %q", text, err, want)
		}
		if errors.Is(err, ErrDamaged) != strings.Contains(want, "damaged") {
			t.Errorf("%q: %v is damage: %t", text, err, errors.Is(err, ErrDamaged))
		}
		if got := content(t, dir); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// TestAFailedWriteFreezesTheJournal checks that nothing is written after a write that failed, which may have left a
// torn record: another one after it would be damage.
func TestAFailedWriteFreezesTheJournal(t *testing.T) {
	t.Parallel()
	for cause, fail := range map[string]func(j *Journal[change]) error{
		"the file": func(j *Journal[change]) error {
			file := j.file
			defer func() { j.file = file }()
			var err error
			if j.file, err = os.Open(j.path); err != nil { // for reading only
				t.Fatal(err)
			}
			defer j.file.Close()
			return j.Append(change{Text: "lost"})
		},
		"the record": func(j *Journal[change]) error { return j.Append(change{Bad: make(chan int)}) },
		"the file that replaces it": func(j *Journal[change]) error {
			check(t, os.Mkdir(j.path+".new", 0o700))
			return j.Replace([]change{{Text: "lost"}})
		},
		"a record that replaces it": func(j *Journal[change]) error {
			return j.Replace([]change{{Text: "lost"}, {Bad: make(chan int)}})
		},
	} {
		t.Run(cause, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			h, j := mustOpen(t, dir)
			add(t, j, "one")
			if err := j.Err(); err != nil {
				t.Fatal(err)
			}
			first := fail(j)
			if first == nil {
				t.Fatal("the write has not failed")
			}
			for _, err := range []error{j.Err(), j.Append(change{Text: "two"}), j.Replace(nil)} {
				if err != first {
					t.Errorf("got %v, want %v", err, first)
				}
			}
			check(t, h.Close())
			if err := j.Err(); err != first {
				t.Errorf("after Close: got %v, want %v", err, first)
			}
			mustOpen(t, dir, "one")
		})
	}
}

func TestReplacedRecordsAreGone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h, j := mustOpen(t, dir)
	check(t, j.Replace(nil))
	add(t, j, "one", "two")
	check(t, j.Replace([]change{{Text: "two"}, {Text: "three"}}))
	add(t, j, "four")
	check(t, h.Close())
	check(t, os.WriteFile(filepath.Join(dir, name+".new"), []byte("half of"), 0o600)) // what an abrupt end may leave
	h, j = mustOpen(t, dir, "two", "three", "four")
	check(t, j.Replace(nil))
	if text := content(t, dir); text != "" || j.Count() != 0 {
		t.Errorf("%d records are left: %q, want %q and 0", j.Count(), text, "")
	}
	check(t, h.Close())
	mustOpen(t, dir)
}

// TestAClosedJournalTakesNothing also holds without a directory: a node in memory that is closed changes no more.
func TestAClosedJournalTakesNothing(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"", t.TempDir()} {
		h, j := mustOpen(t, dir)
		add(t, j, "one")
		check(t, j.Err(), h.Close(), j.Close())
		for _, err := range []error{j.Err(), j.Append(change{Text: "two"}), j.Replace([]change{{}})} {
			if !errors.Is(err, ErrClosed) {
				t.Errorf("in %q: got %v, want %v", dir, err, ErrClosed)
			}
		}
	}
	var none *Journal[change]
	check(t, none.Err(), none.Append(change{Text: "replayed"}))
}

func TestAReplayEndsWithItsContext(t *testing.T) {
	t.Parallel()
	dir := withContent(t, strings.Repeat(`{"text":"one"}`+"\n", 10))
	ctx, cancel := context.WithCancel(t.Context())
	h, replayed := New("test", Options{DataDir: dir}), 0
	err := h.Start(ctx, func(ctx context.Context) error {
		_, err := OpenJournal(ctx, h, name, Lines[change]{}, func(change) error {
			if replayed++; replayed == 3 {
				cancel()
			}
			return nil
		})
		return err
	})
	if !errors.Is(err, context.Canceled) || replayed != 3 {
		t.Errorf("%d records were replayed: %v, want %v and 3", replayed, err, context.Canceled)
	}
}

// FuzzJournal reads any bytes as lines: the result is whole records or an error, and whole records stay whole.
func FuzzJournal(f *testing.F) {
	f.Add([]byte(`{"text":"one"}` + "\n" + `{"text":"two"}` + "\n" + `{"te`))
	f.Add([]byte("null\n\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		dir := withContent(t, string(raw))
		h, _, first, err := open(t, dir)
		check(t, h.Close())
		h, _, second, again := open(t, dir)
		check(t, h.Close())
		if (err == nil) != (again == nil) || err == nil && !slices.Equal(first, second) {
			t.Errorf("read %q, %v, then %q, %v", first, err, second, again)
		}
		if kept := content(t, dir); !strings.HasPrefix(string(raw), kept) {
			t.Errorf("%q became %q", raw, fmt.Sprintf("%.100s", kept))
		}
	})
}
