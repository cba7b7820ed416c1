-- +goose Up
-- One text for SQLite and PostgreSQL. Conventions: ids are 16-byte UUIDs, times are microseconds since 1970 UTC (0: never),
-- amounts are base-ten text of smallest units, heights and numbers are BIGINT. BIGSERIAL becomes INTEGER on SQLite.

CREATE TABLE settings (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL
);

-- Counters hand out numbers in the order of commits, because their row is locked until the transaction that took one ends.
CREATE TABLE counters (
  name TEXT PRIMARY KEY,
  next BIGINT NOT NULL
);

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
);

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
);
CREATE INDEX api_keys_account ON api_keys(account_id);

-- Deposit addresses, those of charges among them. number comes from a counter: whoever has read up to a number has read
-- every address committed before it.
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
  created_at      BIGINT NOT NULL,
  UNIQUE (family, base, memo)
);
CREATE INDEX wallets_account ON wallets(account_id, number);
CREATE INDEX wallets_currency ON wallets(account_id, currency, number);

CREATE TABLE wallet_counts (
  account_id BYTEA NOT NULL,
  currency   TEXT NOT NULL,
  wallets    BIGINT NOT NULL,
  PRIMARY KEY (account_id, currency)
);

-- The webhook of all wallets of a currency, or of an account (currency ''): the newest version among these and the
-- wallet's own wins when a webhook is read.
CREATE TABLE webhook_rules (
  account_id BYTEA NOT NULL,
  currency   TEXT NOT NULL,
  webhook    TEXT NOT NULL,
  version    BIGINT NOT NULL,
  PRIMARY KEY (account_id, currency)
);

CREATE TABLE charges (
  number     BIGINT PRIMARY KEY REFERENCES wallets(number),
  id         BYTEA NOT NULL UNIQUE,
  account_id BYTEA NOT NULL REFERENCES accounts(id),
  minimum    TEXT NOT NULL,
  expires_at BIGINT NOT NULL,
  paid_by    BYTEA
);
CREATE INDEX charges_account ON charges(account_id, number);

CREATE TABLE chains (
  chain         TEXT PRIMARY KEY,
  height        BIGINT NOT NULL DEFAULT -1,
  hash          TEXT NOT NULL DEFAULT '',
  latest_height BIGINT NOT NULL DEFAULT 0,
  final_height  BIGINT NOT NULL DEFAULT 0,
  checked_at    BIGINT NOT NULL DEFAULT 0,
  halted        TEXT NOT NULL DEFAULT '',
  holder        TEXT NOT NULL DEFAULT '',
  token         BIGINT NOT NULL DEFAULT 0,
  lease_until   BIGINT NOT NULL DEFAULT 0
);

CREATE TABLE blocks (
  chain  TEXT NOT NULL,
  height BIGINT NOT NULL,
  hash   TEXT NOT NULL,
  parent TEXT NOT NULL,
  PRIMARY KEY (chain, height)
);

-- Value that arrived at an address of ours, whoever's it is. The unique key is invariant 4.
CREATE TABLE deposits (
  number       BIGSERIAL PRIMARY KEY,
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
  confirmed_at BIGINT NOT NULL DEFAULT 0,
  UNIQUE (chain, tx_id, output, base, memo, contract)
);
CREATE INDEX deposits_block ON deposits(chain, height);
CREATE INDEX deposits_pending ON deposits(chain, height) WHERE status = 'pending';
CREATE INDEX deposits_wallet ON deposits(wallet, number);
CREATE INDEX deposits_account ON deposits(account_id, status);

-- What an account-based chain holds for us at each address, moved in the transactions that book it.
CREATE TABLE holdings (
  chain     TEXT NOT NULL,
  base      TEXT NOT NULL,
  contract  TEXT NOT NULL,
  key_branch BIGINT NOT NULL,
  key_index  BIGINT NOT NULL,
  amount     TEXT NOT NULL,
  due        BOOLEAN NOT NULL,
  PRIMARY KEY (chain, contract, base)
);
CREATE INDEX holdings_due ON holdings(chain) WHERE due = TRUE;

-- Unspent and spent outputs of ours, on chains that spend by coins. height 0: in no block yet.
CREATE TABLE coins (
  chain       TEXT NOT NULL,
  claim       TEXT NOT NULL,
  base        TEXT NOT NULL,
  key_branch  BIGINT NOT NULL,
  key_index   BIGINT NOT NULL,
  amount      TEXT NOT NULL,
  height      BIGINT NOT NULL,
  counts_from BIGINT NOT NULL DEFAULT 0,
  made_by     BYTEA,
  spent       BOOLEAN NOT NULL DEFAULT FALSE,
  PRIMARY KEY (chain, claim)
);
CREATE INDEX coins_unspent ON coins(chain, height) WHERE spent = FALSE;

