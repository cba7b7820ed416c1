package store

import (
	"context"
	"time"

	"github.com/bursar/bursar"
)

// PasskeyChallenge is a challenge that a passkey has to answer. Any process may take the answer, once.
type PasskeyChallenge struct {
	ID         bursar.ID
	Data       string    // what the answer is judged by, as JSON
	Person     bursar.ID // whose passkey is made; zero: somebody signs in
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

// MaxPasskeyChallenges bounds how many challenges wait for an answer: where there are more, the oldest give way.
const MaxPasskeyChallenges = 1024

// AddChallenge adds a challenge, and removes those whose time is over and the oldest of too many. Two that are added at
// once may exceed the bound until the next one.
func (tx People) AddChallenge(ctx context.Context, c PasskeyChallenge) error {
	if _, err := tx.exec(ctx, "remove expired challenges", `DELETE FROM passkey_challenges WHERE expires_at <= $1`,
		micros(tx.now)); err != nil {
		return err
	}
	if _, err := tx.exec(ctx, "remove the oldest challenges", `DELETE FROM passkey_challenges WHERE id IN (
		SELECT id FROM passkey_challenges ORDER BY expires_at DESC, id LIMIT $1 OFFSET $2)`,
		MaxPasskeyChallenges, MaxPasskeyChallenges-1); err != nil {
		return err
	}
	query, args := values{
		{"id", c.ID},
		{"data", c.Data},
		{"person_id", c.Person},
		{"invitation", c.Invitation},
		{"session_id", c.Session},
		{"expires_at", micros(c.Expires)},
	}.insertInto("passkey_challenges")
	_, err := tx.exec(ctx, "add challenge", query, args...)
	return err
}

// TakeChallenge removes a challenge and returns it; ErrNotFound where it was taken already, gave way or has expired. Of
// two that take it at once, one gets it.
func (tx People) TakeChallenge(ctx context.Context, id bursar.ID) (PasskeyChallenge, error) {
	return one(ctx, tx.Tx, "take challenge", challengeColumns.scan, `DELETE FROM passkey_challenges
		WHERE id = $1 AND expires_at > $2 RETURNING `+challengeColumns.names, id, micros(tx.now))
}
