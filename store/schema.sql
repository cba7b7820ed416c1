-- The whole schema as the migrations in store/migrations make it, for readers: SQLite's own words for it.
-- go test ./store -run TestTheSchema -update writes it again. PostgreSQL has the same tables, columns and indexes.

CREATE TABLE accounts (
  id                 BYTEA PRIMARY KEY,
  name               TEXT NOT NULL,
  created_at         BIGINT NOT NULL,
  frozen             TEXT NOT NULL DEFAULT '',
  webhook_generation BIGINT NOT NULL DEFAULT 1,
  webhook_overlap    BIGINT NOT NULL DEFAULT 0,
  notify_pending     BOOLEAN NOT NULL DEFAULT FALSE,
  notify_withdrawals BOOLEAN NOT NULL DEFAULT FALSE,
  webhook_version    BIGINT NOT NULL DEFAULT 0
, webhook TEXT NOT NULL DEFAULT '');

CREATE TABLE acts (
  number     BIGINT PRIMARY KEY,          -- from 1, without gaps
  at         BIGINT NOT NULL,
  actor      TEXT NOT NULL,               -- the person's name, or the system user and host of a command
  person_id  BYTEA,                       -- NULL: a command
  session_id BYTEA,
  address    TEXT NOT NULL,
  verb       TEXT NOT NULL,
  object     TEXT NOT NULL,
  was        TEXT NOT NULL,
  became     TEXT NOT NULL,
  reason     TEXT NOT NULL,
  request    TEXT NOT NULL,
  evidence   TEXT NOT NULL,
  previous   BYTEA NOT NULL,              -- hash of the row before; zeros for the first
  hash       BYTEA NOT NULL UNIQUE
, token TEXT NOT NULL DEFAULT '');

CREATE INDEX acts_actor ON acts(actor, number);

CREATE INDEX acts_object ON acts(object, number);

CREATE INDEX acts_request ON acts(request, number) WHERE request <> '';

CREATE INDEX acts_token ON acts(token, number) WHERE token <> '';

CREATE TABLE address_pool (
  family     TEXT NOT NULL,
  key_index  BIGINT NOT NULL,
  public_key BYTEA NOT NULL,
  PRIMARY KEY (family, key_index)
);

CREATE TABLE alarms (
  number      INTEGER PRIMARY KEY,
  chain       TEXT NOT NULL,
  kind        TEXT NOT NULL,
  ref         TEXT NOT NULL,
  message     TEXT NOT NULL,
  at          BIGINT NOT NULL,
  resolved_at BIGINT NOT NULL DEFAULT 0,
  UNIQUE (kind, ref)
);

CREATE INDEX alarms_open ON alarms(at) WHERE resolved_at = 0;

CREATE INDEX alarms_resolved ON alarms(resolved_at) WHERE resolved_at <> 0;

CREATE TABLE api_keys (
  key_hash    BYTEA PRIMARY KEY,
  id          BYTEA NOT NULL UNIQUE,
  account_id  BYTEA NOT NULL REFERENCES accounts(id),
  secret_hash BYTEA,
  hint        TEXT NOT NULL,
  scopes      TEXT NOT NULL,
  created_at  BIGINT NOT NULL,
  expires_at  BIGINT NOT NULL DEFAULT 0,
  revoked_at  BIGINT NOT NULL DEFAULT 0
, networks TEXT NOT NULL DEFAULT '');

CREATE INDEX api_keys_account ON api_keys(account_id);

CREATE TABLE approvals (
  order_id   BYTEA NOT NULL,
  hash       BYTEA NOT NULL,
  text       TEXT NOT NULL,
  signature  TEXT NOT NULL,
  created_at BIGINT NOT NULL, person TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (order_id, hash)
);

CREATE TABLE archived_sums (
  account   TEXT NOT NULL,
  asset     TEXT NOT NULL,
  debits    TEXT NOT NULL,
  credits   TEXT NOT NULL,
  link      BIGINT NOT NULL,   -- the last archived link that moved it
  overdrawn BOOLEAN NOT NULL,  -- an entry took it below zero that may not, and it still was there
  PRIMARY KEY (account, asset)
);

CREATE TABLE attempts (
  event    BIGINT NOT NULL REFERENCES events(number),
  attempt  BIGINT NOT NULL,
  at       BIGINT NOT NULL,
  duration BIGINT NOT NULL,
  code     BIGINT NOT NULL,
  error    TEXT NOT NULL,
  PRIMARY KEY (event, attempt)
);

CREATE TABLE audits (
  name         TEXT PRIMARY KEY,
  link         BIGINT NOT NULL DEFAULT 0,
  hash         BYTEA,
  entry        BIGINT NOT NULL DEFAULT 0,
  pass_link    BIGINT NOT NULL DEFAULT 0,
  pass_entry   BIGINT NOT NULL DEFAULT 0,
  pass_account TEXT NOT NULL DEFAULT '',
  pass_asset   TEXT NOT NULL DEFAULT '',
  checked_at   BIGINT NOT NULL DEFAULT 0,
  passed_at    BIGINT NOT NULL DEFAULT 0,
  trial_at     BIGINT NOT NULL DEFAULT 0
);

CREATE TABLE balances (
  account TEXT NOT NULL,
  asset   TEXT NOT NULL,
  debits  TEXT NOT NULL,
  credits TEXT NOT NULL, below BOOLEAN NOT NULL DEFAULT FALSE,
  PRIMARY KEY (account, asset)
);

CREATE INDEX balances_below ON balances(asset, account) WHERE below = TRUE;

CREATE TABLE blocks (
  chain  TEXT NOT NULL,
  height BIGINT NOT NULL,
  hash   TEXT NOT NULL,
  parent TEXT NOT NULL,
  PRIMARY KEY (chain, height)
);

CREATE TABLE book_faults (
  number  INTEGER PRIMARY KEY,
  kind    TEXT NOT NULL,
  ref     TEXT NOT NULL,
  asset   TEXT NOT NULL DEFAULT '',
  message TEXT NOT NULL,
  at      BIGINT NOT NULL,
  UNIQUE (kind, ref)
);

CREATE INDEX book_faults_asset ON book_faults(asset, number);

CREATE TABLE chains (
  chain         TEXT PRIMARY KEY,
  height        BIGINT NOT NULL DEFAULT -1,
  hash          TEXT NOT NULL DEFAULT '',
  latest_height BIGINT NOT NULL DEFAULT 0,
  final_height  BIGINT NOT NULL DEFAULT 0,
  checked_at    BIGINT NOT NULL DEFAULT 0,
  holder        TEXT NOT NULL DEFAULT '',
  token         BIGINT NOT NULL DEFAULT 0,
  lease_until   BIGINT NOT NULL DEFAULT 0
, failing TEXT NOT NULL DEFAULT '', failing_since BIGINT NOT NULL DEFAULT 0, added_at BIGINT NOT NULL DEFAULT 0, ready_token BIGINT NOT NULL DEFAULT 0, block_time BIGINT NOT NULL DEFAULT 0, epoch BIGINT NOT NULL DEFAULT 0, epoch_acted BIGINT NOT NULL DEFAULT 0, epoch_since BIGINT NOT NULL DEFAULT 0);

