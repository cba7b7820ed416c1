package memory

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
)

// Two signers that went on from one state, and their exports in any order: nothing that one of them remembers is
// forgotten, nothing counts less than it did in either, and importing again changes nothing.
func TestAnImportForgetsNothing(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 12))
		f, a := newFile(t, false)
		live := func(path string, steps int) {
			f, err := Join(t.Context(), path)
			must(t, err)
			for i := range steps {
				do(t, f, func(ctx context.Context, tx Tx) error {
					return act(ctx, tx, r, noon.Add(time.Duration(r.IntN(1000)+i)*time.Second))
				})
			}
			must(t, f.Close())
		}
		must(t, f.Close())
		live(a, r.IntN(8))
		b := copyOf(t, a)
		older := exported(t, a)
		live(a, 3+r.IntN(10))
		live(b, 3+r.IntN(10))
		of, before, exports := sums(t, a), sums(t, b), [][]byte{exported(t, a), older}
		own := exported(t, b)
		r.Shuffle(2, func(i, j int) { exports[i], exports[j] = exports[j], exports[i] })
		for _, export := range exports {
			imported(t, b, export)
		}
		after := sums(t, b)
		for _, class := range []Class{Fees, Payments} {
			if after[class].Less(of[class]) || after[class].Less(before[class]) {
				t.Errorf("seed %d: %s count %s, want no less than the %s and %s of both", seed, class, after[class], of[class],
					before[class])
			}
		}
		for _, export := range append(exports, own) {
			if lost := missing(t, b, export); len(lost) > 0 {
				t.Errorf("seed %d: %d rows are forgotten, want none: %s", seed, len(lost), lost[0])
			}
		}
		merged := rowsOf(exported(t, b))
		for _, export := range append(exports, own) {
			imported(t, b, export)
		}
		if again := rowsOf(exported(t, b)); strings.Join(again, "") != strings.Join(merged, "") {
			t.Errorf("seed %d: imported again it holds %d rows, want the same %d", seed, len(again), len(merged))
		}
	}
}

// The attack: an export that was changed, cut off, made by another seed or from before a revocation.
func TestExportsThatAreRefused(t *testing.T) {
	t.Parallel()
	f, path := newFile(t, false)
	do(t, f, remember)
	must(t, f.Close())
	good := string(exported(t, path))
	to := filepathOf(t, Init{Fingerprint: "seed", At: noon, Cold: false})
	other := filepathOf(t, Init{Fingerprint: "another", At: noon, Cold: false})
	for name, export := range map[string]string{
		"empty": "", "no export": "{}\n", "cut off": good[:len(good)/2], "without its end": good[:strings.LastIndex(good, `{"sha256"`)],
		"with another amount": strings.Replace(good, `"100"`, `"10"`, 1), "followed by more": good + "{}\n",
		"without a line":     strings.Replace(good, strings.SplitAfter(good, "\n")[1], "", 1),
		"of another seed":    string(exported(t, other)),
		"of another version": strings.Replace(good, `"bursar_signer_state":1`, `"bursar_signer_state":2`, 1),
	} {
		before := exported(t, to)
		if _, err := Import(t.Context(), to, Init{Fingerprint: "seed", At: noon}, strings.NewReader(export), unseal, nil,
			"ann", "test"); !errors.Is(err, ErrInterchange) {
			t.Errorf("%s: %v, want %v", name, err, ErrInterchange)
		}
		if after := exported(t, to); !bytes.Equal(after, before) {
			t.Errorf("%s: the state was changed, want it as it was", name)
		}
	}
	if _, err := Import(t.Context(), to, Init{Fingerprint: "seed", At: noon}, strings.NewReader(good),
		func([]byte, []byte) error { return errSeal }, nil, "ann", "test"); !errors.Is(err, errSeal) {
		t.Errorf("signed by another: %v, want %v", err, errSeal)
	}
}

