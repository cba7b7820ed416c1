package marks_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/bursar/bursar/marks"
)

// signature is a raise by one signature, which has the entry of another one leave the journal.
func signature(n, ended int64) marks.State {
	return marks.State{Signed: map[string]int64{"ethereum": n},
		Journal: []marks.Entry{{Chain: "ethereum", Number: n, OutgoingID: fmt.Sprintf("%032d", n),
			Content: json.RawMessage(`{"text":"` + strings.Repeat("x", 1200) + `"}`)}},
		Ended: []marks.Ended{{Chain: "ethereum", Number: ended}}}
}

// newMarks creates marks with so many signatures in the journal.
func newMarks(t testing.TB, signatures int64) (file *marks.File, s marks.State) {
	t.Helper()
	file = marks.NewFile(filepath.Join(t.TempDir(), "m"))
	for n := int64(1); n <= signatures; n++ {
		one := signature(n, 0)
		s.Signed, s.Journal = one.Signed, append(s.Journal, one.Journal...)
	}
	s, err := file.Create(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	return file, s
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// written returns a state as it is written.
func written(t *testing.T, s marks.State) string {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Whatever processes that share a file write, and whenever one of them starts again, the file says what marks in memory
// say.
func TestAFileSaysWhatMemorySays(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 7))
	path, memory := filepath.Join(t.TempDir(), "m"), &marks.Memory{}
	files := []*marks.File{marks.NewFile(path), marks.NewFile(path)}
	for _, k := range []marks.Keeper{files[0], memory} {
		if _, err := k.Create(ctx, marks.State{Beat: 1, Keeper: "a"}); err != nil {
			t.Fatal(err)
		}
	}
	for n := int64(1); n <= 700; n++ {
		i := random.IntN(len(files))
		if random.IntN(100) == 0 {
			files[i] = marks.NewFile(path)
		}
		by := signature(n, n-random.Int64N(20))
		switch random.IntN(20) {
		case 0:
			by = marks.State{Beat: n, Link: n, LinkHash: []byte{byte(n)}, Final: map[string]int64{"tron": n}}
		case 1:
			by = marks.State{Stopped: map[string]int64{"evm": n}, Indexes: map[string]int64{"evm": n}}
		}
		want, err := memory.Raise(ctx, by)
		if err != nil {
			t.Fatal(err)
		}
		got, err := files[i].Raise(ctx, by)
		if err != nil || written(t, got) != written(t, want) {
			t.Fatalf("raise %d returns %s, %v, want %s", n, written(t, got), err, written(t, want))
		}
	}
	want, _ := memory.Load(ctx)
	if got, err := files[0].Load(ctx); err != nil || written(t, got) != written(t, want) {
		t.Errorf("the file has %s, %v, want %s", written(t, got), err, written(t, want))
	}
}

// A line that was not written to its end was never relied on: the marks are those before it, whatever part of it is on
// the disk, and the next raise follows them. A copy that was cut off looks the same, so the journal counts as complete
// only for what is signed from then on.
func TestAnUnfinishedLineIsOverwritten(t *testing.T) {
	t.Parallel()
	file, _ := newMarks(t, 3)
	before, err := file.Raise(ctx, signature(4, 1))
	if err != nil {
		t.Fatal(err)
	}
	old := read(t, file.Path())
	cutOff := before
	cutOff.Since = map[string]int64{"ethereum": 4}
	if _, err := file.Raise(ctx, signature(5, 2)); err != nil {
		t.Fatal(err)
	}
	whole := read(t, file.Path())
	if !bytes.HasPrefix(whole, old) || len(whole) > len(old)+3000 {
		t.Fatalf("a raise changed %d bytes into %d, want one line more", len(old), len(whole))
	}
	for cut := len(old); cut < len(whole); cut += 1 + (cut-len(old))/20 {
		zeros := bytes.Repeat([]byte{0}, len(whole)-cut)
		for name, torn := range map[string][]byte{
			"cut":            whole[:cut],
			"zeros":          append(bytes.Clone(whole[:cut]), zeros...),
			"a hole in it":   append(append(bytes.Clone(whole[:cut]), zeros[1:]...), '\n'),
			"zeros at first": append(append(bytes.Clone(old), zeros...), whole[len(old)+len(zeros):]...),
		} {
			if name == "a hole in it" && cut >= len(whole)-1 {
				continue // that is the whole line
			}
			write(t, file.Path(), torn)
			want := cutOff
			if cut == len(old) && name == "cut" {
				want = before // that is before the line
			}
			again := marks.NewFile(file.Path())
			if got, err := again.Load(ctx); err != nil || written(t, got) != written(t, want) {
				t.Fatalf("%s at %d: the marks are %s, %v, want %s", name, cut, written(t, got), err, written(t, want))
			}
			if cut%5 != 0 {
				continue
			}
			got, err := again.Raise(ctx, signature(6, 3))
			if err != nil || got.Signed["ethereum"] != 6 || len(got.Journal) != len(before.Journal) {
				t.Fatalf("%s at %d: the next raise returns %s, %v, want 6 signed", name, cut, written(t, got), err)
			}
			if kept, err := marks.NewFile(file.Path()).Load(ctx); err != nil || written(t, kept) != written(t, got) {
				t.Fatalf("%s at %d: the marks are %s, %v, want %s", name, cut, written(t, kept), err, written(t, got))
			}
		}
	}
}

// Another process does not end a line that one was killed in: it overwrites it, although it has read the lines before.
func TestAnotherProcessOverwritesAnUnfinishedLine(t *testing.T) {
	t.Parallel()
	file, _ := newMarks(t, 3)
	if _, err := file.Raise(ctx, signature(4, 1)); err != nil {
		t.Fatal(err)
	}
	write(t, file.Path(), append(read(t, file.Path()), `01234567 {"version":1,"beat":9`...))
	if _, err := file.Raise(ctx, signature(5, 2)); err != nil {
		t.Fatal(err)
	}
	if got, err := marks.NewFile(file.Path()).Load(ctx); err != nil || got.Signed["ethereum"] != 5 || got.Beat != 0 {
		t.Errorf("the marks are %s, %v, want 5 signed, and no beat", written(t, got), err)
	}
}

// A line that somebody or the disk has changed, or that is missing, makes the file unusable, and it stays as it is.
func TestAChangedLineIsNoticed(t *testing.T) {
	t.Parallel()
	file, _ := newMarks(t, 2)
	for n := int64(3); n < 6; n++ {
		if _, err := file.Raise(ctx, signature(n, 0)); err != nil {
			t.Fatal(err)
		}
	}
	whole := read(t, file.Path())
	lines := bytes.SplitAfter(whole, []byte("\n"))
	wrong := map[string][]byte{
		"a line is missing":     bytes.Join([][]byte{lines[0], lines[2], lines[3]}, nil),
		"a line comes twice":    bytes.Join([][]byte{lines[0], lines[1], lines[1], lines[2]}, nil),
		"another state":         bytes.Join([][]byte{bytes.Replace(lines[0], []byte(":2"), []byte(":1"), 1), lines[1]}, nil),
		"a line without sum":    bytes.Join([][]byte{lines[0], []byte("{}\n")}, nil),
		"an empty line":         bytes.Join([][]byte{lines[0], []byte("\n")}, nil),
		"the last line changed": append(bytes.Clone(whole[:len(whole)-9]), "xxxxxxx}\n"...),
	}
	for i := len(lines[0]); i < len(whole)-1; i += 113 {
		changed := bytes.Clone(whole)
		changed[i] ^= 1
		wrong[fmt.Sprintf("byte %d", i)] = changed
	}
	for name, text := range wrong {
		path := filepath.Join(t.TempDir(), "m")
		write(t, path, text)
		if got, err := marks.NewFile(path).Raise(ctx, marks.State{Beat: 1}); !errors.Is(err, marks.ErrUnusable) {
			t.Errorf("%s: a raise returns %s, %v, want %v", name, written(t, got), err, marks.ErrUnusable)
		}
		if !bytes.Equal(read(t, path), text) {
			t.Errorf("%s: the file was changed, want it as it was", name)
		}
	}
}

// Where an operator puts another copy of the marks in the file's place, or into it, the next raise follows that.
func TestAnotherCopyOfTheMarksIsRead(t *testing.T) {
	t.Parallel()
	for name, put := range map[string]func(t *testing.T, path string, text []byte){
		"into it": write,
		"in its place": func(t *testing.T, path string, text []byte) {
			write(t, path+".copy", text)
			if err := os.Rename(path+".copy", path); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, _ := newMarks(t, 3)
			copied := read(t, file.Path())
			for n := int64(4); n < 8; n++ {
				if _, err := file.Raise(ctx, signature(n, 0)); err != nil {
					t.Fatal(err)
				}
			}
			put(t, file.Path(), copied)
			if got, err := file.Raise(ctx, marks.State{Beat: 5}); err != nil || got.Signed["ethereum"] != 3 {
				t.Errorf("a raise returns %s, %v, want 3 signed", written(t, got), err)
			}
			other, _ := newMarks(t, 40)
			put(t, file.Path(), read(t, other.Path()))
			if got, err := file.Raise(ctx, marks.State{Beat: 5}); err != nil || got.Signed["ethereum"] != 40 {
				t.Errorf("a raise returns %s, %v, want 40 signed", written(t, got), err)
			}
		})
	}
}

