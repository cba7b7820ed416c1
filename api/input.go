package api

import (
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// input returns a request's parameters in the form that an endpoint needs. It keeps the first refusal in err and
// returns zero values from then on, so an endpoint reads all its parameters and checks err once.
type input struct {
	params params
	err    error
}

func (in *input) refuse(name, format string, args ...any) {
	if in.err == nil {
		in.err = bursar.RefuseField(bursar.CodeInvalidRequest, name, format, args...)
	}
}

// optional returns a text parameter and whether it was sent. An empty text was sent.
func (in *input) optional(name string) (string, bool) {
	v, sent := in.params[name]
	if sent && v.kind != text {
		in.refuse(name, "%s must be a string", name)
		return "", false
	}
	return v.text, sent && in.err == nil
}

// required is optional for a parameter that must be sent.
func (in *input) required(name string) string {
	v, sent := in.optional(name)
	if !sent {
		in.refuse(name, "%s is required", name)
	}
	return v
}

// decimal returns the text of a number, which may be written as a JSON number or as a string. It is not checked here.
func (in *input) decimal(name string) (string, bool) {
	v, sent := in.params[name]
	if sent && v.kind == other {
		in.refuse(name, "%s must be a number or a string", name)
	}
	return v.text, sent && in.err == nil
}

// requiredDecimal is decimal for a parameter that must be sent.
func (in *input) requiredDecimal(name string) string {
	v, sent := in.decimal(name)
	if !sent {
		in.refuse(name, "%s is required", name)
	}
	return v
}

// texts returns a JSON object of texts, which may be written as such or as a string, nil if it was not sent.
func (in *input) texts(name string) map[string]string {
	v, sent := in.params[name]
	if !sent {
		return nil
	}
	var object map[string]*string
	if v.kind == number || json.Unmarshal([]byte(v.text), &object) != nil || object == nil {
		in.refuse(name, "%s must be a JSON object of strings, whose names are different", name)
		return nil
	}
	all := make(map[string]string, len(object))
	for key, text := range object {
		if text == nil {
			in.refuse(name, "%s must be a JSON object of strings, and %.40q is null", name, key)
			return nil
		}
		all[key] = *text
	}
	return all
}

// whole returns a whole number between two bounds, and whether it was sent.
func (in *input) whole(name string, least, most int) (int, bool) {
	v, sent := in.decimal(name)
	if !sent {
		return 0, false
	}
	n, err := strconv.Atoi(v)
	if err != nil || strconv.Itoa(n) != v || n < least || n > most {
		in.refuse(name, "%s must be a whole number from %d to %d", name, least, most)
		return 0, false
	}
	return n, true
}

// optionalID returns an ID and whether it was sent.
func (in *input) optionalID(name string) (bursar.ID, bool) {
	v, sent := in.optional(name)
	if !sent {
		return bursar.ID{}, false
	}
	id, err := bursar.ParseID(v)
	if err != nil {
		in.refuse(name, "%s must be a UUID", name)
		return bursar.ID{}, false
	}
	return id, true
}

// requiredID is optionalID for a parameter that must be sent.
func (in *input) requiredID(name string) bursar.ID {
	id, sent := in.optionalID(name)
	if !sent {
		in.refuse(name, "%s is required", name)
	}
	return id
}

// instant returns a time and whether it was sent.
func (in *input) instant(name string) (time.Time, bool) {
	v, sent := in.optional(name)
	if !sent {
		return time.Time{}, false
	}
	at, err := time.Parse(time.RFC3339, v)
	if err != nil {
		in.refuse(name, "%s must be a time such as 2026-01-31T12:00:00Z", name)
		return time.Time{}, false
	}
	return at, true
}

// maxPage is the largest number of items in one response.
const maxPage = 1000

// page returns the position at which the list continues, with a limit of one item more than the response may have: cut
// removes it again.
func (in *input) page(of listName) store.Page {
	page := store.Page{Limit: maxPage + 1}
	if limit, sent := in.whole("limit", 1, maxPage); sent {
		page.Limit = limit + 1
	}
	if cursor, sent := in.optional("cursor"); sent {
		before, ok := of.parseCursor(cursor)
		if !ok {
			in.refuse("cursor", "cursor must be the nextCursor of an earlier page of this list")
		}
		page.Before = before
	}
	return page
}
