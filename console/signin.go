package console

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/operator"
)

// trust allows the configured origin, which a proxy may serve.
func (c *Console) trust() error { return c.crossOrigin.AddTrustedOrigin(c.People.URL) }

// secure reports whether browsers see the console over TLS.
func (c *Console) secure() bool { return strings.HasPrefix(c.People.URL, "https:") }

// cookieName returns the session's name. With the prefix a browser takes it from this host alone and over TLS alone;
// without TLS it would take none.
func (c *Console) cookieName() string {
	if c.secure() {
		return "__Host-bursar"
	}
	return "bursar"
}

func (c *Console) setCookie(w http.ResponseWriter, value string, life time.Duration) {
	http.SetCookie(w, &http.Cookie{
		Name:     c.cookieName(),
		Value:    value,
		Path:     "/",
		MaxAge:   int(life / time.Second),
		Secure:   c.secure(),
		HttpOnly: true,
		SameSite: http.SameSiteStrictMode,
	})
}

// signedIn returns who has signed in.
func (c *Console) signedIn(r *http.Request) (operator.Person, operator.Session, error) {
	cookie, err := r.Cookie(c.cookieName())
	if err != nil {
		return operator.Person{}, operator.Session{}, operator.ErrSignedOut
	}
	return c.People.SignedIn(r.Context(), cookie.Value)
}

// addSignIn registers what is answered to who has not signed in.
func (c *Console) addSignIn() {
	for path, title := range map[string]string{"/sign-in": "Sign in", "/invited": "Make your passkey"} {
		c.mux.HandleFunc("GET "+base+path, func(w http.ResponseWriter, r *http.Request) {
			if port, is := strings.CutPrefix(r.Host, "127.0.0.1:"); is && !c.secure() { // passkeys are bound to a name
				http.Redirect(w, r, "http://localhost:"+port+base+path, http.StatusSeeOther)
				return
			}
			c.show(w, &visit{ctx: r.Context(), request: r}, page{path: path, title: title}, nil)
		})
	}
	for path, step := range map[string]func(http.ResponseWriter, *http.Request, ceremonyStep) (any, error){
		"/sign-in/begin":  c.beginSignIn,
		"/sign-in/finish": c.finishSignIn,
		"/invited/begin":  c.beginInvited,
		"/invited/finish": c.finishMaking,
		"/passkeys/begin": c.beginAnother,
	} {
		c.mux.HandleFunc("POST "+apiBase+path, func(w http.ResponseWriter, r *http.Request) { c.ceremony(w, r, step) })
	}
}

// ceremonyStep is what a browser sends.
type ceremonyStep struct {
	Token    string          `json:"token"` // of an invitation
	Ceremony bursar.ID       `json:"ceremony"`
	Response json.RawMessage `json:"response"`
}

// ceremony answers one step of a passkey's ceremony. Whatever is wrong is answered alike.
func (c *Console) ceremony(w http.ResponseWriter, r *http.Request,
	step func(http.ResponseWriter, *http.Request, ceremonyStep) (any, error)) {
	if !c.tries.allow(c.client(r), c.DB.Now()) {
		w.Header().Set("Retry-After", "10")
		writeJSON(w, http.StatusTooManyRequests, map[string]string{"error": "too many tries from this address: wait"})
		return
	}
	var sent ceremonyStep
	if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
		writeJSON(w, http.StatusBadRequest, map[string]string{"error": "the body is not the JSON of a passkey"})
		return
	}
	data, err := step(w, r, sent)
	switch {
	case err == nil:
		writeJSON(w, http.StatusOK, data)
	case errors.Is(err, operator.ErrRefused), errors.Is(err, operator.ErrSignedOut):
		writeJSON(w, http.StatusForbidden, map[string]string{"error": operator.ErrRefused.Error()})
	default:
		c.fail(w, r, nil, err)
	}
}

func (c *Console) beginSignIn(_ http.ResponseWriter, r *http.Request, _ ceremonyStep) (any, error) {
	return c.People.BeginSignIn(r.Context())
}

func (c *Console) finishSignIn(w http.ResponseWriter, r *http.Request, sent ceremonyStep) (any, error) {
	act := operator.Act{From: c.client(r), Request: r.Header.Get(requestHeader)}
	cookie, _, err := c.People.FinishSignIn(r.Context(), act, r.UserAgent(), sent.Ceremony, sent.Response)
	if err != nil {
		return nil, err
	}
	c.setCookie(w, cookie, operator.SessionTime)
	return map[string]string{"see": base + "/"}, nil
}

func (c *Console) beginInvited(_ http.ResponseWriter, r *http.Request, sent ceremonyStep) (any, error) {
	return c.People.BeginInvited(r.Context(), sent.Token)
}

func (c *Console) beginAnother(_ http.ResponseWriter, r *http.Request, sent ceremonyStep) (any, error) {
	_, session, err := c.who(r)
	if err != nil {
		return nil, err
	}
	return c.People.BeginAnother(r.Context(), session, sent.Ceremony, sent.Response)
}

func (c *Console) finishMaking(_ http.ResponseWriter, r *http.Request, sent ceremonyStep) (any, error) {
	act := operator.Act{From: c.client(r), Request: r.Header.Get(requestHeader)}
	if _, err := c.People.FinishMaking(r.Context(), act, sent.Ceremony, sent.Response); err != nil {
		return nil, err
	}
	return map[string]string{"see": base + "/sign-in"}, nil
}

// How many steps of ceremonies an address may make at once and then, and how many addresses are remembered.
const (
	triesBurst  = 30
	triesEvery  = 2 * time.Second
	maxOfTries  = 4096
	networkBits = 64 // of IPv6 that are given to one customer
)

// tries slows down an address that begins and ends many ceremonies. It is safe for concurrent use.
type tries struct {
	mu sync.Mutex
	of map[netip.Prefix]*rate.Limiter
}

func (t *tries) allow(from netip.Addr, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	network, _ := from.Prefix(min(networkBits, from.BitLen()))
	if t.of == nil || len(t.of) >= maxOfTries && t.of[network] == nil {
		t.of = map[netip.Prefix]*rate.Limiter{}
	}
	if t.of[network] == nil {
		t.of[network] = rate.NewLimiter(rate.Every(triesEvery), triesBurst)
	}
	return t.of[network].AllowN(now, 1)
}
