package memory

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
)

// seal is a signature of a signer for tests.
func seal(text []byte) []byte { sum := sha256.Sum256(append([]byte("key"), text...)); return sum[:] }

var errSeal = errors.New("signed by another")

func unseal(text, signature []byte) error {
	if !bytes.Equal(signature, seal(text)) {
		return errSeal
	}
	return nil
}

func exported(t *testing.T, path string) []byte {
	t.Helper()
	f, err := Join(t.Context(), path)
	must(t, err)
	defer f.Close()
	var out bytes.Buffer
	_, err = f.Export(t.Context(), &out, seal)
	must(t, err)
	return out.Bytes()
}

func imported(t *testing.T, path string, export []byte) Imported {
	t.Helper()
	done, err := Import(t.Context(), path, Init{Fingerprint: "seed", At: noon}, bytes.NewReader(export), unseal,
		nil, "ann", "test")
	must(t, err)
	return done
}

// rowsOf returns the rows of an export, without what an import itself adds.
func rowsOf(export []byte) (list []string) {
	for line := range strings.Lines(string(export)) {
		if strings.HasPrefix(line, `{"t":`) && !strings.HasPrefix(line, `{"t":"freezes"`) {
			list = append(list, line)
		}
	}
	return list
}

// act does something random, as a signer and people do: it signs, replaces, pays orders, revokes and refuses.
func act(ctx context.Context, tx Tx, r *rand.Rand, at time.Time) error {
	n := r.Uint64N(12)
	digest := Digest{byte(n), 1}
	resource := fmt.Sprintf("%d:0", n)
	sharing, err := tx.Sharing(ctx, "bitcoin", []string{resource})
	if err != nil {
		return err
	}
	counts := []Count{{Fees, "", bursar.Units(r.Uint64N(50)), at}, {Payments, "", bursar.Units(r.Uint64N(1000)), at}}
	var flow int64
	if len(sharing) == 0 {
		flow, err = tx.AddFlow(ctx, Flow{Chain: "bitcoin", Kind: "withdrawal", Outgoing: bursar.ID{byte(n)}, At: at,
			Resources: []string{resource, resource + "'"}, Counts: counts, Pays: "h"})
	} else {
		f := sharing[0]
		flow = f.ID
		if f.Resources = []string{resource}; r.IntN(2) == 0 {
			f.Resources = append(f.Resources, resource+"'")
		}
		for i, c := range counts {
			if f.Counts[i].Units.Less(c.Units) {
				f.Counts[i] = c
			}
		}
		err = tx.UpdateFlow(ctx, f)
	}
	if err != nil {
		return err
	}
	digest[2] = byte(r.IntN(200))
	if _, found, err := tx.Signed(ctx, "bitcoin", digest); err == nil && !found {
		err = tx.AddSigned(ctx, flow, "bitcoin", digest, at)
		if err != nil {
			return err
		}
	}
	account, order := bursar.ID{byte(r.IntN(3) + 1)}, bursar.ID{byte(n), byte(r.IntN(200))}
	_, known, err := tx.UTXO(ctx, "bitcoin", resource)
	if err == nil && !known {
		err = tx.AddUTXO(ctx, "bitcoin", UTXO{resource, bursar.Units(n * 1000), "script", at})
	}
	key := OrderKey{Account: account, ID: fmt.Sprint("key", n), Public: "public", Name: "name", From: at}
	if keys, failed := tx.OrderKeys(ctx, account); failed == nil {
		state := "absent"
		for _, k := range keys {
			if state = "there"; k.ID == key.ID && !k.Revoked.IsZero() {
				state = "revoked"
			}
			if k.ID == key.ID {
				break
			}
			state = "absent"
		}
		switch {
		case state == "absent":
			err = errors.Join(err, tx.AddOrderKey(ctx, key))
		case state == "there" && r.IntN(3) == 0:
			err = errors.Join(err, tx.RevokeOrderKey(ctx, account, key.ID, at))
		}
	}
	return errors.Join(err, tx.AddOrdered(ctx, account, order, Digest{9, byte(n)}, flow),
		tx.AddNonce(ctx, fmt.Sprint("nonce", r.IntN(500)), flow),
		tx.AddDenial(ctx, digest, Denial{"bob", "sk", at}),
		tx.AddRemoved(ctx, "bitcoin", fmt.Sprint("base", n), at),
		tx.AddTouch(ctx, Touch{"passkey", fmt.Sprint("touch", r.IntN(500)), at, uint32(r.IntN(90) + 1)}),
		tx.AddGrant(ctx, Grant{Flow: flow, Order: Digest{byte(r.IntN(256)), byte(r.IntN(256)), byte(r.IntN(256))},
			Rule: "small", Worth: bursar.Units(7), At: at, Account: account, Payment: int64(r.IntN(4))}),
		tx.SetRuleFee(ctx, RuleFee{flow, "small", account, bursar.Units(r.Uint64N(50) + 1), at}),
		tx.KnowPolicy(ctx, KnownPolicy{int64(r.IntN(5) + 1), "hash"}),
		tx.SetHighWater(ctx, at))
}

// sums returns what counts, by class.
func sums(t *testing.T, path string) map[Class]bursar.Amount {
	t.Helper()
	f, err := Join(t.Context(), path)
	must(t, err)
	defer f.Close()
	total := map[Class]bursar.Amount{}
	do(t, f, func(ctx context.Context, tx Tx) error {
		list, err := tx.CountsSince(ctx, time.Time{})
		for _, c := range list {
			total[c.Class] = total[c.Class].AddCapped(c.Units)
		}
		return err
	})
	return total
}

// missing returns the rows of an export that forbid something and are not in a memory, by what names them.
func missing(t *testing.T, path string, export []byte) (list []string) {
	t.Helper()
	here := strings.Join(rowsOf(exported(t, path)), "")
	for _, line := range rowsOf(export) {
		begins := ""
		switch table, rest, _ := strings.Cut(strings.TrimPrefix(line, `{"t":"`), `"`); table {
		case "utxos", "signed", "orders", "nonces", "order_keys", "denials", "removed", "touches", "payments", "grants",
			"rule_fees":
			columns := map[string]int{"utxos": 4, "signed": 2, "orders": 3, "nonces": 1, "order_keys": 2, "denials": 3,
				"removed": 2,
				"touches": 2, "payments": 1, "grants": 1, "rule_fees": 0}[table]
			begins = `{"t":"` + table + `"` + strings.Join(strings.SplitAfterN(rest, ",", columns+2)[:columns+1], "")
			begins = strings.TrimRight(begins, ",]}\n")
		}
		if !strings.Contains(here, begins) {
			list = append(list, line)
		}
	}
	return list
}

func filepathOf(t *testing.T, begin Init) string {
	t.Helper()
	path := t.TempDir() + "/state"
	must(t, Create(t.Context(), path, begin))
	return path
}