CREATE TABLE charges (
  number     BIGINT PRIMARY KEY REFERENCES wallets(number),
  id         BYTEA NOT NULL UNIQUE,
  account_id BYTEA NOT NULL REFERENCES accounts(id),
  minimum    TEXT NOT NULL,
  expires_at BIGINT NOT NULL,
  paid_by    BYTEA
, token BYTEA);

CREATE INDEX charges_account ON charges(account_id, number);

CREATE UNIQUE INDEX charges_token ON charges(token) WHERE token IS NOT NULL;

CREATE TABLE checkpoints (
  link       BIGINT PRIMARY KEY,  -- the last link whose postings were removed
  first      BIGINT NOT NULL,     -- and the first one
  key_id     TEXT NOT NULL,       -- of the last link
  hash       BYTEA NOT NULL,
  remains    BYTEA NOT NULL,      -- the code of what stays of these links
  sums       BYTEA NOT NULL,      -- the code of all archived sums
  until      BIGINT NOT NULL,     -- every entry that was archived so far is earlier
  file       TEXT NOT NULL,       -- the SHA-256 of the archive's lines
  removed_at BIGINT NOT NULL,
  seal       BYTEA NOT NULL
);

CREATE TABLE cold_spends (
  chain  TEXT NOT NULL,
  tx_id  TEXT NOT NULL,
  base   TEXT NOT NULL,
  height BIGINT NOT NULL,
  booked BOOLEAN NOT NULL DEFAULT FALSE,
  fee    TEXT NOT NULL,
  lots   TEXT NOT NULL, uses TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (chain, tx_id, base)
);

CREATE TABLE cold_utxos (
  chain    TEXT NOT NULL,
  resource TEXT NOT NULL,
  base     TEXT NOT NULL,
  amount   TEXT NOT NULL,
  height   BIGINT NOT NULL,
  spent_by TEXT NOT NULL DEFAULT '',
  spent_at BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (chain, resource)
);

CREATE TABLE console_sessions (
  id         BYTEA PRIMARY KEY,
  hash       BYTEA NOT NULL UNIQUE,       -- SHA-256 of the cookie
  person_id  BYTEA NOT NULL REFERENCES people(id),
  address    TEXT NOT NULL,
  agent      TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  used_at    BIGINT NOT NULL,
  ended_at   BIGINT NOT NULL DEFAULT 0
);

CREATE INDEX console_sessions_person ON console_sessions(person_id, created_at);

CREATE TABLE counters (
  name TEXT PRIMARY KEY,
  next BIGINT NOT NULL
);

CREATE TABLE day_figures (
  day     BIGINT NOT NULL,  -- days since 1970-01-01, in UTC
  figure  TEXT NOT NULL,
  asset   TEXT NOT NULL,
  lines   BIGINT NOT NULL,
  amount  TEXT NOT NULL,
  PRIMARY KEY (day, figure, asset)
);

CREATE TABLE dead_urls (
  account_id BYTEA NOT NULL,
  url        TEXT NOT NULL,
  at         BIGINT NOT NULL,
  PRIMARY KEY (account_id, url)
);

CREATE TABLE delivery_leases (
  number INTEGER PRIMARY KEY,
  until  BIGINT NOT NULL,
  events BYTEA NOT NULL
);

CREATE TABLE denied_payments (
  withdrawal_id BYTEA NOT NULL REFERENCES withdrawals(id),
  external      BIGINT NOT NULL REFERENCES external_spends(number),
  note          TEXT NOT NULL,
  actor         TEXT NOT NULL,
  denied_at     BIGINT NOT NULL,
  PRIMARY KEY (withdrawal_id, external)
);

CREATE TABLE deposits (
  number       INTEGER PRIMARY KEY,
  id           BYTEA NOT NULL UNIQUE,
  purpose      TEXT NOT NULL,
  account_id   BYTEA,
  wallet       BIGINT REFERENCES wallets(number),
  currency     TEXT NOT NULL,
  chain        TEXT NOT NULL,
  tx_id        TEXT NOT NULL,
  output       BIGINT NOT NULL,
  base         TEXT NOT NULL,
  memo         BIGINT NOT NULL,
  contract     TEXT NOT NULL,
  amount       TEXT NOT NULL,
  fee          TEXT NOT NULL,
  status       TEXT NOT NULL,
  height       BIGINT NOT NULL,
  block_hash   TEXT NOT NULL,
  counts_from  BIGINT NOT NULL DEFAULT 0,
  reversals    BIGINT NOT NULL DEFAULT 0,
  seen_at      BIGINT NOT NULL,
  confirmed_at BIGINT NOT NULL DEFAULT 0, required BIGINT NOT NULL DEFAULT 0, opinions BIGINT NOT NULL DEFAULT 0, seal BYTEA,
  UNIQUE (chain, tx_id, output, base, memo, contract)
);

CREATE INDEX deposits_account ON deposits(account_id) WHERE status = 'pending';

CREATE INDEX deposits_block ON deposits(chain, height) WHERE height > 0;

CREATE INDEX deposits_of_account ON deposits(account_id, number, currency, seen_at);

CREATE INDEX deposits_opinions ON deposits(chain, base, height) WHERE status = 'pending' AND opinions > 0;

CREATE INDEX deposits_pending ON deposits(chain, height, number) WHERE status = 'pending';

CREATE INDEX deposits_reversed ON deposits(account_id) WHERE reversals > 0;

CREATE INDEX deposits_unattributed ON deposits(number) WHERE purpose = 'unattributed';

CREATE INDEX deposits_unsealed ON deposits(number) WHERE seal IS NULL AND height > 0;

CREATE INDEX deposits_unusual ON deposits(account_id, status, number) WHERE status <> 'confirmed';

CREATE INDEX deposits_wallet ON deposits(wallet, number);

CREATE TABLE destination_lists (
  account_id BYTEA PRIMARY KEY REFERENCES accounts(id),
  until      BIGINT NOT NULL DEFAULT 0
);

