package memory

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
)

var shop, stall = bursar.ID{7}, bursar.ID{8}

// used is what counts by a rule from a time on: worth, fees, and how many.
type used struct {
	worth, fees bursar.Amount
	grants      uint64
}

func usedBy(ctx context.Context, tx Tx, by RuleUse, from time.Time) (u used, err error) {
	u.worth, err = tx.WorthSince(ctx, by, from)
	fees, failed := tx.RuleFeesSince(ctx, by, from)
	grants, failed2 := tx.GrantsSince(ctx, by, from)
	u.fees, u.grants = fees, grants
	return u, errors.Join(err, failed, failed2)
}

func wantUsed(t *testing.T, k Keeper, by RuleUse, from time.Time, want used) {
	t.Helper()
	do(t, k, func(ctx context.Context, tx Tx) error {
		got, err := usedBy(ctx, tx, by, from)
		if got != want {
			t.Errorf("%+v from %s on: got %+v, want %+v", by, from.Format(time.TimeOnly), got, want)
		}
		return err
	})
}

func TestWhatCountsByARule(t *testing.T) {
	t.Parallel()
	bothKinds(t, func(t *testing.T, k Keeper) {
		later := noon.Add(time.Hour)
		do(t, k, func(ctx context.Context, tx Tx) error {
			one, err := tx.AddFlow(ctx, Flow{Chain: "c", At: noon})
			two, err2 := tx.AddFlow(ctx, Flow{Chain: "c", At: later})
			return errors.Join(err, err2,
				tx.AddGrant(ctx, Grant{one, Digest{1}, "r", bursar.Units(7), noon, shop, 1}),
				tx.AddGrant(ctx, Grant{one, Digest{2}, "r", bursar.Units(5), noon, stall, 1}),
				tx.AddGrant(ctx, Grant{two, Digest{3}, "r", bursar.Units(3), later, bursar.ID{}, 1}),
				tx.AddGrant(ctx, Grant{two, Digest{4}, "s", bursar.Units(9), later, shop, 1}),
				tx.SetRuleFee(ctx, RuleFee{one, "r", stall, bursar.Units(10), noon}),
				tx.SetRuleFee(ctx, RuleFee{one, "r", shop, bursar.Units(99), noon}),
				tx.SetRuleFee(ctx, RuleFee{one, "r", shop, bursar.Units(20), noon}), // in place of the one before
				tx.SetRuleFee(ctx, RuleFee{two, "r", bursar.ID{}, bursar.Units(40), later}))
		})
		wantUsed(t, k, RuleUse{Rule: "r"}, noon, used{bursar.Units(15), bursar.Units(70), 3})
		wantUsed(t, k, RuleUse{Rule: "r"}, noon.Add(time.Millisecond), used{bursar.Units(3), bursar.Units(40), 1})
		wantUsed(t, k, RuleUse{"r", true, shop}, noon, used{bursar.Units(7), bursar.Units(20), 1})
		wantUsed(t, k, RuleUse{"r", true, bursar.ID{}}, noon, used{bursar.Units(3), bursar.Units(40), 1})
		wantUsed(t, k, RuleUse{Rule: "s"}, noon, used{bursar.Units(9), bursar.Amount{}, 1})
		wantUsed(t, k, RuleUse{Rule: "none"}, noon, used{})
		do(t, k, func(ctx context.Context, tx Tx) error {
			list, err := tx.RuleFeesIn(ctx, 1)
			want := []RuleFee{{1, "r", shop, bursar.Units(20), noon}, {1, "r", stall, bursar.Units(10), noon}}
			if !reflect.DeepEqual(list, want) {
				t.Errorf("got fees %+v, want %+v", list, want)
			}
			g, found, failed := tx.GrantIn(ctx, Digest{2}, 1)
			if !found || g.Rule != "r" || g.Account != stall || g.Worth != bursar.Units(5) || !g.At.Equal(noon) {
				t.Errorf("got %+v, %t, want the second", g, found)
			}
			_, elsewhere, failed2 := tx.GrantIn(ctx, Digest{2}, 2)
			if elsewhere {
				t.Error("an order is allowed in a flow in which it was not")
			}
			return errors.Join(err, failed, failed2)
		})
	})
}

