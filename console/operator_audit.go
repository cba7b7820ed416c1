package console

import (
	"encoding/hex"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/operator"
	"github.com/bursar/bursar/store"
)

// How many acts an answer of operator/audit has at most and unless it is said, and how many rows one answer verifies.
const (
	mostActs     = 500
	actsVerified = 20_000
)

// actView is a row of the log of acts with all that its hash is made of.
type actView struct {
	Number   int64     `json:"number"`
	At       time.Time `json:"at"`
	Actor    string    `json:"actor"`
	Person   string    `json:"person"` // empty: a command, or a key of the API
	Session  string    `json:"session"`
	Address  string    `json:"address"`
	Verb     string    `json:"verb"`
	Object   string    `json:"object"`
	Before   string    `json:"before"`
	After    string    `json:"after"`
	Reason   string    `json:"reason"`
	Request  string    `json:"request"`
	Token    string    `json:"token"`
	Evidence string    `json:"evidence"`
	Previous string    `json:"previous"` // in hexadecimal, as Hash
	Hash     string    `json:"hash"`
}

func viewAct(a store.Act) actView {
	return actView{
		Number:   a.Number,
		At:       a.At,
		Actor:    a.Actor,
		Person:   textOf(a.Person),
		Session:  textOf(a.Session),
		Address:  a.Address,
		Verb:     a.Verb,
		Object:   a.Object,
		Before:   a.Was,
		After:    a.Became,
		Reason:   a.Reason,
		Request:  a.Request,
		Token:    a.Token,
		Evidence: a.Evidence,
		Previous: hex.EncodeToString(a.Previous[:]),
		Hash:     hex.EncodeToString(a.Hash[:]),
	}
}

func textOf(id bursar.ID) string {
	if id.IsZero() {
		return ""
	}
	return id.String()
}

// actHead is the last row of the log: who notes its hash notices later that rows were removed.
type actHead struct {
	Number int64  `json:"number"`
	Hash   string `json:"hash"`
}

type actsAnswer struct {
	Acts []actView `json:"acts"`
	Next string    `json:"next,omitempty"` // before or after of the next page
	Head actHead   `json:"head"`
}

// addOperatorAudit registers the log of acts of the admin API.
func (c *Console) addOperatorAudit() {
	for path, answer := range map[string]func(*visit) (any, error){
		"/operator/audit":        c.operatorAudit,
		"/operator/audit/verify": c.verifyAudit,
	} {
		c.mux.HandleFunc("GET "+apiBase+path, func(w http.ResponseWriter, r *http.Request) {
			v := c.enter(w, r, operator.VerbAudit)
			if v == nil {
				return
			}
			data, err := answer(v)
			if err == nil {
				writeJSON(w, http.StatusOK, data)
				return
			}
			c.fail(w, r, v, err)
		})
	}
}

// operatorAudit is GET operator/audit: acts that the filters choose, newest first; or with after all rows behind one,
// oldest first, as who verifies a copy of the log needs them.
func (c *Console) operatorAudit(v *visit) (any, error) {
	if err := v.person.May(operator.VerbAudit, bursar.ID{}); err != nil {
		return nil, err
	}
	limit, err := v.number("limit", 1, mostActs, actsShown)
	if err != nil {
		return nil, err
	}
	before, err := v.number("before", 1, 1<<62, 0)
	if err != nil {
		return nil, err
	}
	after, err := v.number("after", 0, 1<<62, -1)
	if err != nil {
		return nil, err
	}
	filter, err := filterOf(v)
	switch {
	case err != nil:
		return nil, err
	case after >= 0 && (before > 0 || filter != store.ActFilter{}):
		return nil, bursar.RefuseField(bursar.CodeInvalidRequest, "after",
			"after lists every row behind one: it goes with limit alone")
	}
	answer := actsAnswer{Acts: []actView{}}
	err = c.DB.View(v.ctx, func(tx *store.Tx) error {
		var list []store.Act
		if after >= 0 {
			list, err = tx.Acts().After(v.ctx, after, int(limit))
		} else {
			list, err = tx.Acts().List(v.ctx, filter, store.Page{Limit: int(limit), Before: before})
		}
		if err != nil {
			return err
		}
		for _, a := range list {
			answer.Acts = append(answer.Acts, viewAct(a))
		}
		if len(list) == int(limit) {
			answer.Next = strconv.FormatInt(list[len(list)-1].Number, 10)
		}
		answer.Head, err = headOf(v, tx)
		return err
	})
	return answer, err
}

func headOf(v *visit, tx *store.Tx) (actHead, error) {
	head, err := tx.Acts().Head(v.ctx)
	return actHead{head.Number, hex.EncodeToString(head.Hash[:])}, err
}

// number returns a parameter that is a whole number within bounds, and a default where it was not sent.
func (v *visit) number(name string, least, most, without int64) (int64, error) {
	text := v.form.Get(name)
	if text == "" {
		return without, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least || n > most {
		return 0, bursar.RefuseField(bursar.CodeInvalidRequest, name, "%s is a number from %d to %d", name, least, most)
	}
	return n, nil
}

// holds reports whether the log has the hash that was sent; nil: none was. A fault of the database is no answer.
func holds(v *visit, tx *store.Tx) (*bool, error) {
	hash := v.form.Get("hash")
	if hash == "" {
		return nil, nil
	}
	err := tx.Acts().Holds(v.ctx, hash)
	there := err == nil
	switch {
	case errors.Is(err, store.ErrActGone):
		err = nil
	case errors.Is(err, store.ErrNoHash):
		err = bursar.RefuseField(bursar.CodeInvalidRequest, "hash", "hash: %s", store.ErrNoHash)
	}
	return &there, err
}

type auditVerdict struct {
	Valid bool    `json:"valid"` // of the rows that were looked at
	Wrong string  `json:"wrong"` // which row is, and how; empty: none
	Rows  int64   `json:"rows"`  // up to which row
	Next  string  `json:"next,omitempty"`
	Holds *bool   `json:"holds"` // the log has a row of the hash that was sent; null: none was
	Head  actHead `json:"head"`
}

// verifyAudit is GET operator/audit/verify: it compares rows with their hashes and with the rows before them, a bounded
// number at a time, and says whether a hash that was noted earlier is still in the log.
func (c *Console) verifyAudit(v *visit) (any, error) {
	if err := v.person.May(operator.VerbAudit, bursar.ID{}); err != nil {
		return nil, err
	}
	after, err := v.number("after", 0, 1<<62, 0)
	if err != nil {
		return nil, err
	}
	last, wrong, err := operator.VerifyFrom(v.ctx, c.DB, after, actsVerified)
	if err != nil {
		return nil, err
	}
	answer := auditVerdict{Valid: wrong == nil, Rows: last.Number}
	if wrong != nil {
		answer.Wrong = wrong.Error()
	}
	err = c.DB.View(v.ctx, func(tx *store.Tx) error {
		if answer.Head, err = headOf(v, tx); err != nil {
			return err
		}
		answer.Holds, err = holds(v, tx)
		return err
	})
	if wrong == nil && last.Number < answer.Head.Number {
		answer.Next = strconv.FormatInt(last.Number, 10)
	}
	return answer, err
}
