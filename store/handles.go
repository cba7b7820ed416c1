package store

// A handle reads and writes one kind of object in its transaction. Its methods stand in the files named after the
// object.
type (
	// APIKeys reads and writes the keys of accounts, of which only hashes are stored.
	APIKeys struct{ *Tx }
	// Accounts reads and writes accounts and what is set for each.
	Accounts struct{ *Tx }
	// Acts reads and appends to the log of what people did.
	Acts struct{ *Tx }
	// Alarms reads and writes alarms, open and closed.
	Alarms struct{ *Tx }
	// Approvals reads and writes what persons signed about payments.
	Approvals struct{ *Tx }
	// Audits reads and writes how far the audit of the books has come.
	Audits struct{ *Tx }
	// Blocks reads and writes the recorded blocks of each chain, from the oldest that a reorg may reach to the cursor.
	Blocks struct{ *Tx }
	// BookFaults reads and writes contradictions that the audit found in the books.
	BookFaults struct{ *Tx }
	// Chains reads and writes chains: cursor, heights and whether payments may be made.
	Chains struct{ *Tx }
	// Charges reads and writes charges.
	Charges struct{ *Tx }
	// Checkpoints reads and moves the point up to which the books' postings are in archives.
	Checkpoints struct{ *Tx }
	// Cold reads and writes what cold wallets hold and what left them.
	Cold struct{ *Tx }
	// Counters reads and writes counters that are compared with the marks beside the seed.
	Counters struct{ *Tx }
	// Custody reads the sums that reconciliation compares with the chains.
	Custody struct{ *Tx }
	// Deliveries reads and writes deliveries of events and their attempts.
	Deliveries struct{ *Tx }
	// Deposits reads and writes deposits.
	Deposits struct{ *Tx }
	// DestinationLists says whether an account pays to listed destinations only.
	DestinationLists struct{ *Tx }
	// Destinations reads and writes the destinations of accounts.
	Destinations struct{ *Tx }
	// Events reads and writes events, each with its deliveries.
	Events struct{ *Tx }
	// ExternalSpends reads and writes external spends and how they were resolved.
	ExternalSpends struct{ *Tx }
	// FeeRules reads and writes fee rules.
	FeeRules struct{ *Tx }
	// LimitRules reads and writes limits that operators set.
	LimitRules struct{ *Tx }
	// ForgottenPayments reads and writes payments that the journal holds and the database has forgotten.
	ForgottenPayments struct{ *Tx }
	// GapAddresses reads and writes addresses of key indexes that a database before this one gave out.
	GapAddresses struct{ *Tx }
	// Halts reads and writes halts, and when each began and ended.
	Halts struct{ *Tx }
	// Holdings reads and writes what each address of ours holds, on chains of the account model.
	Holdings struct{ *Tx }
	// IdempotencyKeys reads and writes answers to requests with an idempotency key.
	IdempotencyKeys struct{ *Tx }
	// Invoices reads and writes charges whose deposits add up, with the facts about them.
	Invoices struct{ *Tx }
	// People reads and writes the people of the console, their passkeys, invitations and sessions.
	People struct{ *Tx }
	// PaymentLinks reads and writes templates of charges.
	PaymentLinks struct{ *Tx }
	// KeyIndexes reads and writes key indexes, none of which is given out twice.
	KeyIndexes struct{ *Tx }
	// KeyPool reads and writes public keys that were derived ahead.
	KeyPool struct{ *Tx }
	// Leases gives and checks who leads a chain.
	Leases struct{ *Tx }
	// Ledger reads and writes entries, postings and balances.
	Ledger struct{ *Tx }
	// Links reads and writes the hash chain of entries and orders.
	Links struct{ *Tx }
	// Nonces reads and writes the next nonce of each of our addresses.
	Nonces struct{ *Tx }
	// Notices reads and writes who is notified, and what each knows.
	Notices struct{ *Tx }
	// OrderKeys reads and writes the keys with which clients sign orders.
	OrderKeys struct{ *Tx }
	// OperatorFunds reads and writes the operator's own money in custody.
	OperatorFunds struct{ *Tx }
	// Outgoing reads and writes outgoing transactions and their versions.
	Outgoing struct{ *Tx }
	// Proposals reads and writes what one person proposes and others approve.
	Proposals struct{ *Tx }
	// Queues counts how much waits, for metrics and alarms.
	Queues struct{ *Tx }
	// Reconciliations reads and writes the last reconciliation of each currency.
	Reconciliations struct{ *Tx }
	// Recoveries reads and writes chains that recover from a restore or a failover.
	Recoveries struct{ *Tx }
	// RequestLog reads and writes what was asked of the API.
	RequestLog struct{ *Tx }
	// Refills reads and writes payments from cold wallets to the hot wallet.
	Refills struct{ *Tx }
	// Reservations reads and writes UTXOs and nonces that are reserved for an outgoing transaction.
	Reservations struct{ *Tx }
	// Resolutions reads and writes what operators decided about unattributed deposits.
	Resolutions struct{ *Tx }
	// Screenings reads and writes what the screening service said.
	Screenings struct{ *Tx }
	// Settings reads and writes settings that the database keeps of itself.
	Settings struct{ *Tx }
	// SignedOrders reads and writes orders that clients signed.
	SignedOrders struct{ *Tx }
	// Statements reads and writes the lines of account statements.
	Statements struct{ *Tx }
	// TreasuryOrders reads and writes orders that pay out the operator's own money.
	TreasuryOrders struct{ *Tx }
	// UTXOs reads and writes unspent transaction outputs of ours.
	UTXOs struct{ *Tx }
	// Wallets reads and writes wallets.
	Wallets struct{ *Tx }
	// WebhookURLs reads and writes webhook URLs that are disabled or behind.
	WebhookURLs struct{ *Tx }
	// Withdrawals reads and writes withdrawals.
	Withdrawals struct{ *Tx }
)

