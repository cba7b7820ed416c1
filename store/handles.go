package store

// A handle reads and writes one kind of object in its transaction. Its methods stand in the files named after the object.
type (
	// APIKeys are the keys of accounts, of which only hashes are stored.
	APIKeys struct{ *Tx }
	// Accounts are accounts and what is set for each.
	Accounts struct{ *Tx }
	// Alarms are alarms, open and closed.
	Alarms struct{ *Tx }
	// Audits are how far the audit of the books has come.
	Audits struct{ *Tx }
	// Blocks are the recorded blocks of each chain, from the oldest that a reorg may reach to the cursor.
	Blocks struct{ *Tx }
	// BookFaults are contradictions that the audit found in the books.
	BookFaults struct{ *Tx }
	// Chains are chains: cursor, heights and whether payments may be made.
	Chains struct{ *Tx }
	// Charges are charges.
	Charges struct{ *Tx }
	// Counters are counters that are compared with the marks beside the seed.
	Counters struct{ *Tx }
	// Custody holds the sums that reconciliation compares with the chains.
	Custody struct{ *Tx }
	// Deliveries are deliveries of events and their attempts.
	Deliveries struct{ *Tx }
	// Deposits are deposits.
	Deposits struct{ *Tx }
	// DestinationLists are whether an account pays to listed destinations only.
	DestinationLists struct{ *Tx }
	// Destinations are the destinations of accounts.
	Destinations struct{ *Tx }
	// Events are events, each with its deliveries.
	Events struct{ *Tx }
	// ExternalSpends are external spends and what was decided about them.
	ExternalSpends struct{ *Tx }
	// FeeRules are fee rules.
	FeeRules struct{ *Tx }
	// ForgottenPayments are payments that the journal holds and the database has forgotten.
	ForgottenPayments struct{ *Tx }
	// GapAddresses are addresses of key indexes that a database before this one gave out.
	GapAddresses struct{ *Tx }
	// Halts are halts, and when each began and ended.
	Halts struct{ *Tx }
	// Holdings are what each address of ours holds, on chains of the account model.
	Holdings struct{ *Tx }
	// IdempotencyKeys are answers to requests with an idempotency key.
	IdempotencyKeys struct{ *Tx }
	// KeyIndexes are key indexes, none of which is given out twice.
	KeyIndexes struct{ *Tx }
	// KeyPool holds public keys that were derived ahead.
	KeyPool struct{ *Tx }
	// Leases are who leads a chain.
	Leases struct{ *Tx }
	// Ledger holds entries, postings and balances.
	Ledger struct{ *Tx }
	// Links are the hash chain of entries and orders.
	Links struct{ *Tx }
	// Nonces are the next nonce of each of our addresses.
	Nonces struct{ *Tx }
	// OperatorFunds are the operator's own money in custody.
	OperatorFunds struct{ *Tx }
	// Outgoing holds outgoing transactions and their versions.
	Outgoing struct{ *Tx }
	// Queues are how much waits, for metrics and alarms.
	Queues struct{ *Tx }
	// Reconciliations are the last reconciliation of each currency.
	Reconciliations struct{ *Tx }
	// Recoveries are chains that recover from a restore or a failover.
	Recoveries struct{ *Tx }
	// Reservations are UTXOs and nonces that are reserved for an outgoing transaction.
	Reservations struct{ *Tx }
	// Resolutions are what operators decided about unattributed deposits.
	Resolutions struct{ *Tx }
	// Settings are settings that the database keeps of itself.
	Settings struct{ *Tx }
	// Statements are the lines of account statements.
	Statements struct{ *Tx }
	// TreasuryOrders are orders that pay out the operator's own money.
	TreasuryOrders struct{ *Tx }
	// UTXOs are unspent transaction outputs of ours.
	UTXOs struct{ *Tx }
	// Wallets are wallets.
	Wallets struct{ *Tx }
	// WebhookURLs are webhook URLs that are disabled or behind.
	WebhookURLs struct{ *Tx }
	// Withdrawals are withdrawals.
	Withdrawals struct{ *Tx }
)

// APIKeys returns the handle of the keys of accounts, of which only hashes are stored.
func (tx *Tx) APIKeys() APIKeys { return APIKeys{tx} }

// Accounts returns the handle of accounts and what is set for each.
func (tx *Tx) Accounts() Accounts { return Accounts{tx} }

// Alarms returns the handle of alarms, open and closed.
func (tx *Tx) Alarms() Alarms { return Alarms{tx} }

// Audits returns the handle of how far the audit of the books has come.
func (tx *Tx) Audits() Audits { return Audits{tx} }

// Blocks returns the handle of the recorded blocks of each chain, from the oldest that a reorg may reach to the cursor.
func (tx *Tx) Blocks() Blocks { return Blocks{tx} }

// BookFaults returns the handle of contradictions that the audit found in the books.
func (tx *Tx) BookFaults() BookFaults { return BookFaults{tx} }

// Chains returns the handle of chains: cursor, heights and whether payments may be made.
func (tx *Tx) Chains() Chains { return Chains{tx} }