// A process that stops leaves a state alone, which is one line, as earlier versions read it, and so does the first
// raise of another one. The file does not grow without end.
func TestAFileIsReplacedByItsState(t *testing.T) {
	t.Parallel()
	file, _ := newMarks(t, 3)
	lines := func() int { return bytes.Count(read(t, file.Path()), []byte("\n")) }
	most := 0
	for n := int64(4); n < 1500; n++ {
		if _, err := file.Raise(ctx, signature(n, n-3)); err != nil {
			t.Fatal(err)
		}
		most = max(most, lines())
	}
	if most < 100 || most > 600 {
		t.Errorf("the file had up to %d lines, want hundreds, and not all 1,500", most)
	}
	stopped, err := file.Raise(ctx, marks.State{Stopped: map[string]int64{"evm": 7}})
	if err != nil {
		t.Fatal(err)
	}
	var state marks.State
	if err := json.Unmarshal(read(t, file.Path()), &state); err != nil || !reflect.DeepEqual(state, stopped) {
		t.Errorf("the file of a process that stopped has %s, %v, want %s", written(t, state), err, written(t, stopped))
	}
	for n := int64(1500); n < 1503; n++ {
		if _, err := file.Raise(ctx, signature(n, n-3)); err != nil {
			t.Fatal(err)
		}
	}
	if got := lines(); got != 4 {
		t.Errorf("after three raises the file has %d lines, want 4", got)
	}
	if _, err := marks.NewFile(file.Path()).Raise(ctx, marks.State{Beat: 8}); err != nil || lines() != 1 {
		t.Errorf("after the first raise of another process the file has %d lines (%v), want 1", lines(), err)
	}
}

// BenchmarkRaise counts a signature while so many have not ended.
func BenchmarkRaise(b *testing.B) {
	for _, n := range []int64{10, 500, 4000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			file, _ := newMarks(b, n)
			for next := n + 1; b.Loop(); next++ {
				if _, err := file.Raise(ctx, signature(next, next-n)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
