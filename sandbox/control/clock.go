package control

import (
	"net/http"
	"time"
)

// maxAdvance bounds how far the clock is moved at once: further than anything in the service waits.
const maxAdvance = 366 * 24 * time.Hour

type clockRequest struct {
	Advance string `json:"advance"`
}

type clockAnswer struct {
	Now time.Time `json:"now"`
}

// clock is GET /test/clock.
func (s *Server) clock(*http.Request) (any, error) { return clockAnswer{s.Now().UTC()}, nil }

// advance is POST /test/clock. The clock goes on from there; the chains' blocks keep the machine's time.
func (s *Server) advance(_ *http.Request, body []byte) (any, error) {
	var request clockRequest
	if err := read(body, &request); err != nil {
		return nil, err
	}
	by, err := time.ParseDuration(request.Advance)
	if err != nil || by <= 0 || by > maxAdvance {
		return nil, wrong("advance must be a duration such as 90s or 2h, above zero and at most %d hours; no clock goes back",
			int(maxAdvance.Hours()))
	}
	if s.Advance == nil {
		return nil, &mistake{http.StatusConflict, "the service is another process: its clock is the machine's"}
	}
	if err := s.Advance(by); err != nil {
		return nil, err
	}
	return clockAnswer{s.Now().UTC()}, nil
}