// SQLite adds 64 bits: what does not fit is added here, and beyond 128 bits it is the highest amount.
func TestLargeWorthsAreAddedExactly(t *testing.T) {
	t.Parallel()
	largest := bursar.LargestAmount().String()
	for name, test := range map[string]struct {
		worths []string
		want   string
	}{
		"short and long":    {[]string{"999999999999", "1000000000000", "1"}, "2000000000000"},
		"beyond 64 bits":    {[]string{"9223372036854775807", "9223372036854775807", "5"}, "18446744073709551619"},
		"beyond 128 bits":   {[]string{largest, "1"}, largest},
		"just the last one": {[]string{"340282366920938463463374607431768211454", "1"}, largest},
		"many short ones":   {slices.Repeat([]string{"999999999999"}, 50), "49999999999950"},
	} {
		bothKinds(t, func(t *testing.T, k Keeper) {
			do(t, k, func(ctx context.Context, tx Tx) error {
				flow, err := tx.AddFlow(ctx, Flow{Chain: "c", At: noon})
				for i, text := range test.worths {
					worth, failed := bursar.ParseUnits(text)
					err = errors.Join(err, failed, tx.AddGrant(ctx, Grant{flow, Digest{byte(i)}, "r", worth, noon, shop, 1}),
						tx.SetRuleFee(ctx, RuleFee{flow, "r", bursar.ID{byte(i + 1)}, worth, noon}))
				}
				return err
			})
			want, err := bursar.ParseUnits(test.want)
			must(t, err)
			t.Log(name)
			wantUsed(t, k, RuleUse{Rule: "r"}, noon, used{want, want, uint64(len(test.worths))})
		})
	}
}

// Each payment asks what counted within a week: only that is read, and from an index alone.
func TestWhatCountsIsLookedUpByAnIndex(t *testing.T) {
	t.Parallel()
	f, _ := newFile(t, false)
	for query, index := range map[string]string{
		`SELECT sum(worth) FROM grants WHERE rule = 'r' AND at >= 5`:                        "COVERING INDEX grants_of_rule (rule=? AND at>?)",
		`SELECT count(*) FROM grants WHERE rule = 'r' AND at >= 5`:                          "COVERING INDEX grants_of_rule (rule=? AND at>?)",
		`SELECT sum(worth) FROM grants WHERE rule = 'r' AND account = 'a' AND at >= 5`:      "COVERING INDEX grants_of_account (rule=? AND account=? AND at>?)",
		`SELECT sum(worth) FROM rule_fees WHERE rule = 'r' AND at >= 5`:                     "COVERING INDEX rule_fees_of_rule (rule=? AND at>?)",
		`SELECT sum(worth) FROM rule_fees WHERE rule = 'r' AND account = 'a' AND at >= 5`:   "COVERING INDEX rule_fees_of_account (rule=? AND account=? AND at>?)",
		`SELECT rule, account, worth, at FROM rule_fees WHERE flow = 1 ORDER BY rule`:       "PRIMARY KEY (flow=?)",
		`SELECT rule, worth, at, account FROM grants WHERE digest = x'00' AND flow = 1`:     "PRIMARY KEY (digest=? AND flow=?)",
		`SELECT worth FROM grants WHERE rule = 'r' AND at >= 5 AND length(worth) >= 13`:     "COVERING INDEX grants_of_rule (rule=? AND at>?)",
		`SELECT worth FROM rule_fees WHERE rule = 'r' AND at >= 5 AND length(worth) >= 13 `: "COVERING INDEX rule_fees_of_rule (rule=? AND at>?)",
	} {
		var id, parent, unused int
		var detail string
		err := f.db.QueryRowContext(t.Context(), `EXPLAIN QUERY PLAN `+query).Scan(&id, &parent, &unused, &detail)
		if err != nil || !strings.HasSuffix(detail, "USING "+index) {
			t.Errorf("%s: SQLite reads %q (%v), want %s", query, detail, err, index)
		}
	}
}

