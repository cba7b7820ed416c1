-- +goose Up
-- The token of the lease under which the follower has recorded up to a final block that was reported after that lease was
-- taken. Nothing is signed while it differs from the lease's own.
ALTER TABLE chains ADD COLUMN ready_token BIGINT NOT NULL DEFAULT 0;
