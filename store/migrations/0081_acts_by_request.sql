-- +goose NO TRANSACTION
-- +goose Up
-- Rows of the log of acts are found by the request that they came by, and by the token of the form that was sent.
DROP INDEX CONCURRENTLY IF EXISTS acts_request;
CREATE INDEX CONCURRENTLY acts_request ON acts(request, number) WHERE request <> '';
DROP INDEX CONCURRENTLY IF EXISTS acts_token;
CREATE INDEX CONCURRENTLY acts_token ON acts(token, number) WHERE token <> '';
