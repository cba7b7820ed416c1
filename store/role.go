package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Role is a role of PostgreSQL that is given rights to the tables.
type Role struct {
	Name    string
	Reports bool // only reads, and not everything; otherwise it is the service's
}

var (
	// ErrNoRoles is returned where the database is SQLite, which has none.
	ErrNoRoles = errors.New("SQLite has no roles: who may open the file may change it")
	// ErrRoleUnbound is returned for a role that rights do not bind.
	ErrRoleUnbound = errors.New("rights do not bind this role: it is a superuser, owns tables, or is a member of a " +
		"role that does")
	// ErrNotOwner is returned to a role that cannot give rights.
	ErrNotOwner = errors.New("only the role that owns the tables gives rights: name it in BURSAR_DATABASE")
	// ErrNoRights is returned by Open for a role that the tables are closed to.
	ErrNoRights = errors.New("the role of the database may neither make nor read the tables: run bursar migrate, " +
		"then bursar database grant, as the role that owns them")
	// ErrSchemaBehind is returned by Open where the schema is older than the program and the role may not change it.
	ErrSchemaBehind = errors.New("the schema of the database is older than this program, and its role may not change " +
		"it: run bursar migrate as the role that owns the tables")
)

// grants returns the statements that give a role its rights, and take every other right to the tables from it.
func (r Role) grants(schema string, tables []string) (list []string, err error) {
	role, in := pgx.Identifier{r.Name}.Sanitize(), pgx.Identifier{schema}.Sanitize()
	list = []string{
		"REVOKE ALL ON ALL TABLES IN SCHEMA " + in + " FROM " + role,
		"REVOKE ALL ON ALL SEQUENCES IN SCHEMA " + in + " FROM " + role,
		"GRANT USAGE ON SCHEMA " + in + " TO " + role,
	}
	if !r.Reports { // which reads them for a backup
		list = append(list, "GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA "+in+" TO "+role)
	}
	for _, table := range tables {
		has, known := rights[table]
		switch {
		case !known:
			return nil, fmt.Errorf("table %s: nothing says what the service may do with it", table)
		case r.Reports && unreadable[table]:
			continue
		case r.Reports:
			has = readOnly
		}
		list = append(list, "GRANT "+has.text()+" ON "+in+"."+pgx.Identifier{table}.Sanitize()+" TO "+role)
	}
	return list, nil
}

// text is the list of privileges in the words of GRANT.
func (r right) text() string {
	words := []string{"SELECT"}
	if r.add {
		words = append(words, "INSERT")
	}
	switch {
	case slices.Equal(r.change, every):
		words = append(words, "UPDATE")
	case len(r.change) > 0:
		words = append(words, "UPDATE ("+strings.Join(r.change, ", ")+")")
	}
	if r.remove {
		words = append(words, "DELETE")
	}
	return strings.Join(words, ", ")
}

// Grants returns the statements that Grant runs, each without its semicolon.
func (db *DB) Grants(ctx context.Context, role Role) (list []string, err error) {
	if !db.postgres {
		return nil, ErrNoRoles
	}
	err = db.View(ctx, func(tx *Tx) error {
		list, err = tx.grants(ctx, role)
		return err
	})
	return list, err
}

// Grant gives a role that exists what it needs, and takes everything else from it, in one transaction; the connection's
// role must own the tables, or it returns ErrNotOwner. A migration gives the role its rights to what it adds. Grant
// returns ErrRoleUnbound for a role to which rights mean nothing.
func (db *DB) Grant(ctx context.Context, role Role) error {
	if !db.postgres {
		return ErrNoRoles
	}
	return db.Do(ctx, func(tx *Tx) error {
		// To a role that owns nothing the server only warns, and gives nothing (PostgreSQL 15, GRANT).
		owner, err := tx.ownUnbound(ctx)
		if err != nil {
			return err
		}
		if !owner {
			return ErrNotOwner
		}
		unbound, err := tx.unbound(ctx, role.Name)
		if err != nil {
			return err
		}
		if unbound {
			return fmt.Errorf("%w: %s", ErrRoleUnbound, role.Name)
		}
		return tx.grant(ctx, role)
	})
}

