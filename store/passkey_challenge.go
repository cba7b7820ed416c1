package store

import (
	"context"
	"time"

	"github.com/bursar/bursar"
)

// PasskeyChallenge is a challenge that a passkey has to answer. Any process may take the answer, once.
type PasskeyChallenge struct {
	ID         bursar.ID
	Data       string    // what the answer is evaluated by, as JSON
	Person     bursar.ID // whose passkey is made; zero: it was used to sign in
	Invitation []byte    // the hash of the invitation that makes it; empty: none
	Session    bursar.ID // in which another passkey is made; zero: none
	Expires    time.Time
}

var challengeColumns = columnsOf([]column[PasskeyChallenge]{
	{"id", func(c *PasskeyChallenge) any { return &c.ID }},
	{"data", func(c *PasskeyChallenge) any { return &c.Data }},
	{"person_id", func(c *PasskeyChallenge) any { return &c.Person }},
	{"invitation", func(c *PasskeyChallenge) any { return &c.Invitation }},
	{"session_id", func(c *PasskeyChallenge) any { return &c.Session }},
	{"expires_at", func(c *PasskeyChallenge) any { return instant{&c.Expires} }},
})

// MaxPasskeyChallenges bounds how many challenges of one person wait for an answer: where there are more, the oldest
// give way. Nobody's give way to another person's.
const MaxPasskeyChallenges = 8

// AddChallenge adds a challenge for a person who makes a passkey, and removes those whose time is over and the person's
// oldest of too many. Two that are added at once may exceed the bound until the next one.
func (tx People) AddChallenge(ctx context.Context, c PasskeyChallenge) error {
	if err := tx.forgetChallenges(ctx); err != nil {
		return err
	}
	if _, err := tx.exec(ctx, "remove the oldest challenges", `DELETE FROM passkey_challenges WHERE id IN (
		SELECT id FROM passkey_challenges WHERE person_id = $1 ORDER BY expires_at DESC, id LIMIT $2 OFFSET $3)`,
		c.Person, mostOfAPerson, MaxPasskeyChallenges-1); err != nil {
		return err
	}
	_, err := tx.insertChallenge(ctx, c)
	return err
}

// mostOfAPerson is more than there are of one person.
const mostOfAPerson = 1024

// UseChallenge notes a challenge that proves itself as used, until it expires; ErrNotFound where it was used already.
func (tx People) UseChallenge(ctx context.Context, c PasskeyChallenge) error {
	if err := tx.forgetChallenges(ctx); err != nil {
		return err
	}
	n, err := tx.insertChallenge(ctx, c)
	if err == nil && n == 0 {
		err = ErrNotFound
	}
	return err
}

func (tx People) forgetChallenges(ctx context.Context) error {
	_, err := tx.exec(ctx, "remove expired challenges", `DELETE FROM passkey_challenges WHERE expires_at <= $1`,
		micros(tx.now))
	return err
}

// insertChallenge adds a challenge that is not there, and returns how many that were.
func (tx People) insertChallenge(ctx context.Context, c PasskeyChallenge) (int64, error) {
	query, args := values{
		{"id", c.ID},
		{"data", c.Data},
		{"person_id", c.Person},
		{"invitation", c.Invitation},
		{"session_id", c.Session},
		{"expires_at", micros(c.Expires)},
	}.insertInto("passkey_challenges")
	return tx.exec(ctx, "add challenge", query+` ON CONFLICT (id) DO NOTHING`, args...)
}

// TakeChallenge removes a challenge and returns it; ErrNotFound where it was taken already, gave way or has expired. Of
// two that take it at once, one gets it.
func (tx People) TakeChallenge(ctx context.Context, id bursar.ID) (PasskeyChallenge, error) {
	return one(ctx, tx.Tx, "take challenge", challengeColumns.scan, `DELETE FROM passkey_challenges
		WHERE id = $1 AND expires_at > $2 RETURNING `+challengeColumns.names, id, micros(tx.now))
}