CREATE TABLE destinations (
  number      INTEGER PRIMARY KEY,
  id          BYTEA NOT NULL UNIQUE,
  account_id  BYTEA NOT NULL REFERENCES accounts(id),
  family      TEXT NOT NULL,
  currency    TEXT NOT NULL,
  base        TEXT NOT NULL,
  memo        BIGINT NOT NULL,
  label       TEXT NOT NULL,
  created_at  BIGINT NOT NULL,
  usable_from BIGINT NOT NULL,
  UNIQUE (account_id, family, base, memo, currency)
);

CREATE INDEX destinations_account ON destinations(account_id, number);

CREATE TABLE entries (
  number INTEGER PRIMARY KEY,
  kind   TEXT NOT NULL,
  ref    TEXT NOT NULL,
  at     BIGINT NOT NULL,
  UNIQUE (kind, ref)
);

CREATE INDEX entries_at ON entries(at);

CREATE TABLE entry_rates (
  entry  BIGINT NOT NULL,
  asset  TEXT NOT NULL,
  unit   TEXT NOT NULL,
  rate   TEXT NOT NULL,
  source TEXT NOT NULL,
  at     BIGINT NOT NULL,   -- of the rate
  PRIMARY KEY (entry, asset, unit)
);

CREATE TABLE entry_rates_read (
  name TEXT PRIMARY KEY,
  link BIGINT NOT NULL
);

CREATE TABLE events (
  number     INTEGER PRIMARY KEY,
  id         BYTEA NOT NULL UNIQUE,
  account_id BYTEA NOT NULL REFERENCES accounts(id),
  kind       TEXT NOT NULL,
  subject    BYTEA NOT NULL,
  url        TEXT NOT NULL,
  body       BYTEA NOT NULL,
  created_at BIGINT NOT NULL,
  status     TEXT NOT NULL,
  attempts   BIGINT NOT NULL DEFAULT 0,
  next_at    BIGINT NOT NULL,
  claimed_until BIGINT NOT NULL DEFAULT 0,
  last_code  BIGINT NOT NULL DEFAULT 0,
  last_error TEXT NOT NULL DEFAULT '',
  delivered_at BIGINT NOT NULL DEFAULT 0
, tries BIGINT NOT NULL DEFAULT 0, first_at BIGINT NOT NULL DEFAULT 0, first_duration BIGINT NOT NULL DEFAULT 0, first_code BIGINT NOT NULL DEFAULT 0);

CREATE INDEX events_account ON events(account_id, number);

CREATE INDEX events_disabled ON events(account_id, url) WHERE status = 'disabled';

CREATE INDEX events_due ON events(next_at) WHERE status = 'pending';

CREATE INDEX events_failed ON events(account_id, number) WHERE status = 'failed';

CREATE INDEX events_receiver ON events(account_id, url, next_at) WHERE status = 'pending';

CREATE TABLE external_spends (
  number      INTEGER PRIMARY KEY,
  chain       TEXT NOT NULL,
  tx_id       TEXT NOT NULL,
  base        TEXT NOT NULL,
  height      BIGINT NOT NULL,
  made_at     BIGINT NOT NULL,
  failed      BOOLEAN NOT NULL,
  fee         TEXT NOT NULL,
  reservations      TEXT NOT NULL,
  payments    TEXT NOT NULL,
  outgoing_id    BYTEA,
  status      TEXT NOT NULL,
  reason      TEXT NOT NULL,
  booked      TEXT NOT NULL DEFAULT '', -- what no withdrawal explains is an operator's: loss or operator; '': nothing is left
  note        TEXT NOT NULL DEFAULT '',
  actor       TEXT NOT NULL DEFAULT '',
  resolved_at BIGINT NOT NULL DEFAULT 0, last_height BIGINT NOT NULL DEFAULT 0, last_height_seal BYTEA,
  UNIQUE (chain, tx_id)
);

CREATE INDEX external_spends_height ON external_spends(chain, height);

CREATE INDEX external_spends_spend ON external_spends(outgoing_id);

CREATE INDEX external_spends_status ON external_spends(status, chain, number);

CREATE TABLE fee_rules (
  account_id BYTEA NOT NULL REFERENCES accounts(id),
  currency   TEXT NOT NULL,
  kind       TEXT NOT NULL,
  network    BOOLEAN NOT NULL,
  millionths BIGINT NOT NULL,
  fixed      TEXT NOT NULL,
  set_at     BIGINT NOT NULL,
  PRIMARY KEY (account_id, currency, kind)
);

CREATE TABLE feed_starts (
  account_id BYTEA PRIMARY KEY,
  number     BIGINT NOT NULL
);

CREATE TABLE figures_read (
  name TEXT PRIMARY KEY,
  entry BIGINT NOT NULL
);

CREATE TABLE "forgotten_payments" (
  chain       TEXT NOT NULL,
  number      BIGINT NOT NULL,           -- of the signature
  outgoing_id    BYTEA NOT NULL,
  content     TEXT NOT NULL,             -- what the journal says of it
  sure        BOOLEAN NOT NULL,          -- nobody else can have signed another one that pays the same
  error       TEXT NOT NULL DEFAULT '',  -- why it could not be signed again yet
  noted_at    BIGINT NOT NULL,
  put_back_at BIGINT NOT NULL DEFAULT 0, seal BYTEA, known_as BYTEA,
  PRIMARY KEY (chain, number)
);

CREATE INDEX forgotten_spends_waiting ON "forgotten_payments"(chain, number) WHERE put_back_at = 0;

CREATE TABLE free_nonces (
  chain TEXT NOT NULL,
  base  TEXT NOT NULL,
  nonce BIGINT NOT NULL,
  PRIMARY KEY (chain, base, nonce)
);

CREATE TABLE fundings (
  chain  TEXT NOT NULL,
  tx_id  TEXT NOT NULL,
  input  TEXT NOT NULL,
  height BIGINT NOT NULL,
  PRIMARY KEY (chain, tx_id, input)
);

CREATE INDEX fundings_height ON fundings(chain, height);

CREATE TABLE gap_addresses (
  number    INTEGER PRIMARY KEY,
  family    TEXT NOT NULL,
  key_index BIGINT NOT NULL,
  base      TEXT NOT NULL,
  UNIQUE (family, base)
);

CREATE TABLE halt_events (
  number  INTEGER PRIMARY KEY,
  at      BIGINT NOT NULL,
  resumed BOOLEAN NOT NULL,
  scope   TEXT NOT NULL,
  kind    TEXT NOT NULL,
  ref     TEXT NOT NULL,
  reason  TEXT NOT NULL,
  actor   TEXT NOT NULL
);

CREATE TABLE halts (
  number INTEGER PRIMARY KEY,
  scope  TEXT NOT NULL,
  kind   TEXT NOT NULL,
  ref    TEXT NOT NULL DEFAULT '',
  reason TEXT NOT NULL,
  actor  TEXT NOT NULL DEFAULT '',
  at     BIGINT NOT NULL,
  UNIQUE (scope, kind, ref)
);