func (tx *Tx) grant(ctx context.Context, role Role) error {
	list, err := tx.grants(ctx, role)
	for _, statement := range list {
		if err == nil {
			_, err = tx.exec(ctx, "grant rights", statement)
		}
	}
	return err
}

func (tx *Tx) grants(ctx context.Context, role Role) ([]string, error) {
	var schema string
	if err := tx.row(ctx, "read schema's name", `SELECT current_schema()::text`, nil, &schema); err != nil {
		return nil, err
	}
	tables, err := rows(ctx, tx, "list tables", scanOne[string],
		`SELECT tablename::text FROM pg_catalog.pg_tables WHERE schemaname = $1 ORDER BY tablename`, schema)
	if err != nil {
		return nil, err
	}
	return role.grants(schema, tables)
}

// unbound reports whether a role may do everything with the tables whatever it is granted.
func (tx *Tx) unbound(ctx context.Context, role string) (unbound bool, err error) {
	err = tx.row(ctx, "look at a role", `SELECT r.rolsuper OR EXISTS (SELECT 1 FROM pg_catalog.pg_tables t
		WHERE t.schemaname = current_schema() AND pg_has_role(r.oid, t.tableowner, 'MEMBER'))
		FROM pg_catalog.pg_roles r WHERE r.rolname = $1`, []any{role}, &unbound)
	if errors.Is(err, ErrNotFound) {
		err = fmt.Errorf("there is no role %q: create it first, with CREATE ROLE … LOGIN", role)
	}
	return unbound, err
}

// grantAgain gives the roles that Grant was called for what a migration has added. They are those that may read
// postings and do not own them; the service's may add some.
func (tx *Tx) grantAgain(ctx context.Context) error {
	roles, err := rows(ctx, tx, "list roles", func(s scanner) (r Role, err error) {
		return r, s.Scan(&r.Name, &r.Reports)
	}, `SELECT r.rolname::text, NOT bool_or(a.privilege_type = 'INSERT') FROM pg_catalog.pg_class c
		CROSS JOIN LATERAL aclexplode(c.relacl) a JOIN pg_catalog.pg_roles r ON r.oid = a.grantee
		WHERE c.oid = 'postings'::regclass AND a.grantee <> c.relowner GROUP BY r.rolname ORDER BY r.rolname`)
	for _, role := range roles {
		if err == nil {
			err = tx.grant(ctx, role)
		}
	}
	return err
}

// Unbound reports whether the role of this connection may do everything with the tables, whatever it is granted: it
// owns them, or is a superuser. On SQLite it is false.
func (db *DB) Unbound(ctx context.Context) (unbound bool, err error) {
	if !db.postgres {
		return false, nil
	}
	err = db.View(ctx, func(tx *Tx) error {
		unbound, err = tx.ownUnbound(ctx)
		return err
	})
	return unbound, err
}

// ownUnbound is unbound for the role of this connection.
func (tx *Tx) ownUnbound(ctx context.Context) (bool, error) {
	var role string
	if err := tx.row(ctx, "read role", `SELECT current_user::text`, nil, &role); err != nil {
		return false, err
	}
	return tx.unbound(ctx, role)
}

// refusedSchema says what to do where the server let the role not see or not change the schema. Every other error, and
// none, stays.
func (db *DB) refusedSchema(ctx context.Context, err error) error {
	var refused *pgconn.PgError
	if !errors.As(err, &refused) || refused.Code != "42501" { // insufficient_privilege
		return err
	}
	var readable bool
	query := `SELECT COALESCE(has_table_privilege(to_regclass('goose_db_version'), 'SELECT'), FALSE)`
	if db.write.QueryRowContext(ctx, query).Scan(&readable) == nil && readable {
		return ErrSchemaBehind
	}
	return ErrNoRights
}
