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

// warm drives the service, and the reference beside it, until both use memory that they have used before. It does
// nothing for a service that is warm already.
func (s *site) warm(ctx context.Context) error {
	if s.warmed == s.service {
		return nil
	}
	progress("%s: driving the service and the reference before they are measured", s.kind)
	for _, side := range []struct {
		address string
		next    call
	}{{s.reference, point}, {s.api, fixed("GET", "/api/v1/account", headersOf(s.account), "")}} {
		_, err := drive(ctx, driving{addresses: []string{side.address}, conns: 64, end: after(warming), next: side.next,
			turn: &s.turn})
		if err != nil {
			return fmt.Errorf("before it is measured: %w", err)
		}
	}
	s.warmed = s.service
	return nil
}
