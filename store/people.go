package store

import (
	"context"
	"crypto/sha256"
	"time"

	"github.com/bursar/bursar"
)

// Person is a row of people. Roles and accounts in force change at ChangesAt.
type Person struct {
	ID                      bursar.ID
	Name                    string
	Roles, Accounts         []string
	NextRoles, NextAccounts []string
	ChangesAt               time.Time // zero: no change waits
	CreatedAt, RevokedAt    time.Time
}

var personColumns = columnsOf([]column[Person]{
	{"id", func(p *Person) any { return &p.ID }},
	{"name", func(p *Person) any { return &p.Name }},
	{"roles", func(p *Person) any { return texts[string]{&p.Roles} }},
	{"accounts", func(p *Person) any { return texts[string]{&p.Accounts} }},
	{"next_roles", func(p *Person) any { return texts[string]{&p.NextRoles} }},
	{"next_accounts", func(p *Person) any { return texts[string]{&p.NextAccounts} }},
	{"changes_at", func(p *Person) any { return instant{&p.ChangesAt} }},
	{"created_at", func(p *Person) any { return instant{&p.CreatedAt} }},
	{"revoked_at", func(p *Person) any { return instant{&p.RevokedAt} }},
})

// Insert adds a person. It fails where the name is taken.
func (tx People) Insert(ctx context.Context, p Person) error {
	query, args := values{
		{"id", p.ID},
		{"name", p.Name},
		{"roles", joinText(p.Roles)},
		{"accounts", joinText(p.Accounts)},
		{"next_roles", joinText(p.NextRoles)},
		{"next_accounts", joinText(p.NextAccounts)},
		{"changes_at", micros(p.ChangesAt)},
		{"created_at", micros(tx.now)},
	}.insertInto("people")
	_, err := tx.exec(ctx, "insert person", query, args...)
	return err
}

// Get returns a person; ErrNotFound where there is none.
func (tx People) Get(ctx context.Context, id bursar.ID) (Person, error) {
	return personColumns.one(ctx, tx.Tx, "read person", `FROM people WHERE id = $1`, id)
}

// Named returns the person of a name, locked until the transaction ends; ErrNotFound where there is none.
func (tx People) Named(ctx context.Context, name string) (Person, error) {
	return personColumns.one(ctx, tx.Tx, "read person", `FROM people WHERE name = $1`+tx.forUpdate(), name)
}

// List returns everybody, by name.
func (tx People) List(ctx context.Context) ([]Person, error) {
	return personColumns.rows(ctx, tx.Tx, "list people", `FROM people ORDER BY name`)
}

// SetRoles writes roles and accounts of a person, those in force and those to come.
func (tx People) SetRoles(ctx context.Context, p Person) error {
	return tx.change(ctx, "set roles", `UPDATE people SET roles = $2, accounts = $3, next_roles = $4, next_accounts = $5,
		changes_at = $6 WHERE id = $1`, p.ID, joinText(p.Roles), joinText(p.Accounts), joinText(p.NextRoles),
		joinText(p.NextAccounts), micros(p.ChangesAt))
}

// Revoke ends a person's access for good.
func (tx People) Revoke(ctx context.Context, id bursar.ID) error {
	return tx.change(ctx, "revoke person", `UPDATE people SET revoked_at = $2 WHERE id = $1 AND revoked_at = 0`, id,
		micros(tx.now))
}

// Invitation is a link with which a person makes a passkey. Only the hash of its token is stored.
type Invitation struct {
	Hash     [sha256.Size]byte
	Person   bursar.ID
	Recovery bool // the person's earlier passkeys end when it is used
	Expires  time.Time
}

// Invite adds an invitation, and ends the earlier ones of the person.
func (tx People) Invite(ctx context.Context, i Invitation) error {
	if _, err := tx.exec(ctx, "end invitations",
		`UPDATE invitations SET used_at = $2 WHERE person_id = $1 AND used_at = 0`,
		i.Person, micros(tx.now)); err != nil {
		return err
	}
	query, args := values{
		{"hash", i.Hash[:]},
		{"person_id", i.Person},
		{"recovery", i.Recovery},
		{"created_at", micros(tx.now)},
		{"expires_at", micros(i.Expires)},
	}.insertInto("invitations")
	_, err := tx.exec(ctx, "insert invitation", query, args...)
	return err
}

var invitationColumns = columnsOf([]column[Invitation]{
	{"hash", func(i *Invitation) any { return sha{&i.Hash} }},
	{"person_id", func(i *Invitation) any { return &i.Person }},
	{"recovery", func(i *Invitation) any { return &i.Recovery }},
	{"expires_at", func(i *Invitation) any { return instant{&i.Expires} }},
})

// Invitation returns an invitation that may still be used; ErrNotFound for any other.
func (tx People) Invitation(ctx context.Context, hash [sha256.Size]byte) (Invitation, error) {
	return invitationColumns.one(ctx, tx.Tx, "read invitation",
		`FROM invitations WHERE hash = $1 AND used_at = 0 AND expires_at > $2`, hash[:], micros(tx.now))
}

// UseInvitation marks an invitation as used; ErrNotFound where it is already, or has expired: one of two who use it at
// once fails.
func (tx People) UseInvitation(ctx context.Context, hash [sha256.Size]byte) error {
	return tx.change(ctx, "use invitation",
		`UPDATE invitations SET used_at = $2 WHERE hash = $1 AND used_at = 0 AND expires_at > $2`, hash[:], micros(tx.now))
}

// Passkey is a credential of a person, as JSON.
type Passkey struct {
	ID            []byte
	Person        bursar.ID
	Credential    string
	Created, Used time.Time
}

var passkeyColumns = columnsOf([]column[Passkey]{
	{"id", func(k *Passkey) any { return &k.ID }},
	{"person_id", func(k *Passkey) any { return &k.Person }},
	{"credential", func(k *Passkey) any { return &k.Credential }},
	{"created_at", func(k *Passkey) any { return instant{&k.Created} }},
	{"used_at", func(k *Passkey) any { return instant{&k.Used} }},
})

// Passkeys returns the passkeys of a person that count, oldest first.
func (tx People) Passkeys(ctx context.Context, person bursar.ID) ([]Passkey, error) {
	return passkeyColumns.rows(ctx, tx.Tx, "list passkeys",
		`FROM passkeys WHERE person_id = $1 AND removed_at = 0 ORDER BY created_at, id`, person)
}

// AddPasskey adds a passkey. It fails where the credential is known already.
func (tx People) AddPasskey(ctx context.Context, k Passkey) error {
	query, args := values{
		{"id", k.ID},
		{"person_id", k.Person},
		{"credential", k.Credential},
		{"created_at", micros(tx.now)},
		{"used_at", micros(tx.now)},
	}.insertInto("passkeys")
	_, err := tx.exec(ctx, "insert passkey", query, args...)
	return err
}

// UsePasskey writes what a passkey is after it was used; ErrNotFound where it has been removed.
func (tx People) UsePasskey(ctx context.Context, k Passkey) error {
	return tx.change(ctx, "use passkey",
		`UPDATE passkeys SET credential = $2, used_at = $3 WHERE id = $1 AND person_id = $4 AND removed_at = 0`, k.ID,
		k.Credential, micros(tx.now), k.Person)
}

// RemovePasskeys ends all passkeys of a person.
func (tx People) RemovePasskeys(ctx context.Context, person bursar.ID) error {
	_, err := tx.exec(ctx, "remove passkeys",
		`UPDATE passkeys SET removed_at = $2 WHERE person_id = $1 AND removed_at = 0`,
		person, micros(tx.now))
	return err
}
