package people

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/signer/memory"
)

// ErrCold is returned for a compromise order that names a wallet which is no cold wallet of the signer's configuration.
var ErrCold = errors.New("the order names no cold wallet of this signer's configuration")

// ErrInForce is returned where a compromise order is in force already.
var ErrInForce = errors.New("a compromise order is in force")

// ColdWallets returns the addresses of a chain's cold wallets, as the signer's own configuration lists them, in the
// form of the chain.
type ColdWallets func(id bursar.ChainID) []string

// Use verifies a compromise order, freezes the signer, and puts the order in force: from then on the signer signs
// nothing but what it moves, until a thaw. Each order is used once, for ever. The authors of the policy in force sign
// it, as many as sign a policy or a thaw; it names that policy. Errors: of package roster, ErrOther, ErrTime, ErrUsed,
// ErrCold, ErrInForce; of freezing.
func Use(
	ctx context.Context, file *memory.File, text string, signatures []string, cold ColdWallets, clock time.Time,
) (c approval.Compromise, by []string, err error) {
	err = memory.StopIf(ctx, file, func(ctx context.Context, tx memory.Tx) (f memory.Freeze, err error) {
		c, by, err = use(ctx, tx, text, signatures, cold, clock)
		return memory.Freeze{At: clock.UTC(), Who: strings.Join(by, ", "), Why: fmt.Sprintf("compromise order %s is in "+
			"force: everything is moved to cold wallets, and nothing else is signed", c.ID)}, err
	})
	return c, by, err
}

// use is Use in a transaction, without the freeze.
func use(
	ctx context.Context, tx memory.Tx, text string, signatures []string, cold ColdWallets, clock time.Time,
) (c approval.Compromise, by []string, err error) {
	c, by, now, err := evaluateCompromise(ctx, tx, text, signatures, cold, clock)
	if err != nil {
		return c, nil, err
	}
	if err := once(ctx, tx, usedName(c.ID), now); err != nil {
		return c, nil, err
	}
	if err := tx.BeginCompromise(ctx, memory.Compromise{Text: text, At: now}); err != nil {
		return c, nil, err
	}
	_, err = tx.Append(ctx, now, memory.KindCompromise, compromiseDetail(c, text, by))
	return c, by, err
}

// Drill verifies a compromise order exactly as Use does, and changes nothing but the log and when an order was drilled
// last.
func Drill(
	ctx context.Context, tx memory.Tx, text string, signatures []string, cold ColdWallets, clock time.Time,
) (c approval.Compromise, by []string, err error) {
	c, by, now, err := evaluateCompromise(ctx, tx, text, signatures, cold, clock)
	if err != nil {
		return c, nil, err
	}
	if err := tx.SetDrilled(ctx, memory.Compromise{Text: text, At: now}); err != nil {
		return c, nil, err
	}
	if err := tx.SetHighWater(ctx, now); err != nil {
		return c, nil, err
	}
	_, err = tx.Append(ctx, now, memory.KindDrill, compromiseDetail(c, text, by))
	return c, by, err
}

func compromiseDetail(c approval.Compromise, text string, by []string) string {
	return detail(map[string]any{"order": c.ID.String(), "hash": approval.HashOf(text).String(), "by": by,
		"policy": c.Version, "cold": c.Cold})
}

// evaluateCompromise verifies that an order could be used now.
func evaluateCompromise(
	ctx context.Context, tx memory.Tx, text string, signatures []string, cold ColdWallets, clock time.Time,
) (c approval.Compromise, by []string, now time.Time, err error) {
	if c, err = approval.ParseCompromise(text); err != nil {
		return c, nil, now, err
	}
	policy, now, err := policyFor(ctx, tx, c.Instance, c.Created, c.Expires, clock)
	if err != nil {
		return c, nil, now, err
	}
	if err := ofPolicy(c, policy); err != nil {
		return c, nil, now, err
	}
	if by, err = policy.Quorum(roster.RoleAuthor, policy.Authors, approval.NamespaceCompromise, text, signatures,
		now); err != nil {
		return c, nil, now, err
	}
	if err := onlyCold(c, cold); err != nil {
		return c, nil, now, err
	}
	if _, used, err := tx.Nonce(ctx, usedName(c.ID)); err != nil || used {
		if err == nil {
			err = fmt.Errorf("%w: compromise order %s", ErrUsed, c.ID)
		}
		return c, nil, now, err
	}
	other, found, err := tx.Compromise(ctx)
	if err == nil && found {
		err = fmt.Errorf("%w since %s, and a thaw ends it", ErrInForce, approval.Moment(other.At))
	}
	return c, by, now, err
}

// usedName is the name under which it is remembered that an order was used. No text that people sign has such a nonce.
//
// The attack: one approver, who chooses the nonces of their approvals, gives one of them the ID of the order that was
// drilled. With the payment that it approves the order would be used up, and nothing would move once it is needed.
func usedName(id approval.Nonce) string { return "compromise " + id.String() }

