package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/marks"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/memory"
)

// Server serves one service, or several replicas of it.
type Server struct {
	Signer    Signer
	KeyExport signer.KeyExport
	Marks     marks.Keeper // marks outside the services' databases; nil: none are kept
	Log       *slog.Logger // one line for every signature and every refusal

	halted atomic.Int64 // the number of the halts received last
	claims atomic.Bool  // an entry of the log that was never signed was logged

	answered answeredMarks
}

// stopTime is how long requests in progress may take once the server shuts down.
const stopTime = 10 * time.Second

// Run serves until ctx ends, then finishes requests in progress.
func (s *Server) Run(ctx context.Context, listener net.Listener) error {
	server := &http.Server{
		Handler:           s.Handler(),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      60 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    8 << 10,
		ErrorLog:          slog.NewLogLogger(s.Log.Handler(), slog.LevelWarn),
	}
	stopped := make(chan error, 1)
	go func() {
		<-ctx.Done()
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
		defer cancel()
		stopped <- server.Shutdown(limited)
	}()
	if err := server.Serve(limitConns(listener)); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	return <-stopped
}

// Handler returns the HTTP handler alone.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+pathHello, func(w http.ResponseWriter, r *http.Request) {
		s.answer(w, http.StatusOK, hello{Version, s.KeyExport, s.Signer.Checkpoint(), s.frozen(), s.begun(r.Context()),
			s.Signer.ThawsAt()})
	})
	mux.HandleFunc("POST "+pathKeys, s.keys)
	mux.HandleFunc("POST "+pathSign, s.sign)
	mux.HandleFunc("POST "+pathHalts, s.halts)
	mux.HandleFunc("POST "+pathPolicy, s.policy)
	if s.Marks != nil {
		mux.HandleFunc("POST "+pathMarks, s.marks)
	}
	return newBounds().admit(s.sameVersion(mux))
}