// APIKeys returns the handle.
func (tx *Tx) APIKeys() APIKeys { return APIKeys{tx} }

// Accounts returns the handle.
func (tx *Tx) Accounts() Accounts { return Accounts{tx} }

// Acts returns the handle of the log of acts.
func (tx *Tx) Acts() Acts { return Acts{tx} }

// Alarms returns the handle.
func (tx *Tx) Alarms() Alarms { return Alarms{tx} }

// Approvals returns the handle.
func (tx *Tx) Approvals() Approvals { return Approvals{tx} }

// Audits returns the handle.
func (tx *Tx) Audits() Audits { return Audits{tx} }

// Blocks returns the handle.
func (tx *Tx) Blocks() Blocks { return Blocks{tx} }

// BookFaults returns the handle.
func (tx *Tx) BookFaults() BookFaults { return BookFaults{tx} }

// Chains returns the handle.
func (tx *Tx) Chains() Chains { return Chains{tx} }

// Charges returns the handle.
func (tx *Tx) Charges() Charges { return Charges{tx} }

// Checkpoints returns the handle.
func (tx *Tx) Checkpoints() Checkpoints { return Checkpoints{tx} }

// Cold returns the handle.
func (tx *Tx) Cold() Cold { return Cold{tx} }

// Counters returns the handle.
func (tx *Tx) Counters() Counters { return Counters{tx} }

// Custody returns the handle.
func (tx *Tx) Custody() Custody { return Custody{tx} }

// Deliveries returns the handle.
func (tx *Tx) Deliveries() Deliveries { return Deliveries{tx} }

// Deposits returns the handle.
func (tx *Tx) Deposits() Deposits { return Deposits{tx} }

// DestinationLists returns the handle.
func (tx *Tx) DestinationLists() DestinationLists { return DestinationLists{tx} }

// Destinations returns the handle.
func (tx *Tx) Destinations() Destinations { return Destinations{tx} }

// Events returns the handle.
func (tx *Tx) Events() Events { return Events{tx} }

// ExternalSpends returns the handle.
func (tx *Tx) ExternalSpends() ExternalSpends { return ExternalSpends{tx} }

// FeeRules returns the handle.
func (tx *Tx) FeeRules() FeeRules { return FeeRules{tx} }

