package operator

import (
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// Errors of signing in. They say nothing of what was wrong.
var (
	ErrSignedOut = errors.New("not signed in")             // nobody has signed in, or the session has ended
	ErrRefused   = errors.New("this sign-in is not valid") // of a passkey, an invitation, or a ceremony
)

// Config holds the dependencies and settings of a Service.
type Config struct {
	DB   *store.DB
	IDs  *bursar.IDs
	URL  string        // of the console as browsers see it: scheme, host and port. Passkeys are bound to its host
	Hold time.Duration // until a new person, a new role or a recovered person may do something
}

// Service knows people, their passkeys and their sessions. It is safe for concurrent use.
type Service struct {
	Config
	passkeys *webauthn.WebAuthn

	keyLock sync.Mutex
	macKey  []byte // of challenges to sign in; nil: it was not needed yet
}

// NewService returns a service. It fails where passkeys cannot be bound to the URL.
func NewService(c Config) (*Service, error) {
	at, err := url.Parse(c.URL)
	if err != nil || at.Hostname() == "" {
		return nil, fmt.Errorf("%q is no URL of the console", c.URL)
	}
	keys, err := webauthn.New(&webauthn.Config{RPID: at.Hostname(), RPDisplayName: "Bursar", RPOrigins: []string{c.URL}})
	if err != nil {
		return nil, fmt.Errorf("passkeys for %s: %w", c.URL, err)
	}
	return &Service{Config: c, passkeys: keys}, nil
}