CREATE TABLE holdings (
  chain     TEXT NOT NULL,
  base      TEXT NOT NULL,
  contract  TEXT NOT NULL,
  key_branch BIGINT NOT NULL,
  key_index  BIGINT NOT NULL,
  amount     TEXT NOT NULL,
  due        BOOLEAN NOT NULL, rests_until BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (chain, contract, base)
);

CREATE INDEX holdings_due ON holdings(chain) WHERE due = TRUE;

CREATE INDEX holdings_held ON holdings(chain, contract) WHERE amount <> '0';

CREATE INDEX holdings_largest ON holdings(chain, contract, LENGTH(amount) DESC, amount DESC) WHERE due = TRUE;

CREATE TABLE idempotency (
  account_id   BYTEA NOT NULL,
  name         TEXT NOT NULL,
  request_hash BYTEA NOT NULL,
  status       BIGINT NOT NULL DEFAULT 0,
  body         BYTEA,
  created_at   BIGINT NOT NULL,
  locked_until BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, name)
);

CREATE INDEX idempotency_age ON idempotency(created_at);

CREATE TABLE invitations (
  hash       BYTEA PRIMARY KEY,           -- SHA-256 of the token in the link
  person_id  BYTEA NOT NULL REFERENCES people(id),
  recovery   BOOLEAN NOT NULL,            -- the person's earlier passkeys end when it is used
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  used_at    BIGINT NOT NULL DEFAULT 0
);

CREATE TABLE invoice_moments (
  invoice BIGINT NOT NULL REFERENCES invoices(number),
  version BIGINT NOT NULL,
  what    TEXT NOT NULL,
  at      BIGINT NOT NULL,
  PRIMARY KEY (invoice, version, what)
);

CREATE TABLE invoice_options (
  invoice  BIGINT NOT NULL REFERENCES invoices(number),
  currency TEXT NOT NULL,
  position BIGINT NOT NULL,
  wallet   BIGINT REFERENCES wallets(number), -- NULL until the currency is chosen
  PRIMARY KEY (invoice, currency)
);

CREATE UNIQUE INDEX invoice_options_wallet ON invoice_options(wallet);

CREATE TABLE invoice_payments (
  deposit     BYTEA PRIMARY KEY REFERENCES deposits(id),
  invoice     BIGINT NOT NULL REFERENCES invoices(number),
  origin      TEXT NOT NULL,
  decimals    BIGINT NOT NULL,         -- of its currency
  places      BIGINT NOT NULL,
  rate        TEXT NOT NULL,           -- empty: not known
  source      TEXT NOT NULL,
  rate_at     BIGINT NOT NULL,
  resolution  TEXT NOT NULL DEFAULT '',
  round       BIGINT NOT NULL DEFAULT 0,
  resolved_at BIGINT NOT NULL DEFAULT 0
);

CREATE INDEX invoice_payments_invoice ON invoice_payments(invoice);

CREATE TABLE invoice_proposals (
  invoice  BIGINT NOT NULL REFERENCES invoices(number),
  currency TEXT NOT NULL,
  base     TEXT NOT NULL,
  memo     BIGINT NOT NULL,            -- -1: none
  at       BIGINT NOT NULL,
  changes  BIGINT NOT NULL,            -- how often the payer has named one
  PRIMARY KEY (invoice, currency)
);

CREATE TABLE invoice_quotes (
  invoice  BIGINT NOT NULL REFERENCES invoices(number),
  currency TEXT NOT NULL,
  at       BIGINT NOT NULL,
  until    BIGINT NOT NULL,            -- 0: for ever
  rate     TEXT NOT NULL,
  source   TEXT NOT NULL,
  rate_at  BIGINT NOT NULL,
  PRIMARY KEY (invoice, currency, at)
);

CREATE TABLE invoice_refunds (
  withdrawal BYTEA PRIMARY KEY,
  invoice    BIGINT NOT NULL REFERENCES invoices(number),
  deposit    BYTEA NOT NULL,
  amount     TEXT NOT NULL,
  void       BOOLEAN NOT NULL,         -- the invoice was unpaid: the deposit counts no more
  created_at BIGINT NOT NULL
, surplus TEXT NOT NULL DEFAULT '0', fee TEXT NOT NULL DEFAULT '0');

CREATE INDEX invoice_refunds_invoice ON invoice_refunds(invoice);

CREATE TABLE invoices (
  number       BIGINT PRIMARY KEY,     -- from the numbers of wallets, so that it orders charges of both rules
  id           BYTEA NOT NULL UNIQUE,
  account_id   BYTEA NOT NULL REFERENCES accounts(id),
  token        BYTEA NOT NULL UNIQUE,
  reference    TEXT NOT NULL,
  request      BYTEA NOT NULL,         -- hash of what was asked for under the reference
  unit         TEXT NOT NULL,
  fiat         BOOLEAN NOT NULL,
  decimals     BIGINT NOT NULL,        -- of the unit, as it was then
  places       BIGINT NOT NULL,
  required     TEXT NOT NULL,
  under        TEXT NOT NULL,
  over         TEXT NOT NULL,
  late         TEXT NOT NULL,
  other        TEXT NOT NULL,
  rate_lock    BIGINT NOT NULL,
  description  TEXT NOT NULL,
  customer     TEXT NOT NULL,
  webhook      TEXT NOT NULL,
  metadata     TEXT NOT NULL,
  success      TEXT NOT NULL,
  failure      TEXT NOT NULL,
  contact      TEXT NOT NULL,
  locale       TEXT NOT NULL,
  link_format  TEXT NOT NULL,
  events       TEXT NOT NULL,
  created_at   BIGINT NOT NULL,
  expires_at   BIGINT NOT NULL,
  cancelled_at BIGINT NOT NULL DEFAULT 0,
  version      BIGINT NOT NULL,
  status       TEXT NOT NULL,          -- as of the last change of a fact
  labels       TEXT NOT NULL,
  attention    BOOLEAN NOT NULL,
  turns_at     BIGINT NOT NULL         -- when the status changes by itself; 0: never
, payments BIGINT NOT NULL DEFAULT 0, crowded BOOLEAN NOT NULL DEFAULT FALSE, attention_at BIGINT NOT NULL DEFAULT 0, link_id BYTEA REFERENCES payment_links(id), answers TEXT NOT NULL DEFAULT '');

CREATE INDEX invoices_account ON invoices(account_id, number);

CREATE INDEX invoices_attention ON invoices(account_id, number) WHERE attention;

CREATE INDEX invoices_created ON invoices(account_id, created_at);

