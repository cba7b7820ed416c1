package store

import "database/sql"

// Raw lets a test ask the database about itself.
func (tx *Tx) Raw() *sql.Tx { return tx.tx.(*sql.Tx) }
