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

// Server returns a server with time limits for slow and idle clients, and a maximum size of headers. A connection ends
// with a request that somebody in front may have read by another length. The caller chooses the address to listen on.
func Server(handler http.Handler, log *slog.Logger) *http.Server {
	server := &http.Server{
		Handler:           closingAmbiguous(handler),
		ReadHeaderTimeout: headerTime,
		ReadTimeout:       readTime,
		WriteTimeout:      writeTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    maxHeaderBytes,

		DisableGeneralOptionsHandler: true, // "OPTIONS *" is answered like any path that does not exist
		ErrorLog:                     slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	if a, waits := handler.(*api); waits {
		server.RegisterOnShutdown(a.feeds.stop) // requests that wait for events do not hold up the end
		server.RegisterOnShutdown(a.watches.stop)
	}
	return server
}

// closingAmbiguous ends the connection with a request in chunks, and with one of HTTP/1.0. A request that has a length
// too is read by its chunks, and of HTTP/1.0 by its length; a proxy in front may have read it by the other one, and
// what follows would be somebody's request that they did not send (RFC 9112, 6.1 and 11.2). net/http drops the header
// that shows it.
func closingAmbiguous(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.TransferEncoding) > 0 || !r.ProtoAtLeast(1, 1) {
			w.Header().Set("Connection", "close")
		}
		handler.ServeHTTP(w, r)
	})
}