CREATE INDEX invoices_customer ON invoices(customer, account_id) WHERE customer <> '';

CREATE INDEX invoices_labelled ON invoices(account_id, number) WHERE labels <> '';

CREATE INDEX invoices_link ON invoices(link_id, status) WHERE link_id IS NOT NULL;

CREATE INDEX invoices_metadata ON invoices(account_id, substr(metadata, 1, 64), number) WHERE metadata <> '';

CREATE UNIQUE INDEX invoices_named ON invoices(reference, account_id) WHERE reference <> '';

CREATE INDEX invoices_status ON invoices(account_id, status, number);

CREATE INDEX invoices_turning ON invoices(turns_at) WHERE turns_at > 0;

CREATE TABLE limit_rules (
  scope    TEXT NOT NULL,   -- 'all', or 'account:' and the ID of one
  currency TEXT NOT NULL,
  kind     TEXT NOT NULL,   -- 'maximum', or 'approval': what is larger is refused, or waits for an approval
  amount   TEXT NOT NULL,
  set_at   BIGINT NOT NULL,
  actor    TEXT NOT NULL,
  reason   TEXT NOT NULL,
  PRIMARY KEY (scope, currency, kind)
);

CREATE TABLE link_head (
  name   TEXT PRIMARY KEY,
  number BIGINT NOT NULL,
  key_id TEXT NOT NULL,
  newest   BYTEA NOT NULL
);

CREATE TABLE link_visits (
  invoice BIGINT PRIMARY KEY REFERENCES invoices(number),
  link_id BYTEA NOT NULL,
  visitor TEXT NOT NULL,   -- hashes of the caller's networks, the widest first, with / between them
  until   BIGINT NOT NULL
);

CREATE INDEX link_visits_link ON link_visits(link_id);

CREATE INDEX link_visits_until ON link_visits(until);

CREATE TABLE links (
  number BIGINT PRIMARY KEY,
  at     BIGINT NOT NULL,
  key_id TEXT NOT NULL,
  size   BIGINT NOT NULL,
  hash   BYTEA NOT NULL
);

CREATE TABLE month_sums (
  account TEXT NOT NULL,
  asset   TEXT NOT NULL,
  month   BIGINT NOT NULL,  -- months since January of the year 0, in UTC
  debits  TEXT NOT NULL,
  credits TEXT NOT NULL,
  PRIMARY KEY (account, asset, month)
);

CREATE TABLE months_summed (
  name  TEXT PRIMARY KEY,  -- 'months'
  entry BIGINT NOT NULL,
  since BIGINT NOT NULL
);

CREATE TABLE "moved_reservations" (
  chain      TEXT NOT NULL,
  resource      TEXT NOT NULL,
  from_outgoing BYTEA NOT NULL REFERENCES "outgoing_txs"(id),
  to_outgoing   BYTEA NOT NULL REFERENCES "outgoing_txs"(id),
  PRIMARY KEY (from_outgoing, resource)
);

CREATE INDEX moved_claims_to ON "moved_reservations"(to_outgoing);

CREATE TABLE nonces (
  chain TEXT NOT NULL,
  base  TEXT NOT NULL,
  next  BIGINT NOT NULL,
  PRIMARY KEY (chain, base)
);

CREATE TABLE notice_receivers (
  name          TEXT PRIMARY KEY,
  begun_at      BIGINT NOT NULL,             -- alarms that were closed before are not announced to it
  message       TEXT NOT NULL DEFAULT '',    -- what is being sent, as JSON, empty: nothing
  composed_at   BIGINT NOT NULL DEFAULT 0,   -- when the last message was composed
  attempts      BIGINT NOT NULL DEFAULT 0,   -- to send it, whoever records an outcome must know the number
  next_at       BIGINT NOT NULL DEFAULT 0,   -- before which nobody else tries
  error         TEXT NOT NULL DEFAULT '',    -- of the last attempt, empty: it succeeded
  failing_since BIGINT NOT NULL DEFAULT 0,   -- 0: the last attempt succeeded
  sent          BIGINT NOT NULL DEFAULT 0,   -- messages
  sent_at       BIGINT NOT NULL DEFAULT 0,
  lost          BIGINT NOT NULL DEFAULT 0,   -- messages that were given up since the last one that was sent
  solvency_at   BIGINT NOT NULL DEFAULT 0,   -- the last moment for which a line of solvency is in a message
  waiting       TEXT NOT NULL DEFAULT ''     -- of each queue the newest that was announced, as JSON
, held TEXT NOT NULL DEFAULT '');

CREATE TABLE noticed_alarms (
  receiver  TEXT NOT NULL REFERENCES notice_receivers(name),
  alarm     BIGINT NOT NULL REFERENCES alarms(number),
  at        BIGINT NOT NULL,                 -- when it was raised, as announced
  closed_at BIGINT NOT NULL,                 -- 0: its end was not announced
  PRIMARY KEY (receiver, alarm)
);

CREATE INDEX noticed_alarms_open ON noticed_alarms(receiver, alarm) WHERE closed_at = 0;

CREATE TABLE old_hot_held (
  chain    TEXT NOT NULL,
  base     TEXT NOT NULL,
  contract TEXT NOT NULL,
  since    BIGINT NOT NULL,
  PRIMARY KEY (chain, base, contract)
);

CREATE TABLE order_keys (
  account_id  BYTEA NOT NULL,
  key_id      TEXT NOT NULL,
  name        TEXT NOT NULL,
  public_key  TEXT NOT NULL,
  created_at  BIGINT NOT NULL,
  usable_from BIGINT NOT NULL,
  revoked_at  BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, key_id)
);

CREATE TABLE "outgoing_txs" (
  number     INTEGER PRIMARY KEY,
  id         BYTEA NOT NULL UNIQUE,
  chain      TEXT NOT NULL,
  kind       TEXT NOT NULL,
  status     TEXT NOT NULL,
  currency   TEXT NOT NULL,
  base       TEXT NOT NULL,
  order_json TEXT NOT NULL,
  draft_json TEXT NOT NULL DEFAULT '',
  tx_id      TEXT NOT NULL DEFAULT '',
  height     BIGINT NOT NULL DEFAULT 0,
  failed     BOOLEAN NOT NULL DEFAULT FALSE,
  fee        TEXT NOT NULL DEFAULT '0',
  error      TEXT NOT NULL DEFAULT '',
  sent_at_height BIGINT NOT NULL DEFAULT 0,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
, own_fee TEXT NOT NULL DEFAULT '0', share TEXT NOT NULL DEFAULT 'withdrawal', once TEXT, turn BIGINT NOT NULL DEFAULT 0, waits_for TEXT NOT NULL DEFAULT '', lacks TEXT NOT NULL DEFAULT '', missing TEXT NOT NULL DEFAULT '0', needed TEXT NOT NULL DEFAULT '0', delivered TEXT NOT NULL DEFAULT '');