// ofPolicy refuses an order under another policy than the one in force: who signs, and which assets there are, may have
// changed since.
func ofPolicy(c approval.Compromise, policy roster.Policy) error {
	if c.Version != policy.Version || c.Policy != policy.Hash() {
		return fmt.Errorf("%w: the order is under version %d of the policy, %s, and version %d, %s, is in force: prepare "+
			"and sign another", roster.ErrReplayed, c.Version, c.Policy, policy.Version, policy.Hash())
	}
	return nil
}

func onlyCold(c approval.Compromise, cold ColdWallets) error {
	for _, d := range c.Cold {
		if !slices.Contains(cold(d.Chain), d.Base) {
			return fmt.Errorf("%w: %s on %s", ErrCold, d.Base, d.Chain)
		}
	}
	return nil
}

// CompromiseOrder is an order that was used.
type CompromiseOrder struct {
	approval.Compromise
	Since time.Time
}

// CompromiseInForce returns the compromise order that is in force.
func CompromiseInForce(ctx context.Context, tx memory.Tx) (o CompromiseOrder, found bool, err error) {
	used, found, err := tx.Compromise(ctx)
	if err != nil || !found {
		return o, false, err
	}
	o.Since = used.At
	o.Compromise, err = approval.ParseCompromise(used.Text)
	return o, err == nil, err
}

// CompromiseStatus says what a signer knows of compromise orders.
type CompromiseStatus struct {
	// InForce is the text of the order that was used and that no thaw has ended; Since says when it was used.
	InForce string    `json:"inForce,omitempty"`
	Since   time.Time `json:"since,omitzero"`
	// Order is the text of the one that was drilled last; Drilled says when.
	Order   string    `json:"order,omitempty"`
	Drilled time.Time `json:"drilled,omitzero"`
	// Wanted says that there should be one: people signed a policy, and there are cold wallets.
	Wanted bool `json:"wanted,omitempty"`
	// Trouble says why the order that was drilled last would not help today, or will not soon; empty: it would.
	Trouble string `json:"trouble,omitempty"`
}

// How often an order is drilled, and how long before its end another is due.
const (
	DrillEvery    = 92 * 24 * time.Hour
	RenewedBefore = 14 * 24 * time.Hour
)

// CompromiseStatusOf returns what is known of compromise orders. chains are those of the signer's configuration.
func CompromiseStatusOf(
	ctx context.Context, tx memory.Tx, chains []bursar.ChainID, cold ColdWallets, clock time.Time,
) (s CompromiseStatus, err error) {
	used, found, err := tx.Compromise(ctx)
	if err != nil {
		return s, err
	}
	if found {
		s.InForce, s.Since = used.Text, used.At
	}
	drilled, found, err := tx.Drilled(ctx)
	if err != nil {
		return s, err
	}
	s.Order, s.Drilled = drilled.Text, drilled.At
	policy, has, err := Effective(ctx, tx, clock)
	if errors.Is(err, ErrLost) || errors.Is(err, ErrNoPolicy) {
		return s, nil // what is said of that says more
	}
	s.Wanted = err == nil && has && slices.ContainsFunc(chains, func(id bursar.ChainID) bool { return len(cold(id)) > 0 })
	if err != nil || !s.Wanted || s.InForce != "" {
		return s, err
	}
	if !found {
		s.Trouble = "no compromise order was drilled"
		return s, nil
	}
	s.Trouble, err = troubleOf(ctx, tx, drilled, policy, chains, cold, clock)
	return s, err
}

func troubleOf(
	ctx context.Context, tx memory.Tx, drilled memory.Compromise, policy roster.Policy, chains []bursar.ChainID,
	cold ColdWallets, clock time.Time,
) (string, error) {
	c, err := approval.ParseCompromise(drilled.Text)
	if err != nil {
		return "", err
	}
	state, err := tx.State(ctx)
	if err != nil {
		return "", err
	}
	_, used, err := tx.Nonce(ctx, usedName(c.ID))
	if err != nil {
		return "", err
	}
	name := "compromise order " + c.ID.String()
	if why := ofPolicy(c, policy); why != nil {
		return fmt.Sprintf("%s would be refused: it is under version %d of the policy, and version %d is in force", name,
			c.Version, policy.Version), nil
	}
	if why := onlyCold(c, cold); why != nil {
		return fmt.Sprintf("%s would be refused: %v", name, why), nil
	}
	switch {
	case c.Instance != state.Instance:
		return name + " would be refused: the signer's state began again since", nil
	case used:
		return name + " was used", nil
	case !clock.Before(c.Expires):
		return fmt.Sprintf("%s ended at %s", name, approval.Moment(c.Expires)), nil
	case !clock.Before(c.Expires.Add(-RenewedBefore)):
		return fmt.Sprintf("%s ends at %s", name, approval.Moment(c.Expires)), nil
	case clock.Sub(drilled.At) > DrillEvery:
		return fmt.Sprintf("%s was drilled last at %s", name, approval.Moment(drilled.At)), nil
	}
	for _, id := range chains {
		if len(cold(id)) > 0 && c.To(id) == "" {
			return fmt.Sprintf("%s names no cold wallet of %s, which has one", name, id), nil
		}
	}
	return "", nil
}
