package memory

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
)

var noon = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// newFile creates a memory in a folder of its own and opens it.
func newFile(t *testing.T, cold bool) (*File, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "seed.age.state")
	if err := Create(t.Context(), path, Init{Fingerprint: "seed", At: noon, Cold: cold}); err != nil {
		t.Fatal(err)
	}
	return reopen(t, path), path
}

func reopen(t *testing.T, path string) *File {
	t.Helper()
	f, err := Open(t.Context(), path, "seed")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func do(t *testing.T, k Keeper, f func(ctx context.Context, tx Tx) error) {
	t.Helper()
	if err := k.Do(t.Context(), func(tx Tx) error { return f(t.Context(), tx) }); err != nil {
		t.Fatal(err)
	}
}

func TestAMemoryIsCreatedOnceAndUsedByOne(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state")
	if _, err := Open(t.Context(), path, "seed"); !errors.Is(err, ErrMissing) {
		t.Fatalf("without a file: %v", err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil { // as a creation leaves that was cut off
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), path, "seed"); !errors.Is(err, ErrMissing) {
		t.Fatalf("with an empty file: %v, want %v", err, ErrMissing)
	}
	if err := Create(t.Context(), path, Init{"seed", noon, true, false}); err != nil {
		t.Fatal(err)
	}
	if err := Create(t.Context(), path, Init{"seed", noon, false, false}); !errors.Is(err, ErrExists) {
		t.Fatalf("created twice: %v", err)
	}
	if _, err := Open(t.Context(), path, "another"); !errors.Is(err, ErrOtherSigner) {
		t.Fatalf("of another seed: %v, want %v", err, ErrOtherSigner)
	}
	f := reopen(t, path)
	if _, err := Open(t.Context(), path, "seed"); !errors.Is(err, ErrLocked) {
		t.Fatalf("a second signer: %v, want %v", err, ErrLocked)
	}
	if err := Create(t.Context(), path, Init{"seed", noon, false, false}); !errors.Is(err, ErrLocked) {
		t.Fatalf("created beside a signer: %v, want %v", err, ErrLocked)
	}
	if err := BeginAgain(t.Context(), path, Init{"seed", noon, true, false}, "ann", "test"); !errors.Is(err, ErrLocked) {
		t.Fatalf("started again beside a signer: %v", err)
	}
	beside, err := Join(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	state, err := stateOf(t.Context(), beside)
	if err != nil || state.ColdSince != noon || state.HighWater != noon || len(state.Instance) < 20 {
		t.Fatalf("the state is %+v, %v, want %v and at least 20", state, err, noon)
	}
	if err := errors.Join(beside.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v, want 0o600", info.Mode(), err)
	}
	reopen(t, path)
}

// A commit that is only in the system's cache is lost with the power, and with it what a window holds.
func TestEveryCommitIsSynced(t *testing.T) {
	t.Parallel()
	f, _ := newFile(t, false)
	var mode string
	var synchronous int
	if err := f.db.QueryRowContext(t.Context(), `PRAGMA journal_mode`).Scan(&mode); err != nil || mode != "wal" {
		t.Errorf("the journal is %q, %v, want %q", mode, err, "wal")
	}
	err := f.db.QueryRowContext(t.Context(), `PRAGMA synchronous`).Scan(&synchronous)
	if err != nil || synchronous != 2 { // FULL
		t.Errorf("synchronous is %d, %v, want 2", synchronous, err)
	}
}

func TestALaterSchemaIsRefused(t *testing.T) {
	t.Parallel()
	f, path := newFile(t, false)
	if _, err := f.db.ExecContext(t.Context(), `PRAGMA user_version = 99`); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if _, err := Open(t.Context(), path, "seed"); !errors.Is(err, ErrOtherSigner) {
		t.Fatalf("opened: %v, want %v", err, ErrOtherSigner)
	}
}

// Both keepers, and a file that is opened again, return the same.
func TestBothKeepersRememberTheSame(t *testing.T) {
	t.Parallel()
	f, path := newFile(t, false)
	ram := NewRAM()
	for _, k := range []Keeper{f, ram} {
		do(t, k, remember)
	}
	f.Close()
	again := reopen(t, path)
	want, got := recall(t, ram), recall(t, again)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the file holds\n%+v, want\n%+v", got, want)
	}
	if len(want) != 12 {
		t.Errorf("%d answers are compared, want 12", len(want))
	}
}

// remember writes something of each kind.
func remember(ctx context.Context, tx Tx) error {
	count := func(class Class, asset string, units uint64, at time.Time) Count {
		return Count{class, asset, bursar.Units(units), at}
	}
	flow := Flow{Chain: "bitcoin", Kind: "withdrawal", Outgoing: bursar.ID{7}, At: noon, Resources: []string{"a:0", "b:1"},
		Counts: []Count{count(Fees, "", 5, noon), count(Payments, "", 100, noon)}}
	id, err := tx.AddFlow(ctx, flow)
	if err != nil {
		return err
	}
	flow.ID, flow.Resources, flow.Counts[0] = id, []string{"a:0"}, count(Fees, "", 9, noon.Add(time.Hour))
	other := Flow{Chain: "ethereum", Kind: "sweep", Outgoing: bursar.ID{8}, At: noon, Resources: []string{"0x/1"},
		Counts: []Count{count(Transfers, "", 1, noon.Add(time.Minute))}}
	second, err := tx.AddFlow(ctx, other)
	if err != nil {
		return err
	}
	return errors.Join(tx.AddSigned(ctx, id, "bitcoin", Digest{1}, noon), tx.UpdateFlow(ctx, flow),
		tx.AddSigned(ctx, id, "bitcoin", Digest{2}, noon), tx.AddSigned(ctx, second, "ethereum", Digest{1}, noon),
		tx.AddUTXO(ctx, "bitcoin", UTXO{"a:0", bursar.Units(1000), "bc1", noon}),
		tx.SetHighWater(ctx, noon.Add(time.Hour)), tx.SetHighWater(ctx, noon),
		tx.AddFreeze(ctx, Freeze{noon, "ann", "a test"}))
}

// recall reads all of it.
func recall(t *testing.T, k Keeper) (list []any) {
	t.Helper()
	do(t, k, func(ctx context.Context, tx Tx) error {
		state, err := tx.State(ctx)
		list = append(list, state.HighWater, state.ColdSince, err)
		sharing, err := tx.Sharing(ctx, "bitcoin", []string{"x:9", "a:0", "b:1"})
		list = append(list, sharing, err)
		none, _ := tx.Sharing(ctx, "ethereum", []string{"a:0"})
		list = append(list, len(none))
		first, found, err := tx.Signed(ctx, "ethereum", Digest{1})
		_, unknown, _ := tx.Signed(ctx, "ethereum", Digest{2})
		list = append(list, []any{first, found, unknown, err})
		u, found, err := tx.UTXO(ctx, "bitcoin", "a:0")
		_, unknown, _ = tx.UTXO(ctx, "litecoin", "a:0")
		list = append(list, []any{u, found, unknown, err})
		all, err := tx.CountsSince(ctx, noon)
		list = append(list, all, err)
		late, _ := tx.CountsSince(ctx, noon.Add(time.Minute))
		list = append(list, len(late))
		frozen, err := tx.Freezes(ctx)
		list = append(list, frozen)
		return err
	})
	return list
}

// A refused transaction leaves nothing.
func TestAnErrorUndoesTheTransaction(t *testing.T) {
	t.Parallel()
	f, _ := newFile(t, false)
	err := f.Do(t.Context(), func(tx Tx) error {
		return errors.Join(remember(t.Context(), tx), os.ErrInvalid)
	})
	if !errors.Is(err, os.ErrInvalid) {
		t.Fatalf("got %v, want %v", err, os.ErrInvalid)
	}
	do(t, f, func(ctx context.Context, tx Tx) error {
		if all, err := tx.CountsSince(ctx, time.Time{}); err != nil || len(all) > 0 {
			t.Errorf("%v stay, %v, want none", all, err)
		}
		return nil
	})
}

func TestAThawEndsEveryFreeze(t *testing.T) {
	t.Parallel()
	f, _ := newFile(t, false)
	for _, k := range []Keeper{f, NewRAM()} {
		do(t, k, func(ctx context.Context, tx Tx) error {
			return errors.Join(tx.AddFreeze(ctx, Freeze{noon, "ann", "one"}), tx.AddFreeze(ctx, Freeze{noon, "bob", "two"}))
		})
		do(t, k, func(ctx context.Context, tx Tx) error {
			n, err := tx.Thaw(ctx, noon, "cat", "over")
			if err != nil || n != 2 {
				t.Errorf("%d are thawed, %v, want 2", n, err)
			}
			left, err := tx.Freezes(ctx)
			if len(left) != 0 {
				t.Errorf("%+v stay, want none", left)
			}
			return err
		})
	}
}

// Anyone who changes, removes or inserts an entry of the log is found out by its hashes.
func TestTheLogIsAChain(t *testing.T) {
	t.Parallel()
	f, _ := newFile(t, false)
	for _, text := range []string{`{"a":1}`, `{"b":2}`, `{"c":3}`} {
		do(t, f, func(ctx context.Context, tx Tx) error {
			_, err := tx.Append(ctx, noon, KindSigned, text)
			return err
		})
	}
	head, err := Verify(t.Context(), f)
	if err != nil || head.Number != 4 || head.Detail != `{"c":3}` {
		t.Fatalf("the newest entry is %+v, %v, want 4 and %q", head, err, `{"c":3}`)
	}
	for change, says := range map[string]string{
		`UPDATE log SET detail = '{"b":3}' WHERE number = 3`: "entry 3 of the log was changed",
		`UPDATE log SET at = at + 1 WHERE number = 2`:        "entry 2 of the log was changed",
		`DELETE FROM log WHERE number = 3`:                   "the log has no entry 3",
	} {
		err := f.Do(t.Context(), func(tx Tx) error {
			if _, err := tx.(*sqlTx).exec(t.Context(), change); err != nil {
				return err
			}
			_, err := Verify(t.Context(), within{tx})
			return errors.Join(err, errEnough)
		})
		if !errors.Is(err, errEnough) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %s", change, err, says)
		}
	}
}

var errEnough = errors.New("undo it")

// within is a keeper whose only transaction is one that runs.
type within struct{ tx Tx }

func (w within) Do(_ context.Context, f func(Tx) error) error { return f(w.tx) }
func (w within) Close() error                                 { return nil }
func (w within) Gate() *Gate                                  { return &Gate{} }