// LimitRules returns the handle.
func (tx *Tx) LimitRules() LimitRules { return LimitRules{tx} }

// ForgottenPayments returns the handle.
func (tx *Tx) ForgottenPayments() ForgottenPayments { return ForgottenPayments{tx} }

// GapAddresses returns the handle.
func (tx *Tx) GapAddresses() GapAddresses { return GapAddresses{tx} }

// Halts returns the handle.
func (tx *Tx) Halts() Halts { return Halts{tx} }

// Holdings returns the handle.
func (tx *Tx) Holdings() Holdings { return Holdings{tx} }

// IdempotencyKeys returns the handle.
func (tx *Tx) IdempotencyKeys() IdempotencyKeys { return IdempotencyKeys{tx} }

// Invoices returns the handle of charges whose deposits add up.
func (tx *Tx) Invoices() Invoices { return Invoices{tx} }

// People returns the handle of the people of the console.
func (tx *Tx) People() People { return People{tx} }

// PaymentLinks returns the handle of templates of charges.
func (tx *Tx) PaymentLinks() PaymentLinks { return PaymentLinks{tx} }

// KeyIndexes returns the handle.
func (tx *Tx) KeyIndexes() KeyIndexes { return KeyIndexes{tx} }

// KeyPool returns the handle.
func (tx *Tx) KeyPool() KeyPool { return KeyPool{tx} }

// Leases returns the handle.
func (tx *Tx) Leases() Leases { return Leases{tx} }

// Ledger returns the handle.
func (tx *Tx) Ledger() Ledger { return Ledger{tx} }

// Links returns the handle.
func (tx *Tx) Links() Links { return Links{tx} }

// Nonces returns the handle.
func (tx *Tx) Nonces() Nonces { return Nonces{tx} }

// Notices returns the handle.
func (tx *Tx) Notices() Notices { return Notices{tx} }

// OrderKeys returns the handle.
func (tx *Tx) OrderKeys() OrderKeys { return OrderKeys{tx} }

// OperatorFunds returns the handle.
func (tx *Tx) OperatorFunds() OperatorFunds { return OperatorFunds{tx} }

// Outgoing returns the handle.
func (tx *Tx) Outgoing() Outgoing { return Outgoing{tx} }

// Proposals returns the handle.
func (tx *Tx) Proposals() Proposals { return Proposals{tx} }

// Queues returns the handle.
func (tx *Tx) Queues() Queues { return Queues{tx} }

// Reconciliations returns the handle.
func (tx *Tx) Reconciliations() Reconciliations { return Reconciliations{tx} }

// Recoveries returns the handle.
func (tx *Tx) Recoveries() Recoveries { return Recoveries{tx} }

// RequestLog returns the handle.
func (tx *Tx) RequestLog() RequestLog { return RequestLog{tx} }

// Refills returns the handle.
func (tx *Tx) Refills() Refills { return Refills{tx} }

// Reservations returns the handle.
func (tx *Tx) Reservations() Reservations { return Reservations{tx} }

// Resolutions returns the handle.
func (tx *Tx) Resolutions() Resolutions { return Resolutions{tx} }

// Screenings returns the handle.
func (tx *Tx) Screenings() Screenings { return Screenings{tx} }

// Settings returns the handle.
func (tx *Tx) Settings() Settings { return Settings{tx} }

// SignedOrders returns the handle.
func (tx *Tx) SignedOrders() SignedOrders { return SignedOrders{tx} }

// Statements returns the handle.
func (tx *Tx) Statements() Statements { return Statements{tx} }

// TreasuryOrders returns the handle.
func (tx *Tx) TreasuryOrders() TreasuryOrders { return TreasuryOrders{tx} }

// UTXOs returns the handle.
func (tx *Tx) UTXOs() UTXOs { return UTXOs{tx} }

// Wallets returns the handle.
func (tx *Tx) Wallets() Wallets { return Wallets{tx} }

// WebhookURLs returns the handle.
func (tx *Tx) WebhookURLs() WebhookURLs { return WebhookURLs{tx} }

// Withdrawals returns the handle.
func (tx *Tx) Withdrawals() Withdrawals { return Withdrawals{tx} }
