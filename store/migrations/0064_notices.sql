-- +goose NO TRANSACTION
-- +goose Up
-- Who is notified of alarms and of what waits, by the name in the configuration, with the one message that is being sent.
CREATE TABLE IF NOT EXISTS notice_receivers (
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
);

-- What each of them knows of an alarm, which opens again under its number.
CREATE TABLE IF NOT EXISTS noticed_alarms (
  receiver  TEXT NOT NULL REFERENCES notice_receivers(name),
  alarm     BIGINT NOT NULL REFERENCES alarms(number),
  at        BIGINT NOT NULL,                 -- when it was raised, as announced
  closed_at BIGINT NOT NULL,                 -- 0: its end was not announced
  PRIMARY KEY (receiver, alarm)
);
DROP INDEX CONCURRENTLY IF EXISTS noticed_alarms_open;
CREATE INDEX CONCURRENTLY noticed_alarms_open ON noticed_alarms(receiver, alarm) WHERE closed_at = 0;
DROP INDEX CONCURRENTLY IF EXISTS alarms_resolved;
CREATE INDEX CONCURRENTLY alarms_resolved ON alarms(resolved_at) WHERE resolved_at <> 0;
