package outgoing

import (
	"math"
	"time"

	"github.com/bursar/bursar"
)

// memory is what a sender remembers between two steps. Nothing of it is needed after a restart: it saves work and
// paces attempts, and no decision about money depends on it.
type memory struct {
	auditedThisStep bool // the books were audited in this step
	queueBlocked    bool // withdrawals may wait, and this step could take none of them
	more            bool // this step has built as many of a share as it may, and others wait

	// batchLimit bounds the withdrawals in the next transaction of a currency; halved when it was too high.
	batchLimit map[bursar.CurrencyCode]int
	// lastSentHeight has the height at which this process last sent each transaction.
	lastSentHeight map[bursar.ID]uint64
	// shareCursor has the number of the last transaction in progress that a step looked at.
	shareCursor   map[bursar.OutgoingShare]int64
	firstShare    int // index of the share that comes first in the next step
	firstCurrency int // counts the steps that took from the queue: the index of the currency that comes first
	// putBackAfter is the number of the last forgotten transaction that a step looked at, if there are more after it.
	putBackAfter int64
	// pauses has the transactions that a limit of the signer holds back.
	pauses map[bursar.ID]pause
	// refusals has the transactions that the chain's state refuses, and that are not given up yet.
	refusals map[bursar.ID]stateRefusal

	feesCheckedHeight          uint64 // height at which the chain was last asked whether fees are low
	consolidationSkippedHeight uint64 // height at which a requested consolidation was last skipped
	oldUTXOsSkippedHeight      uint64 // height at which UTXOs of earlier epochs were last not worth their fee
	consolidatesOld            bool   // a consolidation brings UTXOs of earlier epochs to the hot wallet
	consolidationUrgent        bool   // a payment needs more UTXOs than a transaction may use

	// askPreviousFrom has the heights from which a node is asked again for transactions that it did not have.
	askPreviousFrom map[string]uint64
	unprovenAlarm   *string // the message of the alarm about them; nil: not known

	// coldMoveRestsUntil is before when no move to cold is requested: the last could not be paid.
	coldMoveRestsUntil map[bursar.CurrencyCode]time.Time
	coldAlarmClosed    map[bursar.CurrencyCode]bool // no alarm about a move to cold is open

	// lostNonces has, by address of a hot wallet, why nothing new is signed from there in this step; "" if none of its
	// nonces is lost. An address that this step has not looked at is not in it, and waits.
	lostNonces map[string]string
	// contradicted has, by address, until when no nonce is used up, because nodes contradict each other about it.
	contradicted  map[string]time.Time
	nonceTroubles map[string]*nonceTrouble // by what the alarm about them is about
	lostBelow     error                    // why, in this step, lost nonces of a deposit address were not used up

	emptyTries map[bursar.CurrencyCode]emptyTry // what could not be moved under a compromise order
}

func newMemory() memory {
	return memory{
		putBackAfter:       math.MinInt64,
		batchLimit:         map[bursar.CurrencyCode]int{},
		lastSentHeight:     map[bursar.ID]uint64{},
		shareCursor:        map[bursar.OutgoingShare]int64{},
		pauses:             map[bursar.ID]pause{},
		refusals:           map[bursar.ID]stateRefusal{},
		askPreviousFrom:    map[string]uint64{},
		coldMoveRestsUntil: map[bursar.CurrencyCode]time.Time{},
		coldAlarmClosed:    map[bursar.CurrencyCode]bool{},
		contradicted:       map[string]time.Time{},
		nonceTroubles:      map[string]*nonceTrouble{},
		emptyTries:         map[bursar.CurrencyCode]emptyTry{},
	}
}
