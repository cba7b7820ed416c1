// Package operator holds the people who run the service: their roles, verbs, passkeys, sessions and invitations, and
// the log of what they did.
//
// It owns who may do what in the console, and the log of acts. It moves no money. Its invariants: an act and its row in
// the log are committed together or not at all; a row of the log is never changed and carries the hash of the row
// before it; no role but approver may approve a withdrawal; a role takes effect after a hold; of links and cookies only
// hashes are stored.
package operator
