package outgoing

import "github.com/bursar/bursar/follow"

// Handlers returns what a chain's follower has take in a block, in its order. External spends come before everything
// else, so that the change of a transaction that the database had forgotten is known to be ours; before them what they
// use, by which they are judged; and behind the deposits what blocks say of transactions of ours. A block is undone in
// the reverse order: what was settled in it is unsettled before its deposits are reversed, so that what an account owes
// then is reckoned as it was.
func Handlers(externals *Externals, deposits follow.BlockHandler) []follow.BlockHandler {
	uses := &Uses{Capabilities: externals.Capabilities, Log: externals.Log}
	return []follow.BlockHandler{uses, externals, deposits, externals.Inclusions}
}