// sameVersion refuses requests of another version of the protocol, except the first one, whose answer says which it is.
func (s *Server) sameVersion(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get(header); got != strconv.Itoa(Version) && r.URL.Path != pathHello {
			s.Log.Warn("request of another version of the protocol", "path", r.URL.Path, "version", clipped(got))
			http.Error(w, fmt.Sprintf("the signer speaks version %d of the protocol: run the same release of both", Version),
				http.StatusBadRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Server) keys(w http.ResponseWriter, r *http.Request) {
	var q keysQuestion
	if !s.read(w, r, &q) {
		return
	}
	if q.Count < 1 || q.Count > maxKeys {
		http.Error(w, fmt.Sprintf("count must be between 1 and %d", maxKeys), http.StatusBadRequest)
		return
	}
	a := keysAnswer{Keys: make([]chain.PublicKey, q.Count)}
	for i := range a.Keys {
		pub, err := s.Signer.Public(chain.KeyRef{Family: q.Family, Branch: chain.DepositBranch, Index: q.From + uint32(i)})
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		a.Keys[i] = pub
	}
	s.answer(w, http.StatusOK, a)
}

// halts receives the halts, and logs them if they changed.
func (s *Server) halts(w http.ResponseWriter, r *http.Request) {
	var q signer.Halts
	if !s.read(w, r, &q) {
		return
	}
	known, err := s.Signer.SendHalts(r.Context(), q)
	if err != nil {
		s.Log.Error("halts could not be applied", "error", err)
		http.Error(w, "the halts could not be applied", http.StatusInternalServerError)
		return
	}
	if before := s.halted.Swap(q.Number); before != q.Number {
		s.Log.Warn("halts received", "number", q.Number, "goes_by", known, "all", q.All, "chains", q.Chains, "assets",
			q.Assets)
	}
	s.answer(w, http.StatusOK, haltsAnswer{known, s.Signer.Checkpoint(), s.frozen(), &s.KeyExport.Public.Epoch,
		s.Signer.ThawsAt()})
}

// frozen returns why nothing is signed until a thaw; "" if the signer is not frozen.
func (s *Server) frozen() string {
	frozen, err := s.Signer.Frozen()
	if err != nil {
		return err.Error() // then nothing is signed either
	}
	return frozen
}

// begun returns who began the epochs. It is for people to read: a fault holds up nothing.
func (s *Server) begun(ctx context.Context) signer.Begun {
	begun, err := s.Signer.Begun(ctx)
	if err != nil {
		s.Log.Error("who began the epochs could not be read", "error", err)
		return signer.Begun{}
	}
	return begun
}

// policy answers with the policy that people signed.
func (s *Server) policy(w http.ResponseWriter, r *http.Request) {
	var q policyQuestion
	if !s.read(w, r, &q) {
		return
	}
	if !s.knowsPolicy(w, r, q.Seen) {
		return
	}
	p, err := s.Signer.Policy(r.Context())
	if err != nil {
		s.Log.Error("the policy could not be read", "error", err)
		http.Error(w, "the policy could not be read", http.StatusInternalServerError)
		return
	}
	s.answer(w, http.StatusOK, p)
}

// knowsPolicy informs the signer which policy the service has seen, and reports whether it was noted.
func (s *Server) knowsPolicy(w http.ResponseWriter, r *http.Request, seen signer.PolicyClaim) bool {
	err := s.Signer.KnowPolicy(r.Context(), seen)
	switch {
	case errors.Is(err, signer.ErrClaim):
		if s.claims.CompareAndSwap(false, true) {
			s.Log.Warn("the service names a policy that the signer never signed; it changes nothing", "version", seen.Version)
		}
	case err != nil:
		s.Log.Error("which policy was in force could not be noted", "error", err)
		http.Error(w, "which policy was in force could not be noted", http.StatusInternalServerError)
		return false
	}
	return true
}

func (s *Server) sign(w http.ResponseWriter, r *http.Request) {
	var q signQuestion
	if !s.read(w, r, &q) {
		return
	}
	if len(q.Chain) > maxName || len(q.Request.Kind) > maxName {
		http.Error(w, "the request is not understood", http.StatusBadRequest)
		return
	}
	if err := s.Signer.Know(q.Seen); err != nil && s.claims.CompareAndSwap(false, true) {
		// It changes nothing. It happens once after an upgrade from an unsigned log; otherwise the service may be in
		// other hands.
		s.Log.Warn("unknown entry of the signer's log reported by the service", "number", q.Seen.Number, "error", err)
	}
	if !s.knowsPolicy(w, r, q.Policy) {
		return
	}
	signed, err := s.Signer.Sign(r.Context(), q.Chain, q.Request, q.Unsigned)
	if err == nil {
		err = s.handOver(w, q, signed)
	}
	var refused *signer.RefusalError
	switch {
	case errors.As(err, &refused):
		refused.Detail = clipped(refused.Detail)
		s.Log.Warn("outgoing transaction refused", "outgoing", q.Request.ID, "chain", q.Chain, "kind", q.Request.Kind,
			"reason", refused.Reason, "detail", refused.Detail)
		s.answer(w, http.StatusForbidden, refusal{refused.Reason, refused.Detail, refused.Never})
	case err != nil:
		s.Log.Error("outgoing transaction not signed", "outgoing", q.Request.ID, "chain", q.Chain, "error", err)
		http.Error(w, "the transaction was not signed", http.StatusInternalServerError)
	default:
		s.Log.Info("outgoing transaction signed", "outgoing", q.Request.ID, "chain", q.Chain, "kind", q.Request.Kind,
			"hash", signed.TxID, "payments", len(q.Request.Payments))
	}
}

// handOver answers with a signature, all of it while a freezing command waits, and within a bounded time. After an
// error nothing was written.
func (s *Server) handOver(w http.ResponseWriter, q signQuestion, signed chain.SignedTx) error {
	done, err := s.Signer.Leaving(q.Chain, q.Request)
	if err != nil {
		return err
	}
	defer done()
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Now().Add(memory.AnswerTime)) // a recorder of tests has none
	s.answer(w, http.StatusOK, signAnswer{signed, s.Signer.Checkpoint()})
	_ = control.Flush() // a service that disconnected repeats its request
	return nil
}

// Bounds of texts of a request that are logged.
const (
	maxName   = 64
	maxDetail = 2000
)

// clipped returns the beginning of a text that contains parts of a request.
func clipped(text string) string {
	if len(text) <= maxDetail {
		return text
	}
	return strings.ToValidUTF8(text[:maxDetail], "") + "…"
}

// read decodes one request and refuses trailing data.
func (s *Server) read(w http.ResponseWriter, r *http.Request, q any) bool {
	decoder := json.NewDecoder(&elements{Reader: http.MaxBytesReader(w, r.Body, maxQuestion)})
	decoder.DisallowUnknownFields()
	err := decoder.Decode(q)
	if err == nil {
		if _, behind := decoder.Token(); !errors.Is(behind, io.EOF) {
			err = errors.New("data follows the request")
		}
	}
	if err != nil {
		s.Log.Warn("request not understood", "path", r.URL.Path, "error", err)
		http.Error(w, "the request is not understood", http.StatusBadRequest)
	}
	return err == nil
}

func (s *Server) answer(w http.ResponseWriter, status int, a any) {
	text, err := json.Marshal(a)
	if err != nil {
		s.Log.Error("response not encoded", "error", err)
		http.Error(w, "the response could not be encoded", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text) // a service that disconnected repeats its request
}
