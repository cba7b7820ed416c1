package store

// right is what the service's role may do to the rows of a table, beyond reading them and adding some.
type right struct {
	add    bool
	change []string // these columns; nil: none
	remove bool
}

// every stands for all columns.
var every = []string{"*"}

var (
	readOnly   = right{}
	appendOnly = right{add: true}
	changing   = right{add: true, change: every}
	passing    = right{add: true, change: every, remove: true}
)

// rights has a line for each table: what the service needs, and nothing else. Who has taken the service, or found a
// way to put words into its SQL, can add a posting but not change or remove one, can hold back a withdrawal but not
// give it another amount or address, and can revoke a key but not make an old one valid for another account. What was
// added wrongly is found by the chain of links, whose key is not in the database.
//
// Rows of entries may be removed, because an entry that is refused is written and dropped in one transaction; one that
// has postings is kept by their foreign key.
var rights = map[string]right{
	"accounts": {add: true, change: []string{"frozen", "webhook_generation", "webhook_overlap", "notify_pending",
		"notify_withdrawals", "webhook_version", "webhook"}},
	"acts":            appendOnly,
	"address_pool":    {add: true, remove: true},
	"alarms":          changing,
	"api_keys":        {add: true, change: []string{"scopes", "networks", "expires_at", "revoked_at"}},
	"approvals":       appendOnly,
	"archived_sums":   readOnly,
	"attempts":        appendOnly,
	"audits":          changing,
	"balances":        changing,
	"blocks":          {add: true, remove: true},
	"book_faults":     passing,
	"chains":          changing,
	"charges":         {add: true, change: []string{"paid_by"}},
	"checkpoints":     readOnly,
	"cold_spends":     changing,
	"cold_utxos":      passing,
	"counters":        changing,
	"day_figures":     changing,
	"dead_urls":       {add: true, remove: true},
	"delivery_leases": passing,
	"denied_payments": appendOnly,
	"deposits": {add: true, change: []string{"purpose", "account_id", "wallet", "amount", "fee", "status", "height",
		"block_hash", "counts_from", "reversals", "confirmed_at", "required", "opinions", "seal"}},
	"destination_lists": changing,
	"destinations":      {add: true, remove: true},
	"entries":           {add: true, remove: true},
	"entry_rates":       appendOnly,
	"entry_rates_read":  changing,
	"events": {add: true, change: []string{"url", "status", "attempts", "next_at", "claimed_until", "last_code",
		"last_error", "delivered_at", "tries", "first_at", "first_duration", "first_code"}},
	"external_spends":    changing,
	"fee_rules":          passing,
	"figures_read":       changing,
	"forgotten_payments": changing,
	"free_nonces":        {add: true, remove: true},
	"feed_starts":        readOnly,
	"fundings":           passing,
	"gap_addresses":      appendOnly,
	"goose_db_version":   readOnly,
	"halt_events":        appendOnly,
	"halts":              passing,
	"holdings":           changing,
	"idempotency":        passing,
	"invoice_moments":    appendOnly,
	"invoice_options":    {add: true, change: []string{"wallet"}},
	"invoice_payments":   {add: true, change: []string{"resolution", "round", "resolved_at"}},
	"invoice_quotes":     appendOnly,
	"invoice_refunds":    appendOnly,
	"invoice_proposals":  {add: true, change: []string{"base", "memo", "at", "changes"}},
	"invoices": {add: true, change: []string{"cancelled_at", "version", "status", "labels", "attention", "turns_at",
		"payments", "crowded", "attention_at"}},
	"invitations":        {add: true, change: []string{"used_at"}},
	"console_sessions":   {add: true, change: []string{"used_at", "ended_at"}},
	"passkey_challenges": {add: true, remove: true},
	"passkeys":           {add: true, change: []string{"credential", "used_at", "removed_at"}},
	"people": {add: true, change: []string{"roles", "accounts", "next_roles", "next_accounts", "changes_at",
		"revoked_at"}},
	"payment_links":      {add: true, change: []string{"closed_at"}},
	"limit_rules":        passing,
	"link_head":          changing,
	"links":              appendOnly,
	"link_visits":        {add: true, remove: true},
	"month_sums":         changing,
	"months_summed":      changing,
	"moved_reservations": {add: true, change: []string{"from_outgoing"}, remove: true},
	"nonces":             passing,
	"noticed_alarms":     {add: true, change: []string{"at", "closed_at"}},
	"notice_receivers": {add: true, change: []string{"begun_at", "message", "held", "composed_at", "attempts",
		"next_at", "error", "failing_since", "sent", "sent_at", "lost", "solvency_at", "waiting"}},
	"order_keys":        {add: true, change: []string{"revoked_at"}},
	"old_hot_held":      passing,
	"outgoing_txs":      changing,
	"outgoing_versions": {add: true, change: []string{"tx_id", "draft_json", "raw"}},
	"posted":            changing,
	"postings":          appendOnly,
	"previous_txs":      {add: true, remove: true},
	"proposal_votes":    appendOnly,
	"proposals":         {add: true, change: []string{"status", "outcome", "ended_at"}},
	"reconciliations":   changing,
	"recoveries":        changing,
	"refills":           {add: true, change: []string{"status", "tx_id", "raw", "reason", "ended_at"}},
	"request_log":       {add: true, remove: true},
	"reservations":      passing,
	"resolutions":       {add: true, change: []string{"status", "outgoing_id", "tx_id", "error", "completed_at", "seal"}},
	"screenings": {add: true, change: []string{"block_hash", "account_id", "wallet_id", "outcome", "request", "answer",
		"signature", "list", "attempts", "next_at", "expires_at", "error", "actor", "reason", "created_at", "decided_at"}},
	"seals":           appendOnly,
	"settings":        passing,
	"signed_orders":   appendOnly,
	"treasury_orders": appendOnly,
	"used_outputs":    passing,
	"utxos":           changing,
	"wallet_counts":   changing,
	"wallets":         {add: true, change: []string{"webhook", "webhook_version", "metadata"}},
	"watched_parts":   changing,
	"webhook_rules":   changing,
	"withdrawals": {add: true, change: []string{"outgoing_id", "status", "tx_id", "error", "completed_at",
		"seal"}},
}

// unreadable are the tables that a role for reports does not see: hashes of keys, answers of the API, and settings.
var unreadable = map[string]bool{"api_keys": true, "idempotency": true, "settings": true,
	"console_sessions": true, "invitations": true, "passkey_challenges": true}
