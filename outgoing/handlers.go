package outgoing

import "github.com/bursar/bursar/follow"

// Handlers returns the block handlers of a chain's follower, in their order: first what external spends use, by which
// they are judged; then the external spends themselves, before everything else, so that the change of a transaction
// that the database had forgotten is known to be ours; then the deposits; and after them the inclusions of our
// transactions. A block is undone in the reverse order: outgoing transactions that were settled in it are unsettled
// before its deposits are reversed, so that what an account owes is computed as it was.
//
// What leaves cold wallets comes before all of them: Uses drops a spend that no endpoint proves and that uses no UTXO
// of the hot wallet, the external spends are none of it, and the deposits that it makes are named after it.
func Handlers(externals *Externals, cold *ColdSpends, deposits follow.BlockHandler) []follow.BlockHandler {
	uses := &Uses{Capabilities: externals.Capabilities, Log: externals.Log}
	return []follow.BlockHandler{cold, uses, externals, deposits, externals.Inclusions}
}
