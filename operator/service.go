package operator

import (
	"errors"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// ErrSignedOut is returned where nobody has signed in, or the session has ended.
var ErrSignedOut = errors.New("not signed in")

// Session is one sign-in of a person.
type Session struct {
	ID      bursar.ID
	Person  bursar.ID
	Address string // of the client that signed in
	Agent   string // its User-Agent
	Created time.Time
	Used    time.Time
}

// Service knows people and their sessions.
type Service struct {
	DB  *store.DB
	IDs *bursar.IDs
}