// A flow that is forgotten takes along what it can cost; a clock that was wrong dates that back.
func TestFeesGoWithTheirFlowAndTheirClock(t *testing.T) {
	t.Parallel()
	f, path := newFile(t, false)
	do(t, f, func(ctx context.Context, tx Tx) error {
		first, err := tx.AddFlow(ctx, Flow{Chain: "c", At: noon})
		second, err2 := tx.AddFlow(ctx, Flow{Chain: "c", At: noon})
		return errors.Join(err, err2, tx.AddSigned(ctx, first, "c", Digest{9}, noon),
			tx.SetRuleFee(ctx, RuleFee{first, "r", shop, bursar.Units(7), noon}),
			tx.SetRuleFee(ctx, RuleFee{second, "r", shop, bursar.Units(8), noon.AddDate(1, 0, 0)}))
	})
	do(t, f, func(ctx context.Context, tx Tx) error {
		n, err := tx.Forget(ctx, noon.Add(time.Hour), 9)
		if n != 1 {
			t.Errorf("got %d forgotten, want 1", n)
		}
		return err
	})
	wantUsed(t, f, RuleUse{Rule: "r"}, time.Time{}, used{fees: bursar.Units(8)})
	f.Close()
	must(t, BeginAgain(t.Context(), path, Init{Fingerprint: "seed", At: noon}, "op", "clock"))
	wantUsed(t, reopen(t, path), RuleUse{Rule: "r"}, noon.Add(time.Millisecond), used{})
}

// What was allowed before accounts and fees counted is of no account, and costs nothing.
func TestGrantsOfBeforeStay(t *testing.T) {
	t.Parallel()
	path := first(t)
	db, err := sql.Open("sqlite", path)
	must(t, err)
	before := slices.Index(migrations, ruleFeesSchema)
	for _, text := range append(migrations[1:before:before], fmt.Sprintf(`PRAGMA user_version = %d`, before),
		`INSERT INTO grants VALUES (zeroblob(32), 1, 'r', '7', 7000)`) {
		_, err := db.ExecContext(t.Context(), text)
		must(t, err)
	}
	must(t, db.Close())
	f := reopen(t, path)
	from := time.UnixMilli(7000)
	wantUsed(t, f, RuleUse{Rule: "r"}, from, used{worth: bursar.Units(7), grants: 1})
	wantUsed(t, f, RuleUse{"r", true, bursar.ID{}}, from, used{worth: bursar.Units(7), grants: 1})
	wantUsed(t, f, RuleUse{"r", true, shop}, from, used{})
}

// signsOne is a state in which an order of the shop was allowed, at a fee and a time.
func signsOne(t *testing.T, fee uint64, at time.Time) string {
	t.Helper()
	f, path := newFile(t, false)
	do(t, f, func(ctx context.Context, tx Tx) error {
		flow, err := tx.AddFlow(ctx, Flow{Chain: "bitcoin", Kind: "withdrawal", Outgoing: bursar.ID{1}, At: at,
			Resources: []string{"a:0"}})
		return errors.Join(err, tx.AddSigned(ctx, flow, "bitcoin", Digest{1}, at),
			tx.AddGrant(ctx, Grant{flow, Digest{2}, "r", bursar.Units(100), at, shop, 1}),
			tx.SetRuleFee(ctx, RuleFee{flow, "r", shop, bursar.Units(fee), at}))
	})
	must(t, f.Close())
	return path
}

