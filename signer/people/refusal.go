package people

import (
	"context"
	"fmt"
	"time"

	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/signer/memory"
)

// Refusal says why people's policy does not allow a transaction.
type Refusal struct {
	Rule   Rule
	Detail string
	Holds  []Held // holds that begin now: the caller writes them, though nothing is signed
	Denied []Denied
}

// Denied is a no to an order, which is remembered: it holds though it is not shown again.
type Denied struct {
	Order memory.Digest
	memory.Denial
	Again bool // the person said no before: the log has it already
}

// Error returns the rule and the detail.
func (r *Refusal) Error() string { return string(r.Rule) + ": " + r.Detail }

func refuse(rule Rule, format string, args ...any) error {
	return &Refusal{Rule: rule, Detail: fmt.Sprintf(format, args...)}
}

// Held is an order whose approvals are complete for a rule.
type Held struct {
	Order memory.Digest
	Rule  string
	By    []string
}

// Remembered reports whether the refusal is to be remembered.
func (r *Refusal) Remembered() bool { return len(r.Holds)+len(r.Denied) > 0 }

// Begin remembers that holds begin and who said no, in a transaction of its own. now is a time of what the signer
// remembers.
func (r *Refusal) Begin(ctx context.Context, keeper memory.Keeper, now time.Time) error {
	if !r.Remembered() {
		return nil
	}
	return keeper.Do(ctx, func(tx memory.Tx) error {
		for _, d := range r.Denied {
			if err := tx.AddDenial(ctx, d.Order, d.Denial); err != nil || d.Again {
				if err != nil {
					return err
				}
				continue
			}
			if _, err := tx.Append(ctx, now, memory.KindDenied, detail(map[string]any{
				"order": approval.Hash(d.Order).String(), "by": d.Person, "with": d.With,
				"made": d.At})); err != nil {
				return err
			}
		}
		for _, h := range r.Holds {
			if err := tx.AddHeld(ctx, h.Order, h.Rule, now); err != nil {
				return err
			}
			if _, err := tx.Append(ctx, now, memory.KindHeld, detail(map[string]any{"order": approval.Hash(h.Order).String(),
				"rule": h.Rule, "by": h.By})); err != nil {
				return err
			}
		}
		return tx.SetHighWater(ctx, now)
	})
}
