-- +goose Up
-- Several persons may halt one scope, each for a reason that is ended by itself: what was halted before gets a ref too.
UPDATE halts SET ref = CAST(number AS TEXT) WHERE kind = 'operator' AND ref = '';