-- One outgoing transaction: its order, and in spend_txs every version of it that was ever signed.
CREATE TABLE spends (
  number     BIGSERIAL PRIMARY KEY,
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
);
CREATE INDEX spends_open ON spends(chain, number) WHERE status <> 'final' AND status <> 'abandoned';
CREATE INDEX spends_height ON spends(chain, height);

CREATE TABLE spend_txs (
  chain      TEXT NOT NULL,
  tx_id      TEXT NOT NULL,
  spend_id   BYTEA NOT NULL REFERENCES spends(id),
  version    BIGINT NOT NULL,
  draft_json TEXT NOT NULL,
  raw        BYTEA NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (chain, tx_id)
);
CREATE INDEX spend_txs_spend ON spend_txs(spend_id, version);

-- What a spend uses up, for ever unless it expired: the primary key is what makes double use impossible.
CREATE TABLE claims (
  chain    TEXT NOT NULL,
  claim    TEXT NOT NULL,
  spend_id BYTEA NOT NULL REFERENCES spends(id),
  PRIMARY KEY (chain, claim)
);
CREATE INDEX claims_spend ON claims(spend_id);

CREATE TABLE nonces (
  chain TEXT NOT NULL,
  base  TEXT NOT NULL,
  next  BIGINT NOT NULL,
  PRIMARY KEY (chain, base)
);

-- Nonces below next that a transaction gave back when it expired: they are used before next is.
CREATE TABLE free_nonces (
  chain TEXT NOT NULL,
  base  TEXT NOT NULL,
  nonce BIGINT NOT NULL,
  PRIMARY KEY (chain, base, nonce)
);

CREATE TABLE withdrawals (
  number       BIGSERIAL PRIMARY KEY,
  id           BYTEA NOT NULL UNIQUE,
  account_id   BYTEA NOT NULL REFERENCES accounts(id),
  currency     TEXT NOT NULL,
  chain        TEXT NOT NULL,
  amount       TEXT NOT NULL,
  fee          TEXT NOT NULL,
  base         TEXT NOT NULL,
  memo         BIGINT NOT NULL,
  status       TEXT NOT NULL,
  spend_id     BYTEA,
  tx_id        TEXT NOT NULL DEFAULT '',
  error        TEXT NOT NULL DEFAULT '',
  created_at   BIGINT NOT NULL,
  completed_at BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX withdrawals_account ON withdrawals(account_id, number);
CREATE INDEX withdrawals_queued ON withdrawals(chain, number) WHERE status = 'queued';
CREATE INDEX withdrawals_spend ON withdrawals(spend_id);

CREATE TABLE entries (
  number BIGSERIAL PRIMARY KEY,
  kind   TEXT NOT NULL,
  ref    TEXT NOT NULL,
  at     BIGINT NOT NULL,
  UNIQUE (kind, ref)
);

CREATE TABLE postings (
  entry  BIGINT NOT NULL REFERENCES entries(number),
  line   BIGINT NOT NULL,
  debit  TEXT NOT NULL,
  credit TEXT NOT NULL,
  asset  TEXT NOT NULL,
  amount TEXT NOT NULL,
  PRIMARY KEY (entry, line)
);
CREATE INDEX postings_debit ON postings(debit, entry);
CREATE INDEX postings_credit ON postings(credit, entry);

CREATE TABLE balances (
  account TEXT NOT NULL,
  asset   TEXT NOT NULL,
  debits  TEXT NOT NULL,
  credits TEXT NOT NULL,
  PRIMARY KEY (account, asset)
);

CREATE TABLE events (
  number     BIGSERIAL PRIMARY KEY,
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
);
CREATE INDEX events_due ON events(next_at) WHERE status = 'pending';
CREATE INDEX events_account ON events(account_id, number);

CREATE TABLE attempts (
  event    BIGINT NOT NULL REFERENCES events(number),
  attempt  BIGINT NOT NULL,
  at       BIGINT NOT NULL,
  duration BIGINT NOT NULL,
  code     BIGINT NOT NULL,
  error    TEXT NOT NULL,
  PRIMARY KEY (event, attempt)
);

-- URLs that answered 410 Gone.
CREATE TABLE dead_urls (
  account_id BYTEA NOT NULL,
  url        TEXT NOT NULL,
  at         BIGINT NOT NULL,
  PRIMARY KEY (account_id, url)
);

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

CREATE TABLE alarms (
  number      BIGSERIAL PRIMARY KEY,
  chain       TEXT NOT NULL,
  kind        TEXT NOT NULL,
  ref         TEXT NOT NULL,
  message     TEXT NOT NULL,
  at          BIGINT NOT NULL,
  resolved_at BIGINT NOT NULL DEFAULT 0,
  UNIQUE (kind, ref)
);
