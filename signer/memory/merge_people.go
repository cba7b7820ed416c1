package memory

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
)

// order takes over which text was signed under a client's ID. The memory keeps its own where both signed another one:
// it refuses each other text.
func (m *merger) order(ctx context.Context, r row) error {
	digest, err := r.digest(2)
	if err != nil {
		return err
	}
	var own []byte
	found, err := m.tx.one(ctx, `SELECT digest FROM orders WHERE account = ? AND id = ?`, []any{r.text(0), r.text(1)},
		&own)
	if err != nil {
		return err
	}
	if found {
		if string(own) != string(digest[:]) {
			m.conflict("order %s of account %s has two texts", r.text(1), r.text(0))
		}
		return nil
	}
	_, err = m.tx.exec(ctx, `INSERT INTO orders(account, id, digest) VALUES (?, ?, ?)`, r.text(0), r.text(1), digest[:])
	return err
}

func (m *merger) orderFlow(ctx context.Context, r row) error {
	_, err := m.tx.exec(ctx, `INSERT OR IGNORE INTO order_flows(account, id, flow) VALUES (?, ?, ?)`, r.text(0), r.text(1),
		m.flowOf(r, 2))
	return err
}

// orderKey binds the account of a key. An older export has keys that were revoked since, so that one which this memory
// did not have is lost; a revocation is taken over, the earlier of two.
func (m *merger) orderKey(ctx context.Context, r row) error {
	_, err := m.tx.exec(ctx, `INSERT INTO order_keys(account, id, public, name, usable_from, revoked_at)
		VALUES (?1, ?2, '', '', ?3, ?4) ON CONFLICT (account, id) DO UPDATE SET revoked_at = CASE
		WHEN excluded.revoked_at = 0 THEN revoked_at WHEN revoked_at = 0 THEN excluded.revoked_at
		ELSE min(revoked_at, excluded.revoked_at) END`, r.text(0), r.text(1), r.number(2), r.number(3))
	return err
}

func (m *merger) nonce(ctx context.Context, r row) error {
	return m.tx.AddNonce(ctx, r.text(0), m.flowOf(r, 1))
}

func (m *merger) grant(ctx context.Context, r row) error {
	digest, err := r.digest(0)
	if err != nil {
		return err
	}
	flow, rule, at := m.flowOf(r, 1), r.text(2), r.number(4)
	worth, err := bursar.ParseUnits(r.text(3))
	if err != nil {
		return fmt.Errorf("%w: what an approved payment is worth: %w", ErrInterchange, err)
	}
	account := r.text(5) // a release before accounts were bounded wrote none
	if _, err := accountOf(account); err != nil {
		return fmt.Errorf("%w: the account of an approved payment: %w", ErrInterchange, err)
	}
	own, found, err := m.tx.GrantIn(ctx, digest, flow)
	if err != nil {
		return err
	}
	if found { // both signed it, each by its own clock and prices: the higher worth counts, at the later time
		rule, at = own.Rule, max(at, millis(own.At))
		worth = worth.Max(own.Worth)
		if !own.Account.IsZero() {
			account = accountText(own.Account)
		}
	}
	_, err = m.tx.exec(ctx, `INSERT OR REPLACE INTO grants(digest, flow, rule, worth, at, account)
		VALUES (?, ?, ?, ?, ?, ?)`, digest[:], flow, rule, worth, at, account)
	return err
}

// ruleFee raises what the transactions of a flow can cost to the higher of both, at the later time.
func (m *merger) ruleFee(ctx context.Context, r row) error {
	f := RuleFee{Flow: m.flowOf(r, 0), Rule: r.text(1), At: r.time(4)}
	account, err := accountOf(r.text(2))
	if err == nil {
		f.Account = account
		f.Worth, err = bursar.ParseUnits(r.text(3))
	}
	if err == nil && f.Flow == noFlow {
		err = errors.New("its transaction is missing")
	}
	if err != nil {
		return fmt.Errorf("%w: what an approved transaction can cost: %w", ErrInterchange, err)
	}
	list, err := m.tx.RuleFeesIn(ctx, f.Flow)
	if err != nil {
		return err
	}
	for _, own := range list {
		if own.Rule != f.Rule || own.Account != f.Account {
			continue
		}
		f.Worth = f.Worth.Max(own.Worth)
		if f.At.Before(own.At) {
			f.At = own.At
		}
	}
	return m.tx.SetRuleFee(ctx, f)
}

func (m *merger) payment(ctx context.Context, r row) error {
	digest, err := r.digest(0)
	if err != nil {
		return err
	}
	_, err = m.tx.exec(ctx, `INSERT INTO payments(digest, number) VALUES (?, ?)
		ON CONFLICT (digest) DO UPDATE SET number = max(number, excluded.number)`, digest[:], r.number(1))
	return err
}

func (m *merger) denial(ctx context.Context, r row) error {
	digest, err := r.digest(0)
	if err != nil {
		return err
	}
	return m.tx.AddDenial(ctx, digest, Denial{r.text(1), r.text(2), r.time(3)})
}

// removed takes over a removal that this memory does not know, and ends with it what it has of that address: signed
// texts from after the removal can be applied again.
func (m *merger) removed(ctx context.Context, r row) error {
	chain, base, at := bursar.ChainID(r.text(0)), r.text(1), r.time(2)
	own, err := m.tx.Removed(ctx, chain, base)
	if err != nil || !own.Before(at) {
		return err
	}
	if _, err := m.tx.exec(ctx, `DELETE FROM destinations WHERE chain = ? AND base = ?`, string(chain), base); err != nil {
		return err
	}
	return m.tx.AddRemoved(ctx, chain, base, at)
}

func (m *merger) touch(ctx context.Context, r row) error {
	return m.tx.AddTouch(ctx, Touch{r.text(0), r.text(1), r.time(2), uint32(r.number(3))})
}

func (m *merger) epoch(ctx context.Context, r row) error {
	list, err := m.tx.Epochs(ctx)
	if err != nil {
		return err
	}
	for _, e := range list {
		if int64(e.Number) == r.number(0) {
			if e.Fingerprint != r.text(1) {
				return fmt.Errorf("%w: its epoch %d is of another seed", ErrInterchange, e.Number)
			}
			return nil
		}
	}
	return m.tx.AddEpoch(ctx, Epoch{uint32(r.number(0)), r.text(1), r.time(2)})
}

func (m *merger) knownPolicy(ctx context.Context, r row) error {
	own, err := m.tx.KnownPolicy(ctx)
	if err != nil {
		return err
	}
	there := KnownPolicy{r.number(0), r.text(1)}
	if own.Version == there.Version && own.Hash != there.Hash {
		m.conflict("version %d of the policy is %s here and %.80s there", own.Version, own.Hash, there.Hash)
	}
	return m.tx.KnowPolicy(ctx, there)
}

// freeze freezes this memory as the other is, unless it knows that freeze, thawed or not.
func (m *merger) freeze(ctx context.Context, r row) error {
	at, who, why := r.time(0), r.text(1), r.text(2)
	found, err := m.tx.one(ctx, `SELECT 1 FROM freezes WHERE at = ? AND who = ? AND why = ?`,
		[]any{millis(at), who, why}, new(int))
	if err != nil || found {
		return err
	}
	return setFrozen(ctx, m.tx, Freeze{at, who, why})
}
