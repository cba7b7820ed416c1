package marks_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/bursar/bursar/marks"
)

var ctx = context.Background()

func TestMarksOnlyGrow(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "seed.age.marks")
	one, other := marks.NewFile(path), marks.NewFile(path) // two processes on one machine
	if _, err := one.Load(ctx); !errors.Is(err, marks.ErrMissing) {
		t.Fatalf("a file that is not there gives %v", err)
	}
	if _, err := one.Raise(ctx, marks.State{Beat: 1}); !errors.Is(err, marks.ErrMissing) {
		t.Fatalf("raising a file that is not there gives %v", err)
	}
	if _, err := one.Create(ctx, marks.State{Beat: 5, Indexes: map[string]int64{"evm": 10}}); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Raise(ctx, marks.State{Indexes: map[string]int64{"evm": 30, "xrpl": 7},
		Database: marks.Database{Name: "a"}}); err != nil {
		t.Fatal(err)
	}
	got, err := one.Raise(ctx, marks.State{Beat: 3, Indexes: map[string]int64{"evm": 20},
		Signed: map[string]int64{"tron": 2}, Final: map[string]int64{"tron": 9}})
	want := marks.State{Version: 1, Beat: 5, Database: marks.Database{Name: "a"},
		Indexes: map[string]int64{"evm": 30, "xrpl": 7},
		Signed:  map[string]int64{"tron": 2}, Final: map[string]int64{"tron": 9}, Since: map[string]int64{"tron": 2}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("the marks are %+v, %v, want %+v", got, err, want)
	}
	if again, err := other.Load(ctx); err != nil || !reflect.DeepEqual(again, want) {
		t.Fatalf("the other process reads %+v, %v, want %+v", again, err, want)
	}
}

func TestMarksThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if _, err := marks.NewFile(filepath.Join(folder, "none", "x")).Create(ctx,
		marks.State{}); !errors.Is(err, marks.ErrUnusable) {
		t.Errorf("a folder that is not there gives %v", err)
	}
	for name, text := range map[string]string{"cut": `{"version":1,"be`, "newer": `{"version":2}`, "empty": ""} {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := marks.NewFile(path).Raise(ctx, marks.State{Beat: 1}); !errors.Is(err, marks.ErrUnusable) {
			t.Errorf("a file that is %s gives %v, want %v", name, err, marks.ErrUnusable)
		}
		if kept, _ := os.ReadFile(path); string(kept) != text {
			t.Errorf("a file that is %s was replaced by %q, want %v", name, kept, text)
		}
	}
}

// What a process that was killed during a write left behind is overwritten by the next one.
func TestMarksSurviveAKill(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "m")
	file := marks.NewFile(path)
	if _, err := file.Create(ctx, marks.State{Beat: 5}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+".next", []byte(`{"version":1,"beat":9`), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := file.Raise(ctx, marks.State{Beat: 6}); err != nil || got.Beat != 6 {
		t.Fatalf("the marks are %+v, %v, want 6", got, err)
	}
}