// Where two states cannot both be true, the own one stays, and the signer is frozen. A freeze comes along; a key of a
// client that was not here binds its account and signs nothing.
func TestWhatContradictsFreezes(t *testing.T) {
	t.Parallel()
	account := bursar.ID{1}
	f, one := newFile(t, false)
	do(t, f, func(ctx context.Context, tx Tx) error {
		return errors.Join(tx.AddUTXO(ctx, "bitcoin", UTXO{"a:0", bursar.Units(5), "s", noon}),
			tx.AddOrdered(ctx, account, bursar.ID{2}, Digest{1}, 7), tx.KnowPolicy(ctx, KnownPolicy{3, "sha256:aa"}))
	})
	must(t, f.Close())
	g, two := newFile(t, false)
	do(t, g, func(ctx context.Context, tx Tx) error {
		return errors.Join(tx.AddUTXO(ctx, "bitcoin", UTXO{"a:0", bursar.Units(50), "s", noon}),
			tx.AddOrdered(ctx, account, bursar.ID{2}, Digest{2}, 7), tx.KnowPolicy(ctx, KnownPolicy{3, "sha256:bb"}),
			tx.AddOrderKey(ctx, OrderKey{Account: account, ID: "key", Public: "public", Name: "name", From: noon}),
			tx.AddFreeze(ctx, Freeze{noon, "bob", "an intruder"}))
	})
	must(t, g.Close())
	if done := imported(t, one, exported(t, two)); len(done.Conflicts) != 3 {
		t.Errorf("conflicts: %q, want three", done.Conflicts)
	}
	h := reopen(t, one)
	do(t, h, func(ctx context.Context, tx Tx) error {
		u, _, err := tx.UTXO(ctx, "bitcoin", "a:0")
		if u.Amount != bursar.Units(5) {
			t.Errorf("the outpoint holds %s, want its own 5", u.Amount)
		}
		o, _, failed := tx.Ordered(ctx, account, bursar.ID{2})
		if o.Text != (Digest{1}) {
			t.Errorf("the order has the text %x, want its own", o.Text)
		}
		keys, wrong := tx.OrderKeys(ctx, account)
		if len(keys) != 1 || !keys[0].Lost() {
			t.Errorf("the account has the keys %+v, want one that is lost", keys)
		}
		known, unknown := tx.KnownPolicy(ctx)
		if known.Hash != "sha256:aa" {
			t.Errorf("version 3 of the policy is %s, want its own", known.Hash)
		}
		frozen, bad := tx.Freezes(ctx)
		if len(frozen) != 2 || frozen[0].Who != "bob" {
			t.Errorf("frozen by %+v, want bob's freeze and the contradiction", frozen)
		}
		return errors.Join(err, failed, wrong, bad, unknown)
	})
}

// Two signers that signed the same for one approved order, each by its own clock and prices: the windows of the rule
// hold the higher worth, until the later time.
func TestOfAnApprovedOrderTheStricterCounts(t *testing.T) {
	t.Parallel()
	signs := func(worth uint64, at time.Time) string {
		f, path := newFile(t, false)
		do(t, f, func(ctx context.Context, tx Tx) error {
			flow, err := tx.AddFlow(ctx, Flow{Chain: "bitcoin", Kind: "withdrawal", Outgoing: bursar.ID{1}, At: at,
				Resources: []string{"a:0"}})
			return errors.Join(err, tx.AddSigned(ctx, flow, "bitcoin", Digest{1}, at),
				tx.AddGrant(ctx, Grant{Flow: flow, Order: Digest{2}, Rule: "small", Worth: bursar.Units(worth), At: at}))
		})
		must(t, f.Close())
		return path
	}
	early, late := signs(70, noon), signs(9, noon.Add(time.Hour))
	ofEarly, ofLate := exported(t, early), exported(t, late)
	for path, export := range map[string][]byte{early: ofLate, late: ofEarly} {
		imported(t, path, export)
		f := reopen(t, path)
		do(t, f, func(ctx context.Context, tx Tx) error {
			worth, err := tx.WorthSince(ctx, RuleUse{Rule: "small"}, noon.Add(time.Hour))
			if worth != bursar.Units(70) {
				t.Errorf("the rule's window holds %s from the later time on, want 70", worth)
			}
			return err
		})
		must(t, f.Close())
	}
}
