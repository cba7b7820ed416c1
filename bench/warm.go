package main

import (
	"context"
	"fmt"
	"time"
)

// warming is for how long a process is driven before it is measured: one that has just started writes to each page of
// its memory for the first time until it has collected garbage once. That took half of a request's time in a virtual
// machine whose host takes back memory that is not in use. No client meets it again until the next start.
const warming = 2 * time.Second

// warm drives the service, and the reference beside it, until they use memory that they have used before. What was
// driven since it started is warm: the reference starts once, the service before many measurements.
func (s *site) warm(ctx context.Context) error {
	if s.warmed == s.service {
		return nil
	}
	progress("%s: driving what has just started before it is measured", s.kind)
	if s.warmed == nil {
		if err := s.driven(ctx, s.reference, point); err != nil {
			return err
		}
	}
	s.warmed = s.service
	return s.driven(ctx, s.api, fixed("GET", "/api/v1/account", headersOf(s.account), ""))
}

func (s *site) driven(ctx context.Context, address string, next call) error {
	_, err := drive(ctx, driving{addresses: []string{address}, conns: 64, end: after(warming), next: next, turn: &s.turn})
	if err != nil {
		return fmt.Errorf("before it is measured: %w", err)
	}
	return nil
}
