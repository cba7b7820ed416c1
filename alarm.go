package bursar

import "slices"

// graveAlarms says for each kind of alarm whether it is grave: money may be lost, or nothing can be paid, until
// somebody acts. A grave one is announced in quiet hours too.
var graveAlarms = map[string]bool{
	"abandoned_included":   true,
	"address_pool_empty":   false,
	"admin_password":       true,
	"audit_late":           false,
	"block_anomaly":        false,
	"books_contradict":     true,
	"books_differ":         true,
	"bytes_unknown":        false,
	"cold_address_is_ours": true,
	"cold_move_failed":     false,
	"cold_spend":           true,
	"cold_wallet_open":     true,
	"compromise_order_due": false,
	"currency_suspended":   false,
	"database_behind":      true,
	"deep_reorg":           true,
	"deposit_refuted":      true,
	"deposit_reversed":     true,
	"endpoints_disagree":   true,
	"external_nonce":       true,
	"external_spend":       true,
	"fee_above_limit":      false,
	"funds_low":            false,
	"gas_budget":           false,
	"history_gap":          false,
	"history_pruned":       false,
	"journal_differs":      true,
	"journal_full":         true,
	"may_be_out":           false,
	"nonce_blocked":        false,
	"nonce_lost":           false,
	"not_put_back":         true,
	"notices_failing":      false,
	"old_epoch_holds":      false,
	"payout_short":         true,
	"quorum_unreached":     false,
	"recovery_needed":      true,
	"refill_needed":        false,
	"refund_paid_twice":    true,
	"refund_reversed":      true,
	"refund_uncovered":     true,
	"refunded_twice":       true,
	"screening_review":     false,
	"screening_unanswered": false,
	"signer_epoch":         true,
	"signer_frozen":        true,
	"signer_policy_lost":   true,
	"signer_refused":       false,
	"signer_thaws":         true,
	"too_many_inputs":      false,
	"unattributed":         false,
	"uncovered":            true,
	"unrecognized_event":   false,
	"utxo_unproven":        false,
}

// AlarmKinds returns every kind of alarm, in the order of the alphabet.
func AlarmKinds() []string {
	kinds := make([]string, 0, len(graveAlarms))
	for kind := range graveAlarms {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	return kinds
}

// IsGrave reports whether an alarm of a kind is announced in quiet hours too. One of an unknown kind is.
func IsGrave(kind string) bool {
	grave, known := graveAlarms[kind]
	return grave || !known
}

// RunbookPath returns the path, on the API's address, of the page that says what to do about a kind of alarm.
func RunbookPath(kind string) string { return "/docs/runbooks#" + kind }
