package memory

import (
	"context"
	"database/sql"
	"fmt"
)

// migrations bring a file from the version of their index to the next. A released one never changes.
var migrations = []string{`
CREATE TABLE state (
	one INTEGER PRIMARY KEY CHECK (one = 1),
	instance TEXT NOT NULL,
	fingerprint TEXT NOT NULL,
	high_water INTEGER NOT NULL,
	cold_since INTEGER NOT NULL
) STRICT;
CREATE TABLE utxos (
	chain TEXT NOT NULL,
	outpoint TEXT NOT NULL,
	amount TEXT NOT NULL,
	script TEXT NOT NULL,
	first_seen INTEGER NOT NULL,
	PRIMARY KEY (chain, outpoint)
) STRICT, WITHOUT ROWID;
CREATE TABLE flows (
	id INTEGER PRIMARY KEY,
	chain TEXT NOT NULL,
	kind TEXT NOT NULL,
	outgoing TEXT NOT NULL,
	at INTEGER NOT NULL
) STRICT;
CREATE TABLE resources (
	chain TEXT NOT NULL,
	resource TEXT NOT NULL,
	flow INTEGER NOT NULL REFERENCES flows(id),
	PRIMARY KEY (chain, resource, flow)
) STRICT, WITHOUT ROWID;
CREATE INDEX resources_of_flow ON resources(flow);
CREATE TABLE counts (
	flow INTEGER NOT NULL REFERENCES flows(id),
	class TEXT NOT NULL,
	asset TEXT NOT NULL,
	units TEXT NOT NULL,
	at INTEGER NOT NULL,
	PRIMARY KEY (flow, class, asset)
) STRICT, WITHOUT ROWID;
CREATE INDEX counts_by_time ON counts(at);
CREATE TABLE signed (
	chain TEXT NOT NULL,
	digest BLOB NOT NULL,
	flow INTEGER NOT NULL REFERENCES flows(id),
	PRIMARY KEY (chain, digest)
) STRICT, WITHOUT ROWID;
CREATE TABLE freezes (
	id INTEGER PRIMARY KEY,
	at INTEGER NOT NULL,
	who TEXT NOT NULL,
	why TEXT NOT NULL,
	thawed_at INTEGER,
	thawed_who TEXT,
	thawed_why TEXT
) STRICT;
CREATE TABLE log (
	number INTEGER PRIMARY KEY,
	at INTEGER NOT NULL,
	kind TEXT NOT NULL,
	detail TEXT NOT NULL,
	hash BLOB NOT NULL
) STRICT;
`, `
ALTER TABLE signed ADD COLUMN at INTEGER NOT NULL DEFAULT 0;
UPDATE signed SET at = (SELECT flows.at FROM flows WHERE flows.id = signed.flow);
CREATE INDEX signed_of_flow ON signed(flow, at);
CREATE INDEX signed_by_time ON signed(at);
`, peopleSchema, paymentsSchema, knownSchema, ordersSchema, touchesSchema, epochsSchema,
	denialsSchema, counterSchema, epochEntriesSchema, compromiseSchema, ruleFeesSchema, thawsSchema}

// version returns a file's schema version; 0 is a file without tables.
func version(ctx context.Context, tx *sql.Tx) (n int, err error) {
	err = tx.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&n)
	return n, err
}

// migrate runs the migrations from a version on. A file of a later release is refused.
func migrate(ctx context.Context, tx *sql.Tx, from int) error {
	if from > len(migrations) {
		return fmt.Errorf("%w: its schema version is %d, this release knows %d", ErrOtherSigner, from, len(migrations))
	}
	for _, text := range migrations[from:] {
		if _, err := tx.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	_, err := tx.ExecContext(ctx, fmt.Sprintf(`PRAGMA user_version = %d`, len(migrations)))
	return err
}
