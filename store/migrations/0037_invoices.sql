-- +goose Up
-- Charges whose deposits add up. Their wallets are marked, so that a deposit to one is known for what it is whichever
-- currency it brings. The token of a charge opens its payer's page.
ALTER TABLE wallets ADD COLUMN for_invoice BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE charges ADD COLUMN token BYTEA;

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
);
CREATE INDEX invoices_account ON invoices(account_id, number);
CREATE UNIQUE INDEX invoices_reference ON invoices(account_id, reference) WHERE reference <> '';
CREATE INDEX invoices_turning ON invoices(turns_at) WHERE turns_at > 0;

CREATE TABLE invoice_options (
  invoice  BIGINT NOT NULL REFERENCES invoices(number),
  currency TEXT NOT NULL,
  position BIGINT NOT NULL,
  wallet   BIGINT REFERENCES wallets(number), -- NULL until the currency is chosen
  PRIMARY KEY (invoice, currency)
);
CREATE UNIQUE INDEX invoice_options_wallet ON invoice_options(wallet);

-- At which rate a payment counts that is first seen within a quote.
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

-- What is known of a deposit to an address of an invoice, from its first sight.
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

CREATE TABLE invoice_refunds (
  withdrawal BYTEA PRIMARY KEY,
  invoice    BIGINT NOT NULL REFERENCES invoices(number),
  deposit    BYTEA NOT NULL,
  amount     TEXT NOT NULL,
  void       BOOLEAN NOT NULL,         -- the invoice was unpaid: the deposit counts no more
  created_at BIGINT NOT NULL
);
CREATE INDEX invoice_refunds_invoice ON invoice_refunds(invoice);

-- What happened to an invoice, as its client sees it.
CREATE TABLE invoice_moments (
  invoice BIGINT NOT NULL REFERENCES invoices(number),
  version BIGINT NOT NULL,
  what    TEXT NOT NULL,
  at      BIGINT NOT NULL,
  PRIMARY KEY (invoice, version, what)
);