CREATE INDEX outgoing_sweeps ON outgoing_txs(chain, base, created_at) WHERE share = 'sweep';

CREATE INDEX spends_base ON "outgoing_txs"(chain, base, height) WHERE status <> 'final' AND status <> 'abandoned';

CREATE INDEX spends_failed_sweeps ON "outgoing_txs"(chain, base) WHERE failed = TRUE AND share = 'sweep';

CREATE INDEX spends_fees_under_way ON "outgoing_txs"(chain) WHERE status <> 'new' AND status <> 'final' AND status <> 'abandoned' AND own_fee <> '0';

CREATE INDEX spends_height ON "outgoing_txs"(chain, height);

CREATE INDEX spends_lacking ON "outgoing_txs"(chain) WHERE status = 'new' AND waits_for <> '' AND share <> 'sweep';

CREATE INDEX spends_new ON "outgoing_txs"(chain, share, currency, turn, number) WHERE status = 'new';

CREATE UNIQUE INDEX spends_once ON "outgoing_txs"(chain, once) WHERE once IS NOT NULL;

CREATE INDEX spends_open ON "outgoing_txs"(chain, number) WHERE status <> 'final' AND status <> 'abandoned';

CREATE INDEX spends_sweeps ON "outgoing_txs"(chain, currency, height) WHERE share = 'sweep' AND height = 0 AND status <> 'final' AND status <> 'abandoned';

CREATE INDEX spends_under_way ON "outgoing_txs"(chain, share, height, number) WHERE height = 0 AND status <> 'new' AND status <> 'final' AND status <> 'abandoned';

CREATE TABLE "outgoing_versions" (
  chain      TEXT NOT NULL,
  tx_id      TEXT NOT NULL,
  outgoing_id   BYTEA NOT NULL REFERENCES "outgoing_txs"(id),
  version    BIGINT NOT NULL,
  draft_json TEXT NOT NULL,
  raw        BYTEA NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (chain, tx_id)
);

CREATE INDEX spend_txs_spend ON "outgoing_versions"(outgoing_id, version);

CREATE TABLE passkey_challenges (
  id         BYTEA PRIMARY KEY,
  data       TEXT NOT NULL,               -- JSON: the challenge and what its answer is judged by
  person_id  BYTEA,                       -- whose passkey is made; NULL: somebody signs in
  invitation BYTEA,                       -- hash of the invitation that makes it
  session_id BYTEA,                       -- in which another passkey is made
  expires_at BIGINT NOT NULL
);

CREATE INDEX passkey_challenges_expiry ON passkey_challenges(expires_at, id);

CREATE TABLE passkeys (
  id         BYTEA PRIMARY KEY,           -- of the credential
  person_id  BYTEA NOT NULL REFERENCES people(id),
  credential TEXT NOT NULL,               -- JSON: public key, counter, flags
  created_at BIGINT NOT NULL,
  used_at    BIGINT NOT NULL,
  removed_at BIGINT NOT NULL DEFAULT 0
);

CREATE INDEX passkeys_person ON passkeys(person_id);

CREATE TABLE payment_links (
  number     BIGINT PRIMARY KEY,       -- from the numbers of wallets
  id         BYTEA NOT NULL UNIQUE,
  account_id BYTEA NOT NULL REFERENCES accounts(id),
  token      BYTEA NOT NULL UNIQUE,    -- opens the page of the link
  terms      TEXT NOT NULL,            -- JSON: what each charge is made with
  fields     TEXT NOT NULL,            -- that a payer is asked for
  max_uses   BIGINT NOT NULL,          -- 0: no bound
  created_at BIGINT NOT NULL,
  closes_at  BIGINT NOT NULL,          -- 0: never
  closed_at  BIGINT NOT NULL DEFAULT 0
);

CREATE INDEX payment_links_account ON payment_links(account_id, number);

CREATE TABLE people (
  id            BYTEA PRIMARY KEY,
  name          TEXT NOT NULL UNIQUE,
  roles         TEXT NOT NULL,            -- in force until changes_at
  accounts      TEXT NOT NULL,
  next_roles    TEXT NOT NULL,            -- in force from changes_at
  next_accounts TEXT NOT NULL,
  changes_at    BIGINT NOT NULL,          -- 0: no change waits
  created_at    BIGINT NOT NULL,
  revoked_at    BIGINT NOT NULL DEFAULT 0
);

CREATE TABLE posted (
  account   TEXT NOT NULL,
  asset     TEXT NOT NULL,
  debits    TEXT NOT NULL,
  credits   TEXT NOT NULL,
  unchecked BOOLEAN NOT NULL DEFAULT FALSE,
  seal      BYTEA, link BIGINT NOT NULL DEFAULT 0, overdrawn BOOLEAN NOT NULL DEFAULT FALSE,
  PRIMARY KEY (account, asset)
);

CREATE INDEX posted_unchecked ON posted(account, asset) WHERE unchecked = TRUE;

CREATE INDEX posted_unsealed ON posted(account, asset) WHERE seal IS NULL;

CREATE TABLE postings (
  entry  BIGINT NOT NULL REFERENCES entries(number),
  place   BIGINT NOT NULL,
  debit  TEXT NOT NULL,
  credit TEXT NOT NULL,
  asset  TEXT NOT NULL,
  amount TEXT NOT NULL,
  PRIMARY KEY (entry, place)
);

CREATE INDEX postings_credit ON postings(credit, entry);

CREATE INDEX postings_debit ON postings(debit, entry);

CREATE TABLE previous_txs (
  chain TEXT NOT NULL,
  tx_id TEXT NOT NULL,
  raw   BYTEA NOT NULL,
  PRIMARY KEY (chain, tx_id)
);

CREATE TABLE proposal_votes (
  proposal  BYTEA NOT NULL REFERENCES proposals(id),
  person_id BYTEA NOT NULL,
  person    TEXT NOT NULL,
  approves  BOOLEAN NOT NULL,
  reason    TEXT NOT NULL,
  evidence  TEXT NOT NULL,             -- the assertion of the person's passkey over the text; may be empty
  at        BIGINT NOT NULL,
  PRIMARY KEY (proposal, person_id)
);

