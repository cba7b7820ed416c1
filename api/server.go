package api

import (
	"log/slog"
	"net/http"
	"time"
)

// Limits of one connection. A change may take workTime after it waited for another with its key, and then be written.
const (
	maxHeaderBytes = 16 << 10
	headerTime     = 5 * time.Second
	readTime       = 15 * time.Second
	writeTime      = 90 * time.Second
	idleTime       = 2 * time.Minute
)

// Server returns a server with time limits for slow and idle clients, and a maximum size of headers. The caller chooses
// the address to listen on.
func Server(handler http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: headerTime,
		ReadTimeout:       readTime,
		WriteTimeout:      writeTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    maxHeaderBytes,

		DisableGeneralOptionsHandler: true, // "OPTIONS *" is answered like any path that does not exist
		ErrorLog:                     slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}
