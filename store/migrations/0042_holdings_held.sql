-- +goose NO TRANSACTION
-- +goose Up
-- Most addresses hold nothing any more: what waits to be swept is added up from the others.
DROP INDEX CONCURRENTLY IF EXISTS holdings_held;
CREATE INDEX CONCURRENTLY holdings_held ON holdings(chain, contract) WHERE amount <> '0';