CREATE TABLE proposals (
  id          BYTEA PRIMARY KEY,
  verb        TEXT NOT NULL,           -- what is to be done
  object      TEXT NOT NULL,           -- to what
  account_id  BYTEA,                   -- whose money; NULL: nobody's
  currency    TEXT NOT NULL,           -- empty: no money moves
  amount      TEXT NOT NULL,
  destination TEXT NOT NULL,
  detail      TEXT NOT NULL,           -- what else the verb needs
  reason      TEXT NOT NULL,
  need        BIGINT NOT NULL,         -- how many persons besides the proposer must approve
  person_id   BYTEA NOT NULL,          -- who proposed
  person      TEXT NOT NULL,
  token       BYTEA NOT NULL UNIQUE,   -- of the form: submitted again, it proposes nothing again
  hash        BYTEA NOT NULL,          -- SHA-256 of the canonical text
  status      TEXT NOT NULL,           -- pending, approved, executed, rejected, expired, void
  outcome     TEXT NOT NULL DEFAULT '',
  created_at  BIGINT NOT NULL,
  expires_at  BIGINT NOT NULL,
  ended_at    BIGINT NOT NULL DEFAULT 0
);

CREATE INDEX proposals_listed ON proposals(created_at, id);

CREATE INDEX proposals_of_account ON proposals(account_id, created_at, id) WHERE account_id IS NOT NULL;

CREATE UNIQUE INDEX proposals_open ON proposals(verb, object) WHERE status IN ('pending', 'approved');

CREATE INDEX proposals_waiting ON proposals(created_at, id) WHERE status IN ('pending', 'approved');

CREATE TABLE reconciliations (
  currency  TEXT PRIMARY KEY,
  chain     TEXT NOT NULL,
  at        BIGINT NOT NULL,
  height    BIGINT NOT NULL,
  custody   TEXT NOT NULL,
  unbooked  TEXT NOT NULL,
  unsettled TEXT NOT NULL,
  on_chain  TEXT NOT NULL
, cold TEXT NOT NULL DEFAULT '0', cold_on_chain TEXT NOT NULL DEFAULT '0', unswept TEXT NOT NULL DEFAULT '0');

CREATE TABLE recoveries (
  number       INTEGER PRIMARY KEY,
  chain        TEXT NOT NULL,
  cause        TEXT NOT NULL,
  began_at     BIGINT NOT NULL,
  from_height  BIGINT NOT NULL DEFAULT -1, -- the newest block when the follower had caught up; -1: it has not yet
  blocks       BIGINT NOT NULL DEFAULT 0,  -- recorded above it
  until_height BIGINT NOT NULL DEFAULT -1, -- once this block is final, nothing that was signed before can enter a block
  released     BOOLEAN NOT NULL DEFAULT FALSE, -- an operator does not want to wait for that
  ended_at     BIGINT NOT NULL DEFAULT 0
, journaled BOOLEAN NOT NULL DEFAULT FALSE);

CREATE UNIQUE INDEX recoveries_open ON recoveries(chain) WHERE ended_at = 0;

CREATE TABLE refills (
  id         BYTEA PRIMARY KEY,
  chain      TEXT NOT NULL,
  wallet     TEXT NOT NULL,
  currency   TEXT NOT NULL,
  amount     TEXT NOT NULL,
  bundle     TEXT NOT NULL,
  status     TEXT NOT NULL,
  tx_id      TEXT NOT NULL DEFAULT '',
  raw        BYTEA,
  actor      TEXT NOT NULL,
  reason     TEXT NOT NULL DEFAULT '',
  created_at BIGINT NOT NULL,
  ended_at   BIGINT NOT NULL DEFAULT 0
, revokes TEXT NOT NULL DEFAULT '', ends_at BIGINT NOT NULL DEFAULT 0, uses TEXT NOT NULL DEFAULT '', read_at BIGINT NOT NULL DEFAULT 0);

CREATE UNIQUE INDEX refills_open ON refills(chain, wallet) WHERE status = 'open';

CREATE TABLE request_log (
  number     INTEGER PRIMARY KEY,
  request_id BYTEA NOT NULL,              -- as in X-Request-ID
  at         BIGINT NOT NULL,
  account_id BYTEA,                       -- NULL: no key was taken
  key_id     BYTEA,
  method     TEXT NOT NULL,
  path       TEXT NOT NULL,               -- of an endpoint; empty: there is none at the path
  status     BIGINT NOT NULL,
  code       TEXT NOT NULL,               -- of a refusal; empty: a success
  micros     BIGINT NOT NULL,             -- until the response was written
  left_out   BIGINT NOT NULL              -- requests of the account that are not in the log, in the second before
);

CREATE INDEX request_log_account ON request_log(account_id, number);

CREATE TABLE "reservations" (
  chain    TEXT NOT NULL,
  resource    TEXT NOT NULL,
  outgoing_id BYTEA NOT NULL REFERENCES "outgoing_txs"(id),
  PRIMARY KEY (chain, resource)
);

CREATE INDEX claims_spend ON "reservations"(outgoing_id);

CREATE TABLE "resolutions" (
  number       INTEGER PRIMARY KEY,
  id           BYTEA NOT NULL UNIQUE,
  deposit_id   BYTEA NOT NULL REFERENCES deposits(id),
  chain        TEXT NOT NULL,
  currency     TEXT NOT NULL,
  kind         TEXT NOT NULL,
  status       TEXT NOT NULL,
  note         TEXT NOT NULL,
  account_id   BYTEA REFERENCES accounts(id),
  wallet_id    BYTEA REFERENCES wallets(id),
  base         TEXT NOT NULL,
  memo         BIGINT NOT NULL,
  amount       TEXT NOT NULL,
  fee          TEXT NOT NULL,
  outgoing_id     BYTEA REFERENCES "outgoing_txs"(id),
  tx_id        TEXT NOT NULL DEFAULT '',
  error        TEXT NOT NULL DEFAULT '',
  decided_at   BIGINT NOT NULL,
  completed_at BIGINT NOT NULL DEFAULT 0
, seal BYTEA, requested_by TEXT NOT NULL DEFAULT '');

CREATE INDEX decisions_base ON "resolutions"(chain, base);

CREATE INDEX decisions_deposit ON "resolutions"(deposit_id, number);

CREATE UNIQUE INDEX decisions_once ON "resolutions"(deposit_id) WHERE status <> 'failed';

CREATE INDEX decisions_queued ON "resolutions"(chain, number) WHERE status = 'queued';

CREATE INDEX decisions_spend ON "resolutions"(outgoing_id);

CREATE TABLE screenings (
  subject    BYTEA PRIMARY KEY,         -- of a deposit or a withdrawal
  kind       TEXT NOT NULL,
  chain      TEXT NOT NULL,
  block_hash TEXT NOT NULL,             -- in which the deposit stood; empty for a payout
  account_id BYTEA,                     -- whose it was when it was asked about
  wallet_id  BYTEA,
  outcome    TEXT NOT NULL,
  request    TEXT NOT NULL,             -- empty until it is asked
  answer     TEXT NOT NULL,
  signature  TEXT NOT NULL,
  list       TEXT NOT NULL,             -- version of the lists that the service compared with
  attempts   BIGINT NOT NULL,
  next_at    BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  error      TEXT NOT NULL,
  actor      TEXT NOT NULL,             -- the operator who decided
  reason     TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  decided_at BIGINT NOT NULL
);