// Two signers with one seed that signed the same: the higher fee counts, until the later time, and for its account.
func TestOfAnImportTheHigherFeeCounts(t *testing.T) {
	t.Parallel()
	early, late := signsOne(t, 70, noon), signsOne(t, 9, noon.Add(time.Hour))
	ofEarly, ofLate := exported(t, early), exported(t, late)
	empty := filepathOf(t, Init{Fingerprint: "seed", At: noon})
	imported(t, early, ofLate)
	imported(t, late, ofEarly)
	imported(t, empty, ofEarly)
	imported(t, empty, ofLate)
	for _, path := range []string{early, late, empty} {
		f := reopen(t, path)
		for _, by := range []RuleUse{{Rule: "r"}, {"r", true, shop}} {
			wantUsed(t, f, by, noon.Add(time.Hour), used{bursar.Units(100), bursar.Units(70), 1})
		}
		must(t, f.Close())
	}
}

// rewritten is an export with other lines, sealed as a signer would have.
func rewritten(t *testing.T, export []byte, change func(line string) string) []byte {
	t.Helper()
	var out strings.Builder
	for line := range strings.Lines(string(export)) {
		if !strings.HasPrefix(line, `{"sha256"`) {
			out.WriteString(change(line))
		}
	}
	sum := sha256.Sum256([]byte(out.String()))
	last, err := json.Marshal(ending{hex.EncodeToString(sum[:]), hex.EncodeToString(seal(ExportText(sum)))})
	must(t, err)
	return append([]byte(out.String()), append(last, '\n')...)
}

// An export of a release before has neither accounts nor fees: those that the memory knows stay.
func TestAnExportOfBeforeIsMerged(t *testing.T) {
	t.Parallel()
	export := rewritten(t, exported(t, signsOne(t, 70, noon)), func(line string) string {
		if strings.HasPrefix(line, `{"t":"rule_fees"`) {
			return ""
		}
		return strings.Replace(line, `,"`+shop.String()+`"]}`, `]}`, 1)
	})
	if bytes.Contains(export, []byte(shop.String())) {
		t.Fatal("the export names the account, want one without")
	}
	f, other := newFile(t, false)
	must(t, f.Close())
	known := signsOne(t, 70, noon)
	imported(t, known, export)
	imported(t, other, export)
	f = reopen(t, known)
	wantUsed(t, f, RuleUse{"r", true, shop}, noon, used{bursar.Units(100), bursar.Units(70), 1})
	must(t, f.Close())
	f = reopen(t, other)
	wantUsed(t, f, RuleUse{"r", true, bursar.ID{}}, noon, used{worth: bursar.Units(100), grants: 1})
}

func TestFeesThatNoExportHasAreRefused(t *testing.T) {
	t.Parallel()
	good := exported(t, signsOne(t, 70, noon))
	for name, change := range map[string][2]string{
		"of no amount":     {`"70"`, `"-70"`},
		"of no account":    {`"r","` + shop.String() + `","70"`, `"r","shop","70"`},
		"of another flow":  {`"t":"rule_fees","r":[1,`, `"t":"rule_fees","r":[2,`},
		"a grant of none":  {`,"` + shop.String() + `"]}`, `,"shop"]}`},
		"as a later table": {`"t":"rule_fees"`, `"t":"rule_fees_2"`},
	} {
		found := false
		bad := rewritten(t, good, func(line string) string {
			found = found || strings.Contains(line, change[0])
			return strings.Replace(line, change[0], change[1], 1)
		})
		to := filepathOf(t, Init{Fingerprint: "seed", At: noon})
		_, err := Import(t.Context(), to, Init{Fingerprint: "seed", At: noon}, bytes.NewReader(bad), unseal, nil, "ann",
			"test")
		if !found || !errors.Is(err, ErrInterchange) {
			t.Errorf("%s: got %v (changed: %t), want %v", name, err, found, ErrInterchange)
		}
	}
}
