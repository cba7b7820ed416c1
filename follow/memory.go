package follow

import (
	"time"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// memory is what a follower remembers between two steps. After a restart the chain catches up once more before anything
// is signed.
type memory struct {
	lastHead      chain.Head // the last head that was read
	headReadAt    time.Time
	blocksPending bool // blocks up to lastHead are known to be unread
	moreToBook    bool // the last transaction did not book all that is final

	goal       goal  // how far the chain must be recorded before anything is signed
	readyToken int64 // fencing token of the lease under which the chain caught up

	unknownTxs    map[string]bool // transactions that memory had as ours and the database does not know
	recordedFinal uint64          // the final height in the database when the step began
	recovery      store.Recovery  // the recovery that the chain is in; zero: none

	failureNote    string // what the database says about why the chain cannot be followed
	failureNotedAt time.Time
}

func newMemory() memory { return memory{unknownTxs: map[string]bool{}} }