// Charges returns the handle of charges.
func (tx *Tx) Charges() Charges { return Charges{tx} }

// Counters returns the handle of counters that are compared with the marks beside the seed.
func (tx *Tx) Counters() Counters { return Counters{tx} }

// Custody returns the handle of the sums that reconciliation compares with the chains.
func (tx *Tx) Custody() Custody { return Custody{tx} }

// Deliveries returns the handle of deliveries of events and their attempts.
func (tx *Tx) Deliveries() Deliveries { return Deliveries{tx} }

// Deposits returns the handle of deposits.
func (tx *Tx) Deposits() Deposits { return Deposits{tx} }

// DestinationLists returns the handle of whether an account pays to listed destinations only.
func (tx *Tx) DestinationLists() DestinationLists { return DestinationLists{tx} }

// Destinations returns the handle of the destinations of accounts.
func (tx *Tx) Destinations() Destinations { return Destinations{tx} }

// Events returns the handle of events, each with its deliveries.
func (tx *Tx) Events() Events { return Events{tx} }

// ExternalSpends returns the handle of external spends and what was decided about them.
func (tx *Tx) ExternalSpends() ExternalSpends { return ExternalSpends{tx} }

// FeeRules returns the handle of fee rules.
func (tx *Tx) FeeRules() FeeRules { return FeeRules{tx} }

// ForgottenPayments returns the handle of payments that the journal holds and the database has forgotten.
func (tx *Tx) ForgottenPayments() ForgottenPayments { return ForgottenPayments{tx} }

// GapAddresses returns the handle of addresses of key indexes that a database before this one gave out.
func (tx *Tx) GapAddresses() GapAddresses { return GapAddresses{tx} }

// Halts returns the handle of halts, and when each began and ended.
func (tx *Tx) Halts() Halts { return Halts{tx} }

// Holdings returns the handle of what each address of ours holds, on chains of the account model.
func (tx *Tx) Holdings() Holdings { return Holdings{tx} }

// IdempotencyKeys returns the handle of answers to requests with an idempotency key.
func (tx *Tx) IdempotencyKeys() IdempotencyKeys { return IdempotencyKeys{tx} }

// KeyIndexes returns the handle of key indexes, none of which is given out twice.
func (tx *Tx) KeyIndexes() KeyIndexes { return KeyIndexes{tx} }

// KeyPool returns the handle of public keys that were derived ahead.
func (tx *Tx) KeyPool() KeyPool { return KeyPool{tx} }

// Leases returns the handle of who leads a chain.
func (tx *Tx) Leases() Leases { return Leases{tx} }

// Ledger returns the handle of entries, postings and balances.
func (tx *Tx) Ledger() Ledger { return Ledger{tx} }

// Links returns the handle of the hash chain of entries and orders.
func (tx *Tx) Links() Links { return Links{tx} }

// Nonces returns the handle of the next nonce of each of our addresses.
func (tx *Tx) Nonces() Nonces { return Nonces{tx} }

// OperatorFunds returns the handle of the operator's own money in custody.
func (tx *Tx) OperatorFunds() OperatorFunds { return OperatorFunds{tx} }

// Outgoing returns the handle of outgoing transactions and their versions.
func (tx *Tx) Outgoing() Outgoing { return Outgoing{tx} }

// Queues returns the handle of how much waits, for metrics and alarms.
func (tx *Tx) Queues() Queues { return Queues{tx} }

// Reconciliations returns the handle of the last reconciliation of each currency.
func (tx *Tx) Reconciliations() Reconciliations { return Reconciliations{tx} }

// Recoveries returns the handle of chains that recover from a restore or a failover.
func (tx *Tx) Recoveries() Recoveries { return Recoveries{tx} }

// Reservations returns the handle of UTXOs and nonces that are reserved for an outgoing transaction.
func (tx *Tx) Reservations() Reservations { return Reservations{tx} }

// Resolutions returns the handle of what operators decided about unattributed deposits.
func (tx *Tx) Resolutions() Resolutions { return Resolutions{tx} }

// Settings returns the handle of settings that the database keeps of itself.
func (tx *Tx) Settings() Settings { return Settings{tx} }

// Statements returns the handle of the lines of account statements.
func (tx *Tx) Statements() Statements { return Statements{tx} }

// TreasuryOrders returns the handle of orders that pay out the operator's own money.
func (tx *Tx) TreasuryOrders() TreasuryOrders { return TreasuryOrders{tx} }

// UTXOs returns the handle of unspent transaction outputs of ours.
func (tx *Tx) UTXOs() UTXOs { return UTXOs{tx} }

// Wallets returns the handle of wallets.
func (tx *Tx) Wallets() Wallets { return Wallets{tx} }

// WebhookURLs returns the handle of webhook URLs that are disabled or behind.
func (tx *Tx) WebhookURLs() WebhookURLs { return WebhookURLs{tx} }

// Withdrawals returns the handle of withdrawals.
func (tx *Tx) Withdrawals() Withdrawals { return Withdrawals{tx} }
