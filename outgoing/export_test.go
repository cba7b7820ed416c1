package outgoing

import "time"

// Rest is how long hints wait after the last step.
func (s *Sender) Rest() time.Duration { return s.restAfterStep() }
