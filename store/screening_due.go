package store

import (
	"context"

	"github.com/bursar/bursar"
)

// The conditions of what is screened. A screening of a deposit counts for the block that it was asked about only.
const (
	// passedAs holds for a screening, of table s, that lets its subject go on at the time of a parameter.
	passedAs = `(s.outcome = 'released' OR s.outcome = 'pass' AND s.expires_at > `

	// unscreened are the purposes of deposits that are not screened: bursar.DepositPurpose.IsScreened.
	unscreened = `('capital', 'cold', 'cold_funds', 'refill')`

	// resolvedBefore holds for a deposit that an operator assigned or refunded, and that a reorg has brought back.
	resolvedBefore = `EXISTS (SELECT 1 FROM resolutions n WHERE n.deposit_id = d.id AND n.status <> 'failed')`

	// notedAsScreened holds while the database is screened. A replica without screening in its configuration does not
	// start then, but may have started before.
	notedAsScreened = `EXISTS (SELECT 1 FROM settings g WHERE g.name = '` + screeningKey + `' AND g.value <> '')`

	ofDeposit = `SELECT 1 FROM screenings s WHERE s.subject = d.id AND s.block_hash = d.block_hash AND `
	ofPayout  = `SELECT 1 FROM screenings s WHERE s.subject = withdrawals.id AND `

	// ofAttempts is how often something was asked about in vain. What was asked about least comes first, so that what
	// the service never answers about stands in no other's way.
	ofAttempts = `SELECT COALESCE(MAX(s.attempts), 0) FROM screenings s WHERE `

	// depositHeld holds for a deposit that nobody may credit, whether deposits are screened now or not: what was to be
	// reviewed is not credited because the service's address was taken out of the configuration.
	depositHeld = `EXISTS (` + ofDeposit + `s.outcome = 'review')`
	// payoutHeld is depositHeld for a withdrawal.
	payoutHeld = `EXISTS (` + ofPayout + `(s.outcome = 'review' OR s.outcome = 'rejected'))`
)

// mayBeCredited is the condition of deposits that may be credited as far as screening is concerned. Where deposits are
// screened, it takes one parameter more, the time. The operator's own money is not screened, and neither is what an
// operator resolved; what was rejected belongs to nobody and is booked as that. A process that screens nothing credits
// nothing that others screen.
func mayBeCredited(screened bool, now string) string {
	if !screened {
		return ` AND NOT ` + depositHeld + ` AND (NOT ` + notedAsScreened + ` OR d.purpose IN ` + unscreened + `)`
	}
	return ` AND (d.purpose IN ` + unscreened + ` OR ` + resolvedBefore + ` OR EXISTS (` + ofDeposit + `(` +
		passedAs + now +
		`) OR s.outcome = 'rejected' AND d.purpose = 'unattributed')))`
}

// ToScreen is what CreditQuery names for the deposits that wait for the screening service and for nothing else, and
// that may be asked about now.
func (tx Deposits) ToScreen(ctx context.Context, q CreditQuery) ([]bursar.Deposit, error) {
	if len(q.Currencies) == 0 {
		return nil, nil
	}
	fixed := []any{string(q.Chain), int64(q.Final), int64(q.Latest), int64(q.Recorded), q.Limit, micros(tx.now)}
	return depositColumns.rows(ctx, tx.Tx, "list deposits to be screened", depositFrom+` WHERE d.chain = $1
		AND d.status = 'pending' AND d.height <= $2 AND d.counts_from <= $3 AND d.height + d.required <= $4 + 1
		AND d.opinions = 0 AND d.purpose NOT IN `+unscreened+`
		AND NOT EXISTS (`+ofDeposit+`(`+passedAs+`$6) OR s.outcome = 'review' OR s.outcome = 'rejected'
		OR s.outcome = 'waiting' AND s.next_at > $6)) AND NOT `+resolvedBefore+`
		AND d.currency IN (`+list(len(q.Currencies), len(fixed))+`)
		ORDER BY (`+ofAttempts+`s.subject = d.id AND s.block_hash = d.block_hash), d.height, d.number LIMIT $5`,
		codeArgs(q.Currencies, fixed...)...)
}

// mayBePaid is the condition of withdrawals that may be paid as far as screening is concerned. Where payouts are
// screened, it takes one parameter more, the time.
func mayBePaid(screened bool, now string) string {
	if !screened {
		return ` AND NOT ` + payoutHeld + ` AND NOT ` + notedAsScreened
	}
	return ` AND EXISTS (` + ofPayout + passedAs + now + `)` + byItself + `)`
}

// ToScreen returns the queued withdrawals of some of a chain's currencies that no outgoing transaction pays, that wait
// for the screening service, and that may be asked about now: those asked about least first, then the oldest. Those of
// frozen accounts are left out.
func (tx Withdrawals) ToScreen(ctx context.Context, chain bursar.ChainID, codes []bursar.CurrencyCode,
	limit int) ([]bursar.Withdrawal, error) {
	if len(codes) == 0 {
		return nil, nil
	}
	fixed := []any{string(chain), limit, micros(tx.now)}
	return withdrawalColumns.rows(ctx, tx.Tx, "list payouts to be screened", `FROM withdrawals
		WHERE chain = $1 AND status = 'queued' AND outgoing_id IS NULL AND NOT EXISTS (`+ofPayout+`(`+passedAs+`$3)
		OR s.outcome = 'review' OR s.outcome = 'rejected' OR s.outcome = 'waiting' AND s.next_at > $3))
		AND currency IN (`+list(len(codes), len(fixed))+`)`+notFrozen+`
		ORDER BY (`+ofAttempts+`s.subject = withdrawals.id), number LIMIT $2`, codeArgs(codes, fixed...)...)
}

// ToPay returns the withdrawals that an outgoing transaction is to pay, without keeping them unchanged.
func (tx Withdrawals) ToPay(ctx context.Context, outgoing bursar.ID) ([]bursar.Withdrawal, error) {
	return withdrawalColumns.rows(ctx, tx.Tx, "list withdrawals to be paid",
		`FROM withdrawals WHERE outgoing_id = $1 ORDER BY number`, outgoing)
}
