package proof

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar/signer/memory"
)

// exported returns the export of a log, and the key of its signer.
func exported(t *testing.T, keeper memory.Keeper) (text, key string, done Exported) {
	t.Helper()
	key, sign := keyOf(t, 1, Name("seed"))
	var b strings.Builder
	done, err := Export(context.WithoutCancel(t.Context()), keeper, &b, Name("seed"), key, sign)
	if err != nil {
		t.Fatal(err)
	}
	return b.String(), key, done
}

func TestAnExportHoldsTheWholeLog(t *testing.T) {
	t.Parallel()
	file, _ := newLog(t, 1300)
	err := file.Do(t.Context(), func(tx memory.Tx) error { // what no signer writes
		for _, detail := range []string{"", "no JSON <&>", "{ \"a\": 1 }", "{\"a\":\"<&>\u2028\"}"} {
			if _, err := tx.Append(t.Context(), noon, memory.KindThaw, detail); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	text, key, done := exported(t, file)
	var list []memory.Entry
	x, err := ReadExport(strings.NewReader(text), key, func(e memory.Entry) error {
		list = append(list, e)
		return nil
	})
	if err != nil || x != done || x.Size != 1304 || int64(len(list)) != x.Size || x.Log != "bursar-signer-log/seed" {
		t.Fatalf("read %d entries, %+v and %v, want 1304 and %+v", len(list), x, err, done)
	}
	head, err := memory.Walk(t.Context(), file, func(e memory.Entry) error {
		if got := list[e.Number-1]; got != e {
			t.Errorf("entry %d is read as %+v, want %+v", e.Number, got, e)
		}
		return nil
	})
	if err != nil || head != x.Head {
		t.Errorf("the log ends with %+v, %v, want %+v", head, err, x.Head)
	}
	if !IsExport([]byte(text)) || IsExport([]byte(kind)) {
		t.Error("an export is not recognized, or a proof is taken for one, want the first alone")
	}
}

// The attack: an operator who brings the export edits it, to hide a payment or to show one.
func TestAnExportThatWasEditedIsRefused(t *testing.T) {
	t.Parallel()
	file, _ := newLog(t, 6)
	text, key, _ := exported(t, file)
	otherKey, _ := keyOf(t, 2, Name("seed"))
	other, _ := keyOf(t, 1, Name("other"))
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	joined := func(lines ...string) string { return strings.Join(lines, "\n") + "\n" }
	with := func(at int, line string) string {
		edited := slices.Clone(lines)
		edited[at] = line
		return joined(edited...)
	}
	older, _ := newLog(t, 5)
	shorter, _, _ := exported(t, older)
	head, _, _ := strings.Cut(shorter, "\n")
	for name, test := range map[string]struct {
		text, key string
		want      error
	}{
		"another detail":          {with(3, strings.Replace(lines[3], `"n":"1`, `"n":"8`, 1)), key, ErrChanged},
		"another time":            {with(3, strings.Replace(lines[3], "12:00:00.000", "12:00:00.001", 1)), key, ErrChanged},
		"another kind":            {with(3, strings.Replace(lines[3], `"signed"`, `"thaw"`, 1)), key, ErrChanged},
		"another spelling":        {with(3, strings.Replace(lines[3], `"kind"`, ` "kind"`, 1)), key, ErrChanged},
		"a field twice":           {with(3, strings.Replace(lines[3], `"kind"`, `"kind":"x","kind"`, 1)), key, ErrChanged},
		"a field more":            {with(3, strings.Replace(lines[3], `"kind"`, `"note":"x","kind"`, 1)), key, ErrMalformed},
		"something behind a line": {with(3, lines[3]+"{}"), key, ErrChanged},
		"no JSON":                 {with(3, "x"), key, ErrMalformed},
		"no time":                 {with(3, strings.Replace(lines[3], "12:00", "noon", 1)), key, ErrMalformed},
		"an entry less":           {joined(slices.Delete(slices.Clone(lines), 3, 4)...), key, ErrChanged},
		"the last entry less":     {joined(lines[:6]...), key, ErrChanged},
		"an entry twice":          {joined(append(slices.Clone(lines), lines[6])...), key, ErrChanged},
		"a shorter checkpoint":    {with(0, head), key, ErrChanged},
		"an edited checkpoint":    {with(0, strings.Replace(lines[0], `\n6\n`, `\n5\n`, 1)), key, ErrSigner},
		"another signer's key":    {text, otherKey, ErrSigner},
		"another log's key":       {text, other, ErrSigner},
		"another format":          {with(0, strings.Replace(lines[0], "export/1", "export/2", 1)), key, ErrMalformed},
		"nothing":                 {"", key, ErrMalformed},
		"no key":                  {text, "", ErrMalformed},
	} {
		if _, err := ReadExport(strings.NewReader(test.text), test.key, func(memory.Entry) error {
			return nil
		}); !errors.Is(err, test.want) {
			t.Errorf("%s: got %v, want %v", name, err, test.want)
		}
	}
	stop := errors.New("stop")
	_, err := ReadExport(strings.NewReader(text), key, func(memory.Entry) error { return stop })
	if !errors.Is(err, stop) {
		t.Errorf("got %v, want the error of the visitor", err)
	}
}