CREATE INDEX screenings_outcome ON screenings(chain, outcome);

CREATE TABLE seals (
  entry BIGINT PRIMARY KEY,
  link  BIGINT NOT NULL
);

CREATE INDEX seals_link ON seals(link, entry);

CREATE TABLE settings (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL
);

CREATE TABLE signed_orders (
  withdrawal_id BYTEA PRIMARY KEY,
  account_id    BYTEA NOT NULL,
  order_id      BYTEA NOT NULL,
  text          TEXT NOT NULL,
  signature     TEXT NOT NULL,
  max_fee       TEXT NOT NULL,
  expires_at    BIGINT NOT NULL,
  UNIQUE (account_id, order_id)
);

CREATE TABLE treasury_orders (
  number INTEGER PRIMARY KEY,
  id     BYTEA NOT NULL UNIQUE REFERENCES withdrawals(id),
  actor  TEXT NOT NULL,
  reason TEXT NOT NULL,
  at     BIGINT NOT NULL
);

CREATE TABLE used_outputs (
  chain  TEXT NOT NULL,
  resource  TEXT NOT NULL,
  tx_id  TEXT NOT NULL,
  height BIGINT NOT NULL,
  PRIMARY KEY (chain, resource, tx_id)
);

CREATE INDEX used_outputs_height ON used_outputs(chain, height);

CREATE TABLE "utxos" (
  chain       TEXT NOT NULL,
  resource       TEXT NOT NULL,
  base        TEXT NOT NULL,
  key_branch  BIGINT NOT NULL,
  key_index   BIGINT NOT NULL,
  amount      TEXT NOT NULL,
  height      BIGINT NOT NULL,
  counts_from BIGINT NOT NULL DEFAULT 0,
  made_by     BYTEA,
  spent       BOOLEAN NOT NULL DEFAULT FALSE,
  PRIMARY KEY (chain, resource)
);

CREATE INDEX coins_unspent ON "utxos"(chain, height) WHERE spent = FALSE;

CREATE INDEX utxos_unspent_of ON utxos(chain, substr(resource, 1, 64)) WHERE spent = FALSE;

CREATE TABLE wallet_counts (
  account_id BYTEA NOT NULL,
  currency   TEXT NOT NULL,
  wallets    BIGINT NOT NULL,
  PRIMARY KEY (account_id, currency)
);

CREATE TABLE wallets (
  number          BIGINT PRIMARY KEY,
  id              BYTEA NOT NULL UNIQUE,
  account_id      BYTEA NOT NULL REFERENCES accounts(id),
  currency        TEXT NOT NULL,
  family          TEXT NOT NULL,
  key_index       BIGINT NOT NULL,
  base            TEXT NOT NULL,
  memo            BIGINT NOT NULL DEFAULT -1,
  webhook         TEXT NOT NULL,
  webhook_version BIGINT NOT NULL,
  metadata        TEXT NOT NULL,
  for_charge      BOOLEAN NOT NULL,
  created_at      BIGINT NOT NULL, for_invoice BOOLEAN NOT NULL DEFAULT FALSE,
  UNIQUE (family, base, memo)
);

CREATE INDEX wallets_listed ON wallets(account_id, number) WHERE for_charge = FALSE;

CREATE INDEX wallets_listed_currency ON wallets(account_id, currency, number) WHERE for_charge = FALSE;

CREATE INDEX wallets_metadata ON wallets(account_id, substr(metadata, 1, 64), number) WHERE metadata <> '';

CREATE INDEX wallets_of_memo ON wallets(memo, account_id) WHERE memo >= 0;

CREATE TABLE watched_parts (
  family TEXT NOT NULL,
  part   BIGINT NOT NULL,
  hashes BYTEA NOT NULL,
  PRIMARY KEY (family, part)
);

CREATE TABLE webhook_rules (
  account_id BYTEA NOT NULL,
  currency   TEXT NOT NULL,
  webhook    TEXT NOT NULL,
  version    BIGINT NOT NULL,
  PRIMARY KEY (account_id, currency)
);

CREATE TABLE withdrawals (
  number       INTEGER PRIMARY KEY,
  id           BYTEA NOT NULL UNIQUE,
  account_id   BYTEA NOT NULL REFERENCES accounts(id),
  currency     TEXT NOT NULL,
  chain        TEXT NOT NULL,
  amount       TEXT NOT NULL,
  fee          TEXT NOT NULL,
  base         TEXT NOT NULL,
  memo         BIGINT NOT NULL,
  status       TEXT NOT NULL,
  outgoing_id     BYTEA,
  tx_id        TEXT NOT NULL DEFAULT '',
  error        TEXT NOT NULL DEFAULT '',
  created_at   BIGINT NOT NULL,
  completed_at BIGINT NOT NULL DEFAULT 0
, seal BYTEA, requested_by TEXT NOT NULL DEFAULT '', reference TEXT NOT NULL DEFAULT '', metadata TEXT NOT NULL DEFAULT '');

CREATE INDEX withdrawals_metadata ON withdrawals(account_id, substr(metadata, 1, 64), number) WHERE metadata <> '';

CREATE UNIQUE INDEX withdrawals_named ON withdrawals(reference, account_id) WHERE reference <> '';

CREATE INDEX withdrawals_of_account ON withdrawals(account_id, number, currency, created_at);

CREATE INDEX withdrawals_open ON withdrawals(number) WHERE completed_at = 0;

CREATE INDEX withdrawals_paid_by ON withdrawals(tx_id, account_id) WHERE tx_id <> '';

CREATE INDEX withdrawals_requested ON withdrawals(account_id, currency, created_at)
  WHERE status NOT IN ('rejected', 'cancelled', 'failed');

CREATE INDEX withdrawals_spend ON withdrawals(outgoing_id) WHERE outgoing_id IS NOT NULL;

CREATE INDEX withdrawals_to ON withdrawals(base, account_id, number);

CREATE INDEX withdrawals_unfinished ON withdrawals(chain, base) WHERE completed_at = 0;

CREATE INDEX withdrawals_unsealed ON withdrawals(number) WHERE seal IS NULL;

CREATE INDEX withdrawals_unusual ON withdrawals(account_id, status, number) WHERE status <> 'confirmed';

CREATE INDEX withdrawals_waiting ON withdrawals(chain, currency, number) WHERE status = 'queued' AND outgoing_id IS NULL;
