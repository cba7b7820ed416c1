package pay

import (
	"bytes"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/bursar/bursar"
)

// writeTime is the time limit of one event: a browser that takes none is not waited for.
const writeTime = 10 * time.Second

// events answers GET /pay/{token}/events with the changing part of the page at each change (server-sent events). One
// stream too many is refused; the page then asks from time to time.
func (h *Handler) events(w http.ResponseWriter, r *http.Request, token bursar.ID, client netip.Prefix) {
	p, err := h.find(r, token)
	if err != nil {
		h.fail(w, r, err)
		return
	}
	s := h.watch.enter(token, client, p.Seen)
	if s == nil {
		w.Header().Set("Retry-After", "5")
		h.fail(w, r, errBusy)
		return
	}
	defer h.watch.leave(s)
	out := http.NewResponseController(w)
	_ = out.SetReadDeadline(time.Time{}) // the request is read; its limit would end the stream
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	sent := r.Header.Get("Last-Event-ID")
	if sent == "" {
		sent = r.URL.Query().Get("seen")
	}
	text := "retry: 3000\n\n"
	for {
		if p.Key != sent {
			if text += h.event(p); text == "" {
				return
			}
			sent = p.Key
		}
		if !h.send(w, out, text) || !h.wait(r, w, out, s) {
			return
		}
		if p, err = h.find(r, token); err != nil {
			return // the browser connects again, and gets it then
		}
		s.drawn(p.Seen)
		text = ""
	}
}

// wait waits for a change and sends signs of life; false ends the stream.
func (h *Handler) wait(r *http.Request, w http.ResponseWriter, out *http.ResponseController, s *stream) bool {
	for {
		select {
		case <-r.Context().Done():
			return false
		case <-h.watch.ctx.Done():
			return false
		case <-s.wake:
			return true
		case <-s.beat:
			if !h.send(w, out, ":\n\n") {
				return false
			}
		}
	}
}

func (h *Handler) send(w http.ResponseWriter, out *http.ResponseController, text string) bool {
	if text == "" {
		return true
	}
	_ = out.SetWriteDeadline(time.Now().Add(writeTime)) // of the network, which knows no other clock
	if _, err := w.Write([]byte(text)); err != nil {
		return false
	}
	return out.Flush() == nil
}

// event returns the event that shows a page.
func (h *Handler) event(p Page) string {
	var main bytes.Buffer
	if err := pages.ExecuteTemplate(&main, "main", p); err != nil {
		h.Log.Error("payer's page failed", "error", err)
		return ""
	}
	var text strings.Builder
	fmt.Fprintf(&text, "id: %s\n", p.Key)
	for line := range strings.Lines(main.String()) {
		text.WriteString("data: " + strings.TrimRight(line, "\r\n") + "\n")
	}
	text.WriteString("\n")
	return text.String()
}
